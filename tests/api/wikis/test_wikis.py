"""Wikis: creation, reading, lists, editing, deletion of pages, and permissions."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project, statements_of


def test_create_read_edit_delete(api: Api, make: Make) -> None:
    """Life cycle of a page, including renaming."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/wikis"
    assert api.get(base, owner).json() == []
    assert api.get(f"{base}/home", owner).status_code == 404
    made = api.post(base, owner, title="Home page", content="# Hi <b>ü</b>\r\n")
    assert made.status_code == 201, made.text
    page = {"format": "markdown", "slug": "Home-page", "title": "Home page", "encoding": "UTF-8"}
    assert made.json() == {**page, "content": "# Hi <b>ü</b>\r\n"}
    assert api.get(f"{base}/Home-page", owner).json() == made.json()
    assert api.get(f"{base}/Home%20page", owner).json() == made.json()
    assert api.get(base, owner).json() == [page]
    assert api.get(base, owner, with_content="true").json() == [made.json()]
    html = api.get(f"{base}/Home-page", owner, render_html="true").json()["content"]
    assert html.startswith('<h1 data-sourcepos="1:1-1:14" dir="auto"')
    edited = api.put(f"{base}/Home-page", owner, content="new", title="docs/Start here", format="asciidoc")
    assert edited.status_code == 200, edited.text
    assert edited.json() == {
        "format": "asciidoc",
        "slug": "docs/Start-here",
        "title": "docs/Start here",
        "encoding": "UTF-8",
        "content": "new",
    }
    assert api.get(f"{base}/Home-page", owner).status_code == 404
    slug = quote("docs/Start-here", safe="")
    assert api.get(f"{base}/{slug}", owner).json()["content"] == "new"
    for _ in range(2):  # An identical edit changes nothing.
        assert api.put(f"{base}/{slug}", owner, content="newer").json()["content"] == "newer"
    assert api.put(f"{base}/{slug}", owner, title="Moved").json()["content"] == "newer"
    assert api.delete(f"{base}/Moved", owner).status_code == 200
    assert api.delete(f"{base}/Moved", owner).status_code == 200
    assert api.get(base, owner).json() == []


def test_formats_and_sidebar(api: Api, make: Make) -> None:
    """Each format has its extension, and special pages are pages too."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/wikis"
    for format in ("markdown", "rdoc", "asciidoc", "org"):
        assert api.post(base, owner, title=f"in {format}", content="<i>x</i>", format=format).status_code == 201
        assert api.get(f"{base}/in-{format}", owner).json()["format"] == format
    shown = api.get(f"{base}/in-org", owner, render_html="true").json()["content"]
    assert shown == "<pre>&lt;i&gt;x&lt;/i&gt;</pre>"
    assert api.post(base, owner, title="_sidebar", content="links").status_code == 201
    slugs = [page["slug"] for page in api.get(base, owner).json()]
    assert slugs == ["_sidebar", "in-asciidoc", "in-markdown", "in-org", "in-rdoc"]
    page = api.get(base, owner, per_page=2, page=2)
    assert [each["slug"] for each in page.json()] == slugs[2:4]


INVALID: list[dict[str, Any]] = [
    {"title": ""},
    {"title": " / "},
    {"title": "x" * 1_000_000},
    {"title": "ü" * 130},
    {"title": "../x"},
    {"title": "a/../../x"},
    {"title": ".git/config"},
    {"title": "a/.GIT/x"},
    {"title": ".gitattributes"},
    {"title": "a//b"},
    {"title": "..\\x"},
    {"title": "a\nb"},
    {"title": "a\0b"},
    {"title": ["a"]},
    {"content": ""},
    {"content": " \n"},
    {"content": "x" * 1_000_001},
    {"content": {"a": 1}},
    {"format": "html"},
    {"message": "x" * 10_001},
]


@pytest.mark.parametrize("wrong", INVALID, ids=lambda wrong: str(wrong)[:40])
def test_invalid_pages_are_rejected(api: Api, make: Make, wrong: dict[str, Any]) -> None:
    """On creation and edit."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/wikis"
    refused = api.post(base, owner, **{"title": "t", "content": "c", **wrong})
    assert refused.status_code == 400, refused.text
    assert api.get(base, owner).json() == []
    api.post(base, owner, title="page", content="c")
    assert api.put(f"{base}/page", owner, **wrong).status_code == 400
    assert api.get(f"{base}/page", owner).json()["content"] == "c"


def test_taken_titles(api: Api, make: Make) -> None:
    """A title is unique in all formats."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/wikis"
    for title in ("a b", "other"):
        assert api.post(base, owner, title=title, content="x").status_code == 201
    for title in ("a b", "a-b", " a b "):
        assert api.post(base, owner, title=title, content="y", format="org").status_code == 400
    assert api.put(f"{base}/other", owner, title="a b").status_code == 400
    assert api.put(f"{base}/other", owner).status_code == 400
    assert api.put(f"{base}/none", owner, content="x").status_code == 404
    assert api.post(base, owner, title="no content").status_code == 400
    assert api.post(base, owner, content="no title").status_code == 400
    for junk in ("..%2Fx", "..%2F..%2Fetc%2Fpasswd", "%2E%2E", "a%00b", "x" * 5000, "%FF"):
        assert api.get(f"{base}/{junk}", owner).status_code in (400, 404)
    assert api.get(f"{base}/other", owner, version="0" * 40).status_code == 404
    assert api.get(f"{base}/other", owner, version="--help").status_code == 404


CALLERS = [
    (Level.NONE, "private", 404, 404, 404),
    (Level.NONE, "public", 200, 403, 403),
    (Level.GUEST, "private", 200, 403, 403),
    (Level.REPORTER, "private", 200, 403, 403),
    (Level.DEVELOPER, "private", 200, 201, 403),
    (Level.MASTER, "private", 200, 201, 200),
]


@pytest.mark.parametrize(("level", "visibility", "reads", "writes", "deletes"), CALLERS)
def test_permissions(
    api: Api, make: Make, level: Level, visibility: str, reads: int, writes: int, deletes: int
) -> None:
    """All who can see the project read, developers write, masters delete."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility=visibility, members={other: level})
    base = f"/projects/{project.id}/wikis"
    api.post(base, owner, title="home", content="x")
    assert api.get(base, other).status_code == reads
    assert api.get(f"{base}/home", other).status_code == reads
    assert api.post(base, other, title="mine", content="x").status_code == writes
    assert api.put(f"{base}/home", other, content="y").status_code == (200 if writes == 201 else writes)
    attached = api.request("POST", f"{base}/attachments", other, files={"file": ("a.txt", b"x")})
    assert attached.status_code == writes
    assert api.delete(f"{base}/home", other).status_code == deletes
    assert api.get(base).status_code == api.get(f"{base}/home").status_code == 401
    assert api.post(base, title="mine", content="x").status_code == 401


def test_disabled_and_archived_projects(api: Api, make: Make) -> None:
    """A disabled wiki is hidden; that of an archived project is read-only."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/wikis"
    api.post(base, owner, title="home", content="x")
    api.post(f"/projects/{project.id}/archive", owner)
    assert api.get(f"{base}/home", owner).status_code == 200
    assert api.post(base, owner, title="t", content="x").status_code == 403
    assert api.put(f"{base}/home", owner, content="y").status_code == 403
    assert api.delete(f"{base}/home", owner).status_code == 403
    api.post(f"/projects/{project.id}/unarchive", owner)
    api.put(f"/projects/{project.id}", owner, wiki_enabled=False)
    assert api.get(base, owner).status_code == 403
    assert api.get(f"{base}/home", owner).status_code == 403
    assert api.post(base, owner, title="t", content="x").status_code == 403


def test_attachments(api: Api, make: Make) -> None:
    """A file of any name is stored under a new path."""
    owner = make.user()
    project = make_project(make, owner)
    url = f"/projects/{project.id}/wikis/attachments"
    made = api.request("POST", url, owner, files={"file": ("../../x y.png", b"\x89PNG")})
    assert made.status_code == 201, made.text
    shown = made.json()
    assert shown["file_name"] == "x_y.png"
    assert shown["file_path"].startswith("uploads/")
    assert shown["link"] == {"url": shown["file_path"], "markdown": f"![x_y]({shown['file_path']})"}
    assert api.post(url, owner, file="no file").status_code == 400
    assert api.post(url, owner).status_code == 400
    assert api.get(f"/projects/{project.id}/wikis", owner).json() == []


def test_concurrent_writes(api: Api, make: Make) -> None:
    """No page is lost, also in an empty wiki; of equal pages one is created."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/wikis"

    def write(title: str) -> int:
        return api.post(base, owner, title=title, content=title).status_code

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(write, [f"page {number}" for number in range(12)])) == [201] * 12
        same = list(pool.map(write, ["same"] * 6))
    assert sorted(same) == [201] + [400] * 5
    assert len(api.get(base, owner).json()) == 13


def test_the_repository_is_deleted_with_the_project(api: Api, make: Make, instance: Instance) -> None:
    """A fork starts without a wiki; the cleanup job keeps repositories in use."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/wikis"
    before = _repositories(instance)
    api.post(base, owner, title="home", content="x")
    (wiki,) = _repositories(instance) - before
    other = make.user()
    api.post(f"/projects/{project.id}/members", owner, user_id=other.id, access_level=40)
    fork = api.post(f"/projects/{project.id}/fork", other).json()
    assert api.get(f"/projects/{fork['id']}/wikis", other).json() == []
    assert wiki in _repositories(instance)
    assert api.delete(f"/projects/{project.id}", owner).status_code in (200, 202)
    assert api.get(base, owner).status_code == 404
    instance.work()
    assert wiki not in _repositories(instance)


def _repositories(instance: Instance) -> set[str]:
    return {path.name for path in instance.settings.data.glob("repositories/??/??/*.git")}


def test_statement_count_does_not_grow_with_the_list(api: Api, make: Make) -> None:
    """Contents need no statements either."""
    owner = make.user()
    project = make_project(make, owner)
    for number in range(3):
        api.post(f"/projects/{project.id}/wikis", owner, title=f"page {number}", content=f"# {number}")

    costs = {
        statements_of(
            make,
            partial(api.get, f"/projects/{project.id}/wikis?{content}", owner, per_page=size),
        )
        for size in (1, 3)
        for content in ("with_content=true", "with_content=false")
    }

    assert len(costs) == 1
    assert costs.pop() <= 4  # Caller, project, whether it has a wiki.
