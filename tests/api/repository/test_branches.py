"""Branches: lists, reading, protection and permissions."""

from typing import Any

import httpx
import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project, statements_of
from tests.git_history import History, repository_of, run
from tests.roles import UsersByRole, project_with


@pytest.fixture
def project(instance: Instance, make: Make, roles: UsersByRole) -> Project:
    """Return a public project with some branches, one of them merged."""
    project = project_with(make, roles, visibility="public")
    some_branches().fill(instance, project)
    return project


def some_branches() -> History:
    """Create ``master``, ``merged`` which it contains, and ``feature/a.b`` which it does not."""
    history = History()
    first = history.commit(files={"README.md": "hello\n"}, message="Begin")
    history.commit("feature/a.b", files={"a": "1\n"}, parents=(first,))
    second = history.commit(files={"README.md": "hello again\n"}, parents=(first,))
    history.commit("merged", files={"m": "1\n"}, parents=(second,))
    history.commit(files={"m": "1\n"}, message="Merge", parents=(second, 4))
    return history


def names(answer: httpx.Response) -> list[str]:
    """Return the names in a list."""
    assert answer.status_code == 200, answer.text
    return [branch["name"] for branch in answer.json()]


def test_the_list_is_sorted_and_public(api: Api, project: Project) -> None:
    """Branches of a public project are visible to all, by name."""
    answer = api.get(f"/projects/{project.id}/repository/branches")
    assert names(answer) == ["feature/a.b", "master", "merged"]
    assert [branch["merged"] for branch in answer.json()] == [False, False, True]
    assert [branch["protected"] for branch in answer.json()] == [False, True, False]
    assert [branch["default"] for branch in answer.json()] == [False, True, False]
    assert [branch["can_push"] for branch in answer.json()] == [False, False, False]
    assert answer.headers["x-total"] == "3"


def test_single_branch(api: Api, make: Make, instance: Instance, project: Project) -> None:
    """With its commit, also if the name contains a slash and a dot."""
    answer = api.get(f"/projects/{project.id}/repository/branches/feature%2Fa.b", make.root).json()
    tip = run(repository_of(instance, project).path, "rev-parse", "refs/heads/feature/a.b")
    commit = answer["commit"]
    assert (commit["id"], commit["short_id"]) == (tip, tip[:8])
    assert (commit["title"], commit["message"]) == ("Change", "Change")
    assert (commit["author_name"], commit["committer_email"]) == ("Ada Writer", "ada@example.org")
    assert commit["authored_date"].endswith("+02:00")
    assert len(commit["parent_ids"]) == 1
    for unknown in ("nope", "feature", "refs%2Fheads%2Fmaster", "heads%2Fmaster", tip, tip[:8], "HEAD", "%00", "%FF"):
        gone = api.get(f"/projects/{project.id}/repository/branches/{unknown}")
        assert gone.status_code in (400, 404), unknown


def test_flags_depend_on_the_caller(api: Api, roles: UsersByRole, project: Project) -> None:
    """The flag for push access; masters push to protected branches."""
    url = f"/projects/{project.id}/repository/branches"
    for who, master, other in (
        ("nobody", False, False),
        ("stranger", False, False),
        ("reporter", False, False),
        ("developer", False, True),
        ("master", True, True),
        ("administrator", True, True),
    ):
        shown = {branch["name"]: branch["can_push"] for branch in api.get(url, roles[who]).json()}
        assert (shown["master"], shown["merged"]) == (master, other), who


READ = {"private": 404, "internal": 404, "public": 200}
CALLERS: list[tuple[str, dict[str, int], dict[str, int], dict[str, int]]] = [
    # Caller, then reading, creating and protecting in a private, an internal and a public project.
    ("administrator", dict.fromkeys(READ, 200), dict.fromkeys(READ, 201), dict.fromkeys(READ, 200)),
    ("owner", dict.fromkeys(READ, 200), dict.fromkeys(READ, 201), dict.fromkeys(READ, 200)),
    ("master", dict.fromkeys(READ, 200), dict.fromkeys(READ, 201), dict.fromkeys(READ, 200)),
    ("developer", dict.fromkeys(READ, 200), dict.fromkeys(READ, 201), dict.fromkeys(READ, 403)),
    ("reporter", dict.fromkeys(READ, 200), dict.fromkeys(READ, 403), dict.fromkeys(READ, 403)),
    ("guest", {**dict.fromkeys(READ, 200), "private": 403}, dict.fromkeys(READ, 403), dict.fromkeys(READ, 403)),
    (
        "stranger",
        {**dict.fromkeys(READ, 200), "private": 404},
        {**dict.fromkeys(READ, 403), "private": 404},
        {**dict.fromkeys(READ, 403), "private": 404},
    ),
    ("nobody", READ, dict.fromkeys(READ, 401), dict.fromkeys(READ, 401)),
]


@pytest.mark.parametrize("visibility", list(READ))
def test_permissions(api: Api, make: Make, instance: Instance, roles: UsersByRole, visibility: str) -> None:
    project = project_with(make, roles, visibility=visibility)
    some_branches().fill(instance, project)
    url = f"/projects/{project.id}/repository/branches"
    for who, read, write, protect in CALLERS:
        person = roles[who]
        reads = [api.get(url, person), api.get(f"{url}/master", person)]
        assert [answer.status_code for answer in reads] == [read[visibility]] * 2, who
        protects = [api.put(f"{url}/feature%2Fa.b/{verb}", person) for verb in ("protect", "unprotect")]
        assert [answer.status_code for answer in protects] == [protect[visibility]] * 2, who
        made = api.post(url, person, branch="new", ref="feature/a.b")
        assert made.status_code == write[visibility], who
        deleted = api.delete(f"{url}/new", person)
        assert deleted.status_code == (200 if made.status_code == 201 else write[visibility]), who
        swept = api.delete(f"/projects/{project.id}/repository/merged_branches", person)
        assert swept.status_code == deleted.status_code, who
    everything = names(api.get(url, make.root))
    assert everything == ["feature/a.b", "master"]


def test_read_only_tokens(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    reader = roles.master.with_token(make.token(roles.master.id, "read_api"))
    url = f"/projects/{project.id}/repository/branches"
    assert api.get(url, reader).status_code == 200
    assert api.post(url, reader, branch="x", ref="master").status_code == 403
    assert api.put(f"{url}/merged/protect", reader).status_code == 403
    assert api.delete(f"{url}/merged", reader).status_code == 403


def test_protecting_again_changes_only_sent_flags(api: Api, roles: UsersByRole, project: Project) -> None:
    """A flag that is not sent stays as it is; one that is sent again changes nothing."""
    url = f"/projects/{project.id}/repository/branches/feature%2Fa.b"
    steps: list[tuple[str, dict[str, Any], tuple[bool, bool, bool]]] = [
        ("unprotect", {}, (False, False, False)),
        ("protect", {}, (True, False, False)),
        ("protect", {"developers_can_push": True}, (True, True, False)),
        ("protect", {"developers_can_push": True}, (True, True, False)),
        ("protect", {"developers_can_merge": True}, (True, True, True)),
        ("protect", {}, (True, True, True)),
        ("protect", {"developers_can_push": False}, (True, False, True)),
        ("protect", {"developers_can_push": "1", "developers_can_merge": "false"}, (True, True, False)),
        ("unprotect", {}, (False, False, False)),
        ("unprotect", {}, (False, False, False)),
        ("protect", {}, (True, False, False)),
    ]
    for verb, sent, expected in steps:
        answer = api.put(f"{url}/{verb}", roles.master, **sent)
        assert answer.status_code == 200, answer.text
        shown = answer.json()
        flags = (shown["protected"], shown["developers_can_push"], shown["developers_can_merge"])
        assert flags == expected, (verb, sent)
        assert api.get(url, roles.master).json() == shown


def test_protecting_a_missing_branch(api: Api, roles: UsersByRole, project: Project) -> None:
    for verb in ("protect", "unprotect"):
        missing = api.put(f"/projects/{project.id}/repository/branches/nope/{verb}", roles.master)
        assert (missing.status_code, missing.json()["message"]) == (404, "404 Branch Not Found")
    wrong = api.put(
        f"/projects/{project.id}/repository/branches/master/protect", roles.master, developers_can_push="perhaps"
    )
    assert wrong.json() == {"message": {"developers_can_push": ["is invalid"]}}


def test_an_unprotected_branch_stays_protected_by_a_wildcard(api: Api, roles: UsersByRole, project: Project) -> None:
    api.post(f"/projects/{project.id}/protected_branches", roles.master, name="m*", merge_access_level=30)
    url = f"/projects/{project.id}/repository/branches/master"
    shown = api.put(f"{url}/unprotect", roles.master).json()
    assert (shown["protected"], shown["developers_can_push"], shown["developers_can_merge"]) == (True, False, True)


def test_search(api: Api, project: Project) -> None:
    url = f"/projects/{project.id}/repository/branches"

    def found(search: str) -> list[str]:
        return names(api.get(url, search=search))

    assert found("ME") == ["merged"]
    assert found("^m") == ["master", "merged"]
    assert found("d$") == ["merged"]
    assert found("^merged$") == ["merged"]
    assert found("^merge$") == []
    assert found("a.b") == ["feature/a.b"]
    assert found("a?b") == found("(") == found("x" * 10_000) == []
    assert found("") == ["feature/a.b", "master", "merged"]


def test_sort_and_pages(api: Api, project: Project) -> None:
    url = f"/projects/{project.id}/repository/branches"
    assert names(api.get(url, sort="updated_desc")) == ["master", "merged", "feature/a.b"]
    assert names(api.get(url, sort="updated_asc")) == ["feature/a.b", "merged", "master"]
    assert names(api.get(url, sort="name_asc")) == ["feature/a.b", "master", "merged"]
    assert api.get(url, sort="sideways").status_code == 400
    second = api.get(url, per_page=2, page=2)
    assert (names(second), second.headers["x-total"]) == (["merged"], "3")
    assert names(api.get(url, page=9)) == []
    for page, size in ((-1, 0), (10**18, 1), (1, 10**9)):
        assert api.get(url, page=page, per_page=size).status_code in (200, 400)


def test_many_branches(api: Api, make: Make, instance: Instance) -> None:
    """The merged flag is correct for each of a hundred, and a full page takes constant statements."""
    project = make_project(make, visibility="public")
    history = History()
    old = history.commit(files={"a": "0"})
    tips = [history.commit(f"b{n:03}", files={f"f{n}": "1"}, parents=(old,)) for n in range(100)]
    merge = old
    for tip in tips[::2]:
        merge = history.commit("master", files={"a": str(tip)}, parents=(merge, tip))
    history.fill(instance, project)
    url = f"/projects/{project.id}/repository/branches"
    for _ in range(2):
        shown = api.get(url, per_page=100).json()
        assert [branch["merged"] for branch in shown] == [True, False] * 50
    few = statements_of(make, lambda: api.get(url, per_page=1))
    assert statements_of(make, lambda: api.get(url, per_page=100)) == few


def test_a_branch_at_the_same_commit_as_the_default_is_not_merged(
    api: Api, roles: UsersByRole, project: Project
) -> None:
    """It was just created and contains no commits of its own."""
    made = api.post(f"/projects/{project.id}/repository/branches", roles.developer, branch="fresh", ref="master")
    assert made.json()["merged"] is False


def test_empty_projects(api: Api, make: Make) -> None:
    project = make_project(make, visibility="public")
    url = f"/projects/{project.id}/repository/branches"
    assert names(api.get(url)) == names(api.get(url, search="x", sort="updated_desc")) == []
    assert api.get(f"{url}/master").status_code == 404
    assert api.put(f"{url}/master/protect", make.root).status_code == 404
    refused = api.post(url, make.root, branch="x", ref="other")
    assert (refused.status_code, refused.json()["message"]) == (400, "Invalid reference name")
    assert names(api.get(url)) == [], "a refused request leaves the repository empty"
    assert api.delete(f"{url}/x", make.root).status_code == 200
    assert api.delete(f"/projects/{project.id}/repository/merged_branches", make.root).status_code == 200


def test_names_in_other_encodings(api: Api, make: Make, instance: Instance, project: Project) -> None:
    """A branch with a name that is not UTF-8 is listed without errors."""
    path = repository_of(instance, project).path
    tip = run(path, "rev-parse", "refs/heads/merged")
    (path / "packed-refs").write_bytes(
        b"# pack-refs with: peeled fully-peeled sorted \n" + tip.encode() + b" refs/heads/caf\xe9\n"
    )
    assert "café" in names(api.get(f"/projects/{project.id}/repository/branches", make.root))
    assert api.get(f"/projects/{project.id}/repository/branches/caf%E9", make.root).status_code in (400, 404)
    swept = api.delete(f"/projects/{project.id}/repository/merged_branches", make.root)
    assert swept.status_code == 200, swept.text


def test_a_missing_default_branch(api: Api, make: Make, instance: Instance) -> None:
    """When HEAD names no branch, the others are listed and none is merged."""
    project = make_project(make, visibility="public")
    history = History()
    history.commit("other", files={"a": "1"})
    history.fill(instance, project)
    shown = api.get(f"/projects/{project.id}/repository/branches").json()
    assert [(branch["name"], branch["merged"], branch["default"]) for branch in shown] == [("other", False, False)]
