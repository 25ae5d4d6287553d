"""Personal snippets: creation, reading, lists, editing, deletion and permissions."""

from typing import Any

import pytest

from tests.client import USER_AGENT, Api, Make, User
from tests.factories import ids


def _write(api: Api, author: User, **attributes: Any) -> int:
    sent = {"title": "Hello", "file_name": "hello.rb", "content": "puts 1", **attributes}
    made = api.post("/snippets", author, **sent)
    assert made.status_code == 201, made.text
    number: int = made.json()["id"]
    return number


def test_create_read_edit_delete(api: Api, make: Make) -> None:
    """Life cycle of a snippet."""
    author = make.user()
    made = api.post("/snippets", author, title="T", file_name="a.py", content="1", description="*d*")
    assert made.status_code == 201, made.text
    snippet = made.json()
    assert (snippet["visibility"], snippet["project_id"], snippet["description"]) == ("internal", None, "*d*")
    assert snippet["web_url"].endswith(f"/snippets/{snippet['id']}")
    assert snippet["raw_url"] == snippet["web_url"] + "/raw"
    number = snippet["id"]
    assert api.get(f"/snippets/{number}", author).json() == snippet
    assert api.get("/snippets", author).json() == [snippet]
    assert api.get(f"/snippets/{number}/raw", author).text == "1"
    assert api.put(f"/snippets/{number}", author, title="U", content="2").json()["title"] == "U"
    assert api.get(f"/snippets/{number}/files/main/a.py/raw", author).text == "2"
    assert api.get(f"/snippets/{number}/files/other/a.py/raw", author).status_code == 404
    assert api.get(f"/snippets/{number}/files/main/b.py/raw", author).status_code == 404
    assert api.put(f"/snippets/{number}", author).status_code == 400
    assert api.get(f"/snippets/{number}/user_agent_detail", author).status_code == 403
    assert api.get(f"/snippets/{number}/user_agent_detail", make.root).json()["user_agent"] == USER_AGENT
    for _ in range(2):
        assert api.delete(f"/snippets/{number}", author).status_code == 200
    assert api.get(f"/snippets/{number}", author).status_code == 404


@pytest.mark.parametrize(
    ("visibility", "user", "external"), [("private", 404, 404), ("internal", 200, 404), ("public", 200, 200)]
)
def test_permissions(api: Api, make: Make, visibility: str, user: int, external: int) -> None:
    """Other users see by visibility and edit nothing; administrators see and edit all."""
    author, other, outsider = make.user(), make.user(), make.user(external=True)
    number = _write(api, author, visibility=visibility)
    for person, status in ((other, user), (outsider, external)):
        assert api.get(f"/snippets/{number}", person).status_code == status
        assert api.get(f"/snippets/{number}/raw", person).status_code == status
        refused = 403 if status == 200 else 404
        assert api.put(f"/snippets/{number}", person, title="mine").status_code == refused
        assert api.delete(f"/snippets/{number}", person).status_code == (403 if status == 200 else 200)
        assert ids(api.get("/snippets", person)) == []
        listed = ids(api.get("/snippets/public", person, per_page=100))
        assert (number in listed) == (visibility == "public")
    assert api.get(f"/snippets/{number}", author).json()["title"] == "Hello"
    for path in ("/snippets", "/snippets/public", f"/snippets/{number}", f"/snippets/{number}/raw"):
        assert api.get(path).status_code == 401
    assert api.get("/snippets/all", author).status_code == 403
    assert number in ids(api.get("/snippets/all", make.root, per_page=100))
    assert api.put(f"/snippets/{number}", make.root, title="theirs").status_code == 200


def test_external_users_create_no_snippets(api: Api, make: Make) -> None:
    """External users get 403."""
    refused = api.post("/snippets", make.user(external=True), title="t", file_name="f", content="c")
    assert refused.status_code == 403


def test_restricted_visibility(api: Api, make: Make) -> None:
    """Levels restricted by administrators can be set only by them."""
    author = make.user()
    number = _write(api, author)
    api.put("/application/settings", make.root, restricted_visibility_levels=["public"])
    try:
        refused = api.post("/snippets", author, title="t", file_name="f", content="c", visibility="public")
        assert refused.status_code == 400
        assert api.put(f"/snippets/{number}", author, visibility="public").status_code == 400
        assert api.put(f"/snippets/{number}", make.root, visibility="public").status_code == 200
        # An unchanged level is not checked.
        assert api.put(f"/snippets/{number}", author, title="t", visibility="public").status_code == 200
    finally:
        api.put("/application/settings", make.root, restricted_visibility_levels=[])


def test_filters_by_creation_date(api: Api, make: Make) -> None:
    """Lists can be limited by time of creation."""
    author = make.user()
    number = _write(api, author)
    assert ids(api.get("/snippets", author, created_after="2001-01-01T00:00:00Z")) == [number]
    assert ids(api.get("/snippets", author, created_before="2001-01-01T00:00:00Z")) == []
    assert ids(api.get("/snippets", author, created_after="2999-01-01T00:00:00Z")) == []
    assert ids(api.get("/snippets", author, pagination="keyset", order_by="id", sort="desc")) == [number]
    assert api.get("/snippets", author, created_after="yesterday").status_code == 400


def _files(api: Api, author: User, number: int) -> dict[str, str]:
    shown = api.get(f"/snippets/{number}", author).json()["files"]
    return {
        file["path"]: api.get(f"/snippets/{number}/files/main/{file['path'].replace('/', '%2F')}/raw", author).text
        for file in shown
    }


def _several(api: Api, author: User) -> int:
    files = [{"file_path": "a.txt", "content": "A"}, {"file_path": "dir/b.txt", "content": "B"}]
    made = api.post("/snippets", author, title="several", files=files)
    assert made.status_code == 201, made.text
    number: int = made.json()["id"]
    return number


def test_several_files(api: Api, make: Make) -> None:
    """Files are created, updated, renamed and deleted in order, all or none."""
    author = make.user()
    number = _several(api, author)
    assert _files(api, author, number) == {"a.txt": "A", "dir/b.txt": "B"}
    assert api.get(f"/snippets/{number}/raw", author).text == "A"
    changes = [
        {"action": "create", "file_path": "c.txt", "content": "C"},
        {"action": "update", "file_path": "dir/b.txt", "content": "B2"},
        {"action": "move", "previous_path": "a.txt", "file_path": "d.txt"},
        {"action": "move", "previous_path": "dir/b.txt", "file_path": "a.txt"},
        {"action": "delete", "file_path": "c.txt"},
    ]
    assert api.put(f"/snippets/{number}", author, files=changes).status_code == 200
    assert _files(api, author, number) == {"d.txt": "A", "a.txt": "B2"}
    swap = [
        {"action": "move", "previous_path": "a.txt", "file_path": "t"},
        {"action": "move", "previous_path": "d.txt", "file_path": "a.txt"},
        {"action": "move", "previous_path": "t", "file_path": "d.txt", "content": "B3"},
    ]
    assert api.put(f"/snippets/{number}", author, files=swap).status_code == 200
    assert _files(api, author, number) == {"a.txt": "A", "d.txt": "B3"}


INVALID: list[dict[str, Any]] = [
    {"files": [{"action": "create", "file_path": "a.txt", "content": "twice"}]},
    {"files": [{"action": "create", "file_path": "../x", "content": "x"}]},
    {"files": [{"action": "create", "file_path": "c", "content": ""}]},
    {"files": [{"action": "update", "file_path": "none", "content": "x"}]},
    {"files": [{"action": "update", "content": "x"}]},
    {"files": [{"action": "move", "previous_path": "none", "file_path": "x"}]},
    {"files": [{"action": "move", "file_path": "x"}]},
    {"files": [{"action": "move", "previous_path": "a.txt", "file_path": "dir/b.txt"}]},
    {"files": [{"action": "delete", "file_path": "none"}]},
    {"files": [{"action": "delete", "file_path": "a.txt"}, {"action": "delete", "file_path": "dir/b.txt"}]},
    {"files": [{"action": "explode", "file_path": "a.txt"}]},
    {"files": [{"file_path": "a.txt"}]},
    {"files": [{"action": "create", "file_path": f"{n}", "content": "x"} for n in range(9)]},
    {"files": [{"action": "update", "file_path": "a.txt", "content": f"{n}"} for n in range(21)]},
    {"files": [1]},
    {"files": "x"},
    {"content": "which one"},
    {"file_name": "which one"},
    {"files": [{"action": "delete", "file_path": "a.txt"}], "content": "x"},
]


@pytest.mark.parametrize("wrong", INVALID, ids=lambda wrong: str(wrong)[:60])
def test_invalid_changes_are_rejected(api: Api, make: Make, wrong: dict[str, Any]) -> None:
    """Without any effect."""
    author = make.user()
    number = _several(api, author)
    assert api.put(f"/snippets/{number}", author, title="changed", **wrong).status_code == 400
    assert _files(api, author, number) == {"a.txt": "A", "dir/b.txt": "B"}
    assert api.get(f"/snippets/{number}", author).json()["title"] == "several"


def test_files_without_names(api: Api, make: Make) -> None:
    """A file without a name gets one; too many files, duplicates and none are rejected."""
    author = make.user()
    number = _write(api, author, file_name="")
    assert api.get(f"/snippets/{number}", author).json()["file_name"] == "snippetfile1.txt"
    many = [{"file_path": f"{n}", "content": "x"} for n in range(11)]
    twice = [{"file_path": "a", "content": "x"}, {"file_path": "a", "content": "y"}]
    wrong: list[list[dict[str, str]]] = [many, twice, [], [{}], [{"file_path": "a"}]]
    for files in wrong:
        assert api.post("/snippets", author, title="t", files=files).status_code == 400
    assert len(ids(api.get("/snippets", author))) == 1
