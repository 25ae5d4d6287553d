"""Comments on commits: permissions, line positions, and life cycle."""

from typing import Any

import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, statements_of
from tests.git_history import History, repository_of, run
from tests.roles import UsersByRole, project_with

NOWHERE: dict[str, Any] = {"path": None, "line": None, "line_type": None}
CALLERS = [
    # Read and write access, in a private and a public project.
    ("administrator", 200, 201, 200, 201),
    ("owner", 200, 201, 200, 201),
    ("developer", 200, 201, 200, 201),
    ("reporter", 200, 201, 200, 201),
    ("guest", 403, 403, 200, 201),
    ("stranger", 404, 404, 200, 201),
    ("nobody", 401, 401, 401, 401),
]


def fill(instance: Instance, project: Project) -> dict[int, str]:
    """Create four commits: the second changes lines, the third renames, the fourth touches another file."""
    lines = [f"line {number}\n" for number in range(1, 41)]
    history = History()
    history.commit(files={"file.txt": "".join(lines), "ü/neu.txt": "eins\n", "gone.txt": "1\n2\n"})
    # Line 3 changes, 10 and 11 are removed, and one is appended without a newline.
    changed = [*lines[:2], "changed 3\n", *lines[3:9], *lines[11:], "added"]
    history.commit(files={"file.txt": "".join(changed)}, removed=("gone.txt",))
    history.commit(files={"renamed.txt": "".join([*changed[:5], "new 6\n", *changed[5:]])}, removed=("file.txt",))
    history.commit("side", files={"side": "1\n"}, parents=(1,))
    history.tag("v1", 2)
    return history.fill(instance, project)


@pytest.fixture(scope="module")
def commented(instance: Instance, make: Make, roles: UsersByRole) -> tuple[Project, dict[int, str]]:
    """Return a private project with this history."""
    project = project_with(make, roles)
    return project, fill(instance, project)


@pytest.mark.parametrize(("role", "read", "write", "read_public", "write_public"), CALLERS)
def test_users_who_can_read_code_may_comment(
    instance: Instance,
    api: Api,
    make: Make,
    roles: UsersByRole,
    role: str,
    read: int,
    write: int,
    read_public: int,
    write_public: int,
) -> None:
    for visibility, reads, writes in (("private", read, write), ("public", read_public, write_public)):
        project = project_with(make, roles, visibility=visibility)
        sha = fill(instance, project)[2]
        where = f"/projects/{project.id}/repository/commits/{sha}"
        written = api.post(f"{where}/comments", roles[role], note="Hello")
        assert written.status_code == writes, written.text
        assert api.get(f"{where}/comments", roles[role]).status_code == reads
        there = api.get(f"/projects/{project.id}/repository/commits/{sha}/comments", make.root).json()
        assert [each["note"] for each in there] == (["Hello"] if writes == 201 else [])


def test_archived_projects_accept_no_comments(instance: Instance, api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    sha = fill(instance, project)[1]
    api.post(f"/projects/{project.id}/archive", make.root)
    where = f"/projects/{project.id}/repository/commits/{sha}/comments"
    assert api.post(where, make.root, note="x").status_code == 403
    assert api.get(where, roles.reporter).json() == []


def test_all_fields(instance: Instance, api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/repository/commits/{fill(instance, project)[4]}/comments"
    first = api.post(where, roles.reporter, note="Größe 📏 <b>")
    assert first.status_code == 201, first.text
    written = first.json()
    assert written == {
        "note": "Größe 📏 <b>",
        **NOWHERE,
        "author": written["author"],
        "created_at": written["created_at"],
    }
    assert written["author"]["username"] == roles.reporter.username
    assert set(written["author"]) == {"id", "username", "name", "state", "avatar_url", "web_url"}
    second = api.request("POST", f"{where}?note=by+query&path=side&line=1", roles.developer).json()
    assert (second["note"], second["path"], second["line"], second["line_type"]) == ("by query", "side", 1, "new")
    assert api.get(where, roles.reporter).json() == [written, second]
    page = api.get(where, roles.reporter, per_page=1, page=2)
    assert (page.json(), page.headers["x-total"]) == ([second], "2")
    # A branch name returns the same comments.
    assert api.get(f"/projects/{project.id}/repository/commits/side/comments", roles.reporter).json() == [
        written,
        second,
    ]


def test_a_path_needs_a_line(instance: Instance, api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    for name in (fill(instance, project)[4], "side", "v1"):
        where = f"/projects/{project.id}/repository/commits/{name}/comments"
        refused = api.post(where, roles.developer, note="x", path="side")
        assert (refused.status_code, refused.json()) == (400, {"message": '400 (Bad request) "line" not given'})
        assert api.get(where, roles.developer).json() == []


POSITIONS: list[tuple[int, dict[str, Any], dict[str, Any] | None]] = [
    (1, {"path": "file.txt", "line": 40}, {"path": "file.txt", "line": 40, "line_type": "new"}),
    (1, {"path": "ü/neu.txt", "line": "1"}, {"path": "ü/neu.txt", "line": 1, "line_type": "new"}),
    (2, {"path": "file.txt", "line": 3, "line_type": "new"}, {"path": "file.txt", "line": 3, "line_type": "new"}),
    (2, {"path": "file.txt", "line": 39}, {"path": "file.txt", "line": 39, "line_type": "new"}),
    (2, {"path": "file.txt", "line": 11, "line_type": "old"}, {"path": "file.txt", "line": 11, "line_type": "old"}),
    (2, {"path": "gone.txt", "line": 2, "line_type": "old"}, {"path": "gone.txt", "line": 2, "line_type": "old"}),
    (3, {"path": "renamed.txt", "line": 6}, {"path": "renamed.txt", "line": 6, "line_type": "new"}),
    # A line that is missing, unchanged, or on the other side; a file that is missing or unchanged.
    (1, {"path": "file.txt", "line": 41}, None),
    (2, {"path": "file.txt", "line": 4}, None),
    (2, {"path": "file.txt", "line": 20}, None),
    (2, {"path": "file.txt", "line": 39, "line_type": "old"}, None),
    (2, {"path": "gone.txt", "line": 2}, None),
    (2, {"path": "ü/neu.txt", "line": 1}, None),
    (3, {"path": "file.txt", "line": 6}, None),
    (3, {"path": "renamed.txt", "line": 3}, None),
    (2, {"path": "/file.txt", "line": 3}, None),
    (2, {"path": "file.txt", "line": 0}, None),
    (2, {"path": "file.txt", "line": -3}, None),
    (2, {"path": "file.txt", "line": 2**62}, None),
    (2, {"line": 3}, None),
    (2, {"path": "", "line": 3}, None),
    (2, {"path": "--output=x", "line": 3}, None),
    (2, {"path": "x" * 100_000, "line": 3}, None),
]


@pytest.mark.parametrize(("commit", "sent", "expected"), POSITIONS, ids=lambda value: str(value)[:60])
def test_a_comment_is_placed_on_a_changed_line(
    api: Api,
    roles: UsersByRole,
    commented: tuple[Project, dict[int, str]],
    commit: int,
    sent: dict[str, Any],
    expected: dict[str, Any] | None,
) -> None:
    project, commits = commented
    where = f"/projects/{project.id}/repository/commits/{commits[commit]}/comments"
    answer = api.post(where, roles.reporter, note="here", **sent)
    assert answer.status_code == 201, answer.text
    assert {name: answer.json()[name] for name in NOWHERE} == (expected or NOWHERE)
    assert api.get(where, roles.reporter, per_page=100).json()[-1] == answer.json()


def test_comments_by_branch_or_tag_have_no_line(
    api: Api, roles: UsersByRole, commented: tuple[Project, dict[int, str]]
) -> None:
    """The comment is on its last commit; only a commit id can have a line."""
    project, commits = commented
    for name, placed in (("v1", False), ("side", False), (commits[2], True), (commits[2][:9].upper(), True)):
        where = f"/projects/{project.id}/repository/commits/{name}/comments"
        path, line = ("side", 1) if name == "side" else ("file.txt", 3)
        answer = api.post(where, roles.reporter, note=f"by {name}", path=path, line=line).json()
        assert (answer["path"], answer["line"]) == ((path, line) if placed else (None, None))
    last = api.get(f"/projects/{project.id}/repository/commits/{commits[2]}/comments", roles.reporter, per_page=100)
    assert f"by {commits[2]}" in [each["note"] for each in last.json()]
    assert "by v1" in [each["note"] for each in last.json()]


INVALID: list[tuple[dict[str, Any], Any]] = [
    ({}, '400 (Bad request) "note" not given'),
    ({"note": None}, '400 (Bad request) "note" not given'),
    ({"note": ""}, {"note": ["can't be blank"]}),
    ({"note": " \n\t"}, {"note": ["can't be blank"]}),
    ({"note": ["x"]}, {"note": ["is invalid"]}),
    ({"note": "a\0b"}, {"note": ["is invalid"]}),
    ({"note": "x" * 1_000_001}, {"note": ["is too long (maximum is 1000000 characters)"]}),
    ({"note": "x", "line": "many"}, {"line": ["is invalid"]}),
    ({"note": "x", "line": 2**63}, {"line": ["is invalid"]}),
    ({"note": "x", "line_type": "both"}, {"line_type": ["is invalid"]}),
]


@pytest.mark.parametrize(("sent", "message"), INVALID, ids=lambda value: str(value)[:40])
def test_invalid_values_are_reported(
    api: Api, roles: UsersByRole, commented: tuple[Project, dict[int, str]], sent: dict[str, Any], message: Any
) -> None:
    project, commits = commented
    answer = api.post(f"/projects/{project.id}/repository/commits/{commits[3]}/comments", roles.reporter, **sent)
    assert (answer.status_code, answer.json()["message"]) == (400, message)


def test_the_longest_comment_is_stored(api: Api, roles: UsersByRole, commented: tuple[Project, dict[int, str]]) -> None:
    project, commits = commented
    text = "ü" * 1_000_000
    where = f"/projects/{project.id}/repository/commits/{commits[3]}/comments"
    assert api.post(where, roles.reporter, note=text).json()["note"] == text
    assert text in [each["note"] for each in api.get(where, roles.reporter, per_page=100).json()]


@pytest.mark.parametrize("sha", ["1234ab", "0" * 40, "nope", "a..b", "--output=x", "x" * 5000])
def test_an_unknown_commit_is_not_found(
    api: Api, roles: UsersByRole, commented: tuple[Project, dict[int, str]], sha: str
) -> None:
    where = f"/projects/{commented[0].id}/repository/commits/{sha}/comments"
    for answer in (api.post(where, roles.reporter, note="x"), api.get(where, roles.reporter)):
        assert (answer.status_code, answer.json()["message"]) == (404, "404 Commit Not Found")


def test_a_binary_file_and_a_name_in_another_encoding(
    instance: Instance, api: Api, make: Make, roles: UsersByRole
) -> None:
    project = project_with(make, roles)
    history = History()
    history.commit(files={"bin": b"\0\1\2\n", "caf\udce9.txt": b"caf\xe9\n"})
    sha = history.fill(instance, project)[1]
    where = f"/projects/{project.id}/repository/commits/{sha}/comments"
    assert api.post(where, roles.reporter, note="x", path="bin", line=1).json()["path"] is None
    assert api.post(where, roles.reporter, note="x", path="café.txt", line=1).json()["path"] == "café.txt"


def test_comments_survive_a_rewritten_branch(instance: Instance, api: Api, make: Make, roles: UsersByRole) -> None:
    """After a force push and garbage collection, commit and comment are kept, without notifications."""
    project = project_with(make, roles)
    sha = fill(instance, project)[4]
    where = f"/projects/{project.id}/repository/commits/{sha}/comments"
    written = api.post(where, roles.reporter, note="before", path="side", line=1).json()
    api.delete(f"/projects/{project.id}/repository/branches/side", roles.developer)
    repository = repository_of(instance, project)
    run(repository.path, "gc", "--prune=now", "--quiet")
    assert api.get(where, roles.reporter).json() == [written]
    assert api.post(where, roles.reporter, note="after", path="side", line=1).json()["line"] == 1
    assert run(repository.path, "for-each-ref", "--format=%(refname)", "refs/keep") == f"refs/keep/{sha}"
    branches = api.get(f"/projects/{project.id}/repository/branches", roles.reporter).json()
    assert [branch["name"] for branch in branches] == ["master"]
    assert api.get(f"/projects/{project.id}/repository/commits/{sha}/refs", roles.reporter).json() == []


def test_comments_are_separate_per_project(instance: Instance, api: Api, make: Make, roles: UsersByRole) -> None:
    one, other = project_with(make, roles), project_with(make, roles)
    sha = fill(instance, one)[1]
    assert fill(instance, other)[1] == sha
    api.post(f"/projects/{one.id}/repository/commits/{sha}/comments", roles.reporter, note="private")
    assert api.get(f"/projects/{other.id}/repository/commits/{sha}/comments", roles.reporter).json() == []


@pytest.mark.parametrize("hard", [False, True])
def test_comments_of_a_deleted_user(instance: Instance, api: Api, make: Make, roles: UsersByRole, hard: bool) -> None:
    project, leaver = project_with(make, roles, visibility="public"), make.user()
    sha = fill(instance, project)[1]
    where = f"/projects/{project.id}/repository/commits/{sha}/comments"
    assert api.post(where, leaver, note="bye").status_code == 201
    assert api.delete(f"/users/{leaver.id}", make.root, hard_delete=hard).status_code in (200, 204)
    left = [(each["note"], each["author"]["username"]) for each in api.get(where, roles.reporter).json()]
    assert left == ([] if hard else [("bye", "ghost")])


def test_a_longer_page_takes_no_more_statements(instance: Instance, api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    sha = fill(instance, project)[1]
    where = f"/projects/{project.id}/repository/commits/{sha}/comments"
    for number in range(6):
        api.post(where, (roles.reporter, roles.developer, roles.owner)[number % 3], note=f"{number}")
    assert len(api.get(where, roles.reporter, per_page=6).json()) == 6
    few = statements_of(make, lambda: api.get(where, roles.reporter, per_page=1))
    assert few == statements_of(make, lambda: api.get(where, roles.reporter, per_page=6))
