"""Wikis of groups: pages through the API, permissions, pages in the browser's routes, and their end with the group."""

from urllib.parse import quote

import httpx
import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import add_members, make_group, make_project

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))


def _statuses(api: Api, base: str, person: User | None) -> tuple[int, int, int]:
    """Return the statuses of reading, creating and deleting a page."""
    read = api.get(f"{base}/home", person).status_code
    created = api.post(base, person, title=f"by {person.username if person else 'none'}", content="x").status_code
    return read, created, api.delete(f"{base}/missing", person).status_code


def test_create_read_edit_delete(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner)
    base = f"{group.url}/wikis"
    assert api.get(base, owner).json() == []
    made = api.post(base, owner, title="docs/Home page", content="# Hi @nobody #1")
    page = {"format": "markdown", "slug": "docs/Home-page", "title": "docs/Home page", "encoding": "UTF-8"}
    assert (made.status_code, made.json()) == (201, {**page, "content": "# Hi @nobody #1"})
    slug = quote(page["slug"], safe="")
    assert api.get(f"/groups/{quote(group.path, safe='')}/wikis", owner).json() == [page]
    assert "<h1" in api.get(f"{base}/{slug}", owner, render_html="true").json()["content"]
    assert api.post(base, owner, title="docs/Home page", content="again").status_code == 400
    assert api.put(f"{base}/{slug}", owner, content="new", title="Start").json()["slug"] == "Start"
    assert api.get(base, owner, with_content="true").json()[0]["content"] == "new"
    assert api.delete(f"{base}/Start", owner).status_code == 200
    assert api.get(f"{base}/Start", owner).status_code == 404


def test_permissions(api: Api, make: Make) -> None:
    """Guests read, developers write, maintainers delete; members of a project in the group read nothing."""
    owner, guest, developer, maintainer, inside, other = (make.user() for _ in range(6))
    levels = {guest: Level.GUEST, developer: Level.DEVELOPER, maintainer: Level.MASTER}
    group = make_group(make, owner, visibility="private", members=levels)
    add_members(make, make_project(make, owner, group=group), {inside: Level.MASTER})
    base = f"{group.url}/wikis"
    assert api.post(base, owner, title="home", content="x").status_code == 201
    assert _statuses(api, base, None) == (401, 401, 401)
    assert _statuses(api, base, other) == (404, 404, 404)
    assert _statuses(api, base, inside) == (403, 403, 403)
    assert _statuses(api, base, guest) == (200, 403, 403)
    assert _statuses(api, base, developer) == (200, 201, 403)
    assert _statuses(api, base, maintainer) == (200, 201, 200)
    assert api.put(group.url, owner, visibility="public").status_code == 200
    assert _statuses(api, base, other) == (200, 403, 403)
    for level, expected in (("private", (403, 200)), ("disabled", (403, 403)), ("enabled", (200, 200))):
        assert api.put(group.url, owner, wiki_access_level=level).status_code == 200
        assert (api.get(base, other).status_code, api.get(base, guest).status_code) == expected


def test_attachments_and_pages(instance: Instance, api: Api, make: Make) -> None:
    """Links and files of a page lead to the pages of the group, for its members only."""
    owner, other = make.user(), make.user()
    group = make_group(make, owner, visibility="private")
    base = f"{group.url}/wikis"
    attached = api.request("POST", f"{base}/attachments", owner, files={"file": ("a.png", PNG)})
    path = attached.json()["file_path"]
    assert api.post(base, owner, title="docs/start", content=f"![a]({path}) [b](other)").status_code == 201
    html = api.get(f"{base}/docs%2Fstart", owner, render_html=True).json()["content"]
    root = f"/groups/{group.path}/-/wikis"
    assert f'"{instance.url}{root}/{path}"' in html and f'"{instance.url}{root}/other"' in html
    for person, status in ((owner, 200), (other, 404), (None, 404)):
        headers = {"PRIVATE-TOKEN": person.token} if person else {}
        assert httpx.get(f"{instance.url}{root}/{path}", headers=headers).status_code == status


@pytest.mark.parametrize("how", ["delete", "transfer"])
def test_wiki_follows_its_group(instance: Instance, api: Api, make: Make, how: str) -> None:
    """A transferred group keeps its wiki; the repository of a deleted one is removed."""
    owner = make.user()
    group, target = make_group(make, owner), make_group(make, owner)
    assert api.post(f"{group.url}/wikis", owner, title="home", content="kept").status_code == 201
    repositories = set((instance.settings.data / "repositories").glob("*/*/*"))
    if how == "transfer":
        assert api.post(f"{group.url}/transfer", owner, group_id=target.id).status_code == 201
        assert api.get(f"{group.url}/wikis/home", owner).json()["content"] == "kept"
        return
    assert api.delete(group.url, owner).status_code in (200, 202)
    instance.work()
    assert len(repositories - set((instance.settings.data / "repositories").glob("*/*/*"))) == 1
