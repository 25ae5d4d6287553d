"""Project snippets: creation, reading, lists, editing, deletion and permissions."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import USER_AGENT, Api, Make, User
from tests.factories import Project, ids, make_project, statements_of


def _write(api: Api, project: Project, author: User, **attributes: Any) -> int:
    sent = {"title": "Hello", "file_name": "hello.rb", "code": "puts 1", "visibility": "private", **attributes}
    made = api.post(f"/projects/{project.id}/snippets", author, **sent)
    assert made.status_code == 201, made.text
    number: int = made.json()["id"]
    return number


def test_create_read_edit_delete(api: Api, make: Make) -> None:
    """Life cycle of a snippet."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/snippets"
    made = api.post(
        base, owner, title="A <b>title</b> ü", file_name="a.py", code="print('ü')\r\n", visibility="internal"
    )
    assert made.status_code == 201, made.text
    snippet = made.json()
    shown = {name: snippet[name] for name in ("title", "file_name", "description", "visibility", "project_id")}
    assert shown == {
        "title": "A <b>title</b> ü",
        "file_name": "a.py",
        "description": None,
        "visibility": "internal",
        "project_id": project.id,
    }
    assert snippet["author"]["id"] == owner.id
    assert snippet["web_url"].endswith(f"/{project.path}/snippets/{snippet['id']}")
    assert [file["path"] for file in snippet["files"]] == ["a.py"]
    assert (snippet["ssh_url_to_repo"], snippet["http_url_to_repo"], snippet["imported"]) == (None, None, False)
    assert api.get(f"{base}/{snippet['id']}", owner).json() == snippet
    assert api.get(f"{base}/{snippet['id']}/raw", owner).text == "print('ü')\r\n"
    edited = api.put(f"{base}/{snippet['id']}", owner, title="New", code="pass", description="why").json()
    assert (edited["title"], edited["description"], edited["file_name"]) == ("New", "why", "a.py")
    assert api.get(f"{base}/{snippet['id']}/raw", owner).text == "pass"
    assert api.put(f"{base}/{snippet['id']}", owner, description=None).json()["description"] is None
    assert (
        api.put(f"{base}/{snippet['id']}", owner, file_name="b.py", visibility="public").json()["file_name"] == "b.py"
    )
    for _ in range(2):
        gone = api.delete(f"{base}/{snippet['id']}", owner)
        assert (gone.status_code, gone.content) == (200, b"")
    assert api.get(f"{base}/{snippet['id']}", owner).status_code == 404
    assert ids(api.get(base, owner)) == []


@pytest.mark.parametrize("missing", ["title", "file_name", "code", "visibility"])
def test_required_parameters(api: Api, make: Make, missing: str) -> None:
    """All four are required."""
    owner = make.user()
    project = make_project(make, owner)
    sent = {"title": "t", "file_name": "f", "code": "c", "visibility": "private"}
    del sent[missing]
    refused = api.post(f"/projects/{project.id}/snippets", owner, **sent)
    assert refused.status_code == 400
    assert missing in refused.json()["message"]


INVALID: list[dict[str, Any]] = [
    {"title": " "},
    {"title": "x" * 1_000_000},
    {"title": ["a"]},
    {"title": {"a": 1}},
    {"title": "a\0b"},
    {"code": ""},
    {"code": "x" * (2**20 + 1)},
    {"code": "ü" * 600_000},
    {"description": "x" * 1_000_001},
    {"visibility": "secret"},
    {"visibility": 5},
    {"file_name": "../x"},
    {"file_name": "a/../../etc/passwd"},
    {"file_name": ".git/config"},
    {"file_name": "a/.GIT/hooks"},
    {"file_name": ".git. /config"},
    {"file_name": "..\\x"},
    {"file_name": "/etc/passwd"},
    {"file_name": "a//b"},
    {"file_name": "a\nb"},
    {"file_name": "a\u202eb"},
    {"file_name": "x" * 256},
    {"files": [{"file_path": "a", "content": "b"}]},
    {"files": "a,b"},
]


@pytest.mark.parametrize("wrong", INVALID, ids=lambda wrong: str(wrong)[:40])
def test_invalid_snippets_are_rejected(api: Api, make: Make, wrong: dict[str, Any]) -> None:
    """On creation and edit."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/snippets"
    sent = {"title": "t", "file_name": "f", "code": "c", "visibility": "private", **wrong}
    assert api.post(base, owner, **sent).status_code == 400
    assert ids(api.get(base, owner)) == []
    number = _write(api, project, owner)
    if "files" not in wrong:
        assert api.put(f"{base}/{number}", owner, **wrong).status_code == 400
        assert api.get(f"{base}/{number}/raw", owner).text == "puts 1"
    assert api.put(f"{base}/{number}", owner).status_code == 400


SEEN = [
    # Level, and whether private, internal and public ones are visible; then for an external user.
    (Level.NONE, False, [False, True, True]),
    (Level.MASTER, False, [False, True, True]),
    (Level.NONE, True, [False, False, True]),
    (Level.GUEST, True, [False, True, True]),
]


@pytest.mark.parametrize(("level", "external", "seen"), SEEN)
def test_visibility(api: Api, make: Make, level: Level, external: bool, seen: list[bool]) -> None:
    """The list, the snippet and its content agree; a hidden one gets 404."""
    owner, other = make.user(), make.user(external=external)
    project = make_project(make, owner, visibility="public", members={other: level})
    base = f"/projects/{project.id}/snippets"
    written = [_write(api, project, owner, visibility=word) for word in ("private", "internal", "public")]
    expected = [number for number, sees in zip(written, seen, strict=True) if sees]
    assert sorted(ids(api.get(base, other))) == expected
    assert len(api.get(base, other, per_page=1).json()) == 1
    for number in written:
        status = 200 if number in expected else 404
        for url in (
            f"{base}/{number}",
            f"{base}/{number}/raw",
            f"{base}/{number}/files/main/hello.rb/raw",
            f"{base}/{number}/notes",
            f"/snippets/{number}",
            f"/snippets/{number}/raw",
        ):
            assert api.get(url, other).status_code == status, url
        if number not in expected:
            assert api.put(f"{base}/{number}", other, title="mine").status_code == 404
            assert api.delete(f"{base}/{number}", other).status_code == 200
            assert api.delete(f"/snippets/{number}", other).status_code == 200
    assert sorted(ids(api.get(base, owner))) == written
    assert api.get(base).status_code == 401


WRITES = [(Level.NONE, 403), (Level.GUEST, 403), (Level.REPORTER, 201), (Level.DEVELOPER, 201), (Level.MASTER, 201)]


@pytest.mark.parametrize(("level", "status"), WRITES)
def test_permission_to_write(api: Api, make: Make, level: Level, status: int) -> None:
    """Reporters create; snippets of others are edited by masters only, unless they are internal."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public", members={other: level})
    base = f"/projects/{project.id}/snippets"
    sent = {"title": "t", "file_name": "f", "code": "c", "visibility": "private"}
    assert api.post(base, other, **sent).status_code == status
    for word in ("internal", "public"):
        number = _write(api, project, owner, visibility=word)
        allowed = level >= Level.MASTER and word == "public"
        assert api.put(f"{base}/{number}", other, title="x").status_code == (200 if allowed else 403)
        assert api.delete(f"{base}/{number}", other).status_code == (200 if allowed else 403)
        assert api.get(f"{base}/{number}", owner).status_code == (404 if allowed else 200)


def test_authors_edit_their_own_snippets(api: Api, make: Make) -> None:
    """Guests included, but not users without access to the project."""
    owner, author = make.user(), make.user()
    project = make_project(make, owner, members={author: Level.REPORTER})
    number = _write(api, project, author)
    base = f"/projects/{project.id}"
    assert ids(api.get("/snippets", author)) == [number]
    api.put(f"{base}/members/{author.id}", owner, access_level=10)
    assert api.put(f"{base}/snippets/{number}", author, title="x").status_code == 200
    api.delete(f"{base}/members/{author.id}", owner)
    assert api.put(f"{base}/snippets/{number}", author, title="x").status_code == 404
    assert api.get(f"/snippets/{number}", author).status_code == 404
    assert ids(api.get("/snippets", author)) == []


def test_snippets_are_found_only_in_their_project(api: Api, make: Make) -> None:
    """Neither those of another project nor personal ones."""
    owner = make.user()
    project, other = make_project(make, owner), make_project(make, owner)
    number = _write(api, project, owner, visibility="public")
    own = api.post("/snippets", owner, title="t", file_name="f", content="c").json()["id"]
    for foreign in (number, own):
        base = f"/projects/{other.id}/snippets/{foreign}"
        assert api.get(base, owner).status_code == 404
        assert api.put(base, owner, title="x").status_code == 404
        assert api.get(f"{base}/raw", owner).status_code == 404
        assert api.delete(base, owner).status_code == 200
    assert api.get(f"/snippets/{number}", owner).status_code == 200
    assert api.get(f"/snippets/{own}", owner).status_code == 200
    for junk in ("x", "0", "-1", "9" * 30, "%00", "1.5"):
        assert api.get(f"/projects/{other.id}/snippets/{junk}", owner).status_code in (400, 404)


def test_disabled_and_archived_projects(api: Api, make: Make) -> None:
    """Disabled snippets are hidden; archived projects are read-only."""
    owner = make.user()
    project = make_project(make, owner)
    number = _write(api, project, owner)
    base = f"/projects/{project.id}"
    sent = {"title": "t", "file_name": "f", "code": "c", "visibility": "private"}
    api.post(f"{base}/archive", owner)
    assert api.get(f"{base}/snippets/{number}", owner).status_code == 200
    assert api.post(f"{base}/snippets", owner, **sent).status_code == 403
    assert api.put(f"{base}/snippets/{number}", owner, title="x").status_code == 403
    assert api.put(f"/snippets/{number}", owner, title="x").status_code == 403
    assert api.delete(f"{base}/snippets/{number}", owner).status_code == 403
    assert api.delete(f"/snippets/{number}", owner).status_code == 403
    assert api.post(f"{base}/snippets/{number}/notes", owner, body="x").status_code == 403
    api.post(f"{base}/unarchive", owner)
    assert api.put(base, owner, snippets_enabled=False).status_code == 200
    for url in ("snippets", f"snippets/{number}", f"snippets/{number}/raw"):
        assert api.get(f"{base}/{url}", owner).status_code == 403
    assert api.post(f"{base}/snippets", owner, **sent).status_code == 403
    assert api.delete(f"{base}/snippets/{number}", owner).status_code == 403
    assert api.get(f"/snippets/{number}", owner).status_code == 404
    assert ids(api.get("/snippets", owner)) == []


def test_raw_content_is_never_rendered(api: Api, make: Make) -> None:
    """Attack: browsers show every file as text and run nothing."""
    owner = make.user()
    project = make_project(make, owner)
    number = _write(api, project, owner, file_name='x".html', code="<script>alert(1)</script>")
    raw = api.get(f"/projects/{project.id}/snippets/{number}/raw", owner)
    assert raw.text == "<script>alert(1)</script>"
    assert raw.headers["content-type"] == "text/plain; charset=utf-8"
    assert raw.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in raw.headers["content-security-policy"]
    assert raw.headers["content-disposition"].startswith('inline; filename="x_.html"')


def test_user_agent_detail(api: Api, make: Make) -> None:
    """For administrators."""
    owner = make.user()
    project = make_project(make, owner)
    number = _write(api, project, owner)
    detail = f"/projects/{project.id}/snippets/{number}/user_agent_detail"
    assert api.get(detail, owner).status_code == 403
    shown = api.get(detail, make.root).json()
    assert shown["user_agent"] == USER_AGENT
    assert (shown["ip_address"], shown["akismet_submitted"]) == ("127.0.0.1", False)
    assert api.get(f"/projects/{project.id}/snippets/{number + 1000}/user_agent_detail", make.root).status_code == 404


def test_a_longer_list_takes_no_more_statements(api: Api, make: Make) -> None:
    """One statement for each relation, with page numbers."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/snippets"
    written = [_write(api, project, owner)]
    few = statements_of(make, lambda: api.get(base, owner))
    written += [_write(api, project, owner) for _ in range(4)]
    assert statements_of(make, lambda: api.get(base, owner)) == few
    page = api.get(base, owner, per_page=2, page=2)
    assert ids(page) == written[::-1][2:4]
    assert page.headers["x-total"] == "5"


def test_snippets_are_deleted_with_their_project_and_author(api: Api, make: Make) -> None:
    """Snippets of a deleted project or user are not found."""
    owner, author = make.user(), make.user()
    project = make_project(make, owner, members={author: Level.REPORTER})
    theirs, kept = _write(api, project, author), _write(api, project, owner)
    api.post(f"/projects/{project.id}/snippets/{theirs}/notes", owner, body="nice")
    assert api.delete(f"/users/{author.id}", make.root).status_code == 200
    assert ids(api.get(f"/projects/{project.id}/snippets", owner)) == [kept]
    assert api.delete(f"/projects/{project.id}", owner).status_code in (200, 202)
    assert api.get(f"/snippets/{kept}", owner).status_code == 404
    assert api.get(f"/snippets/{kept}", make.root).status_code == 404
    assert ids(api.get("/snippets", owner)) == []
    assert kept not in ids(api.get("/snippets/all", make.root, per_page=100))
