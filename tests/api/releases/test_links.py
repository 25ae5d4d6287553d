"""Links of releases."""

from typing import Any

import httpx
import pytest

from ingot.collaboration.releases import service
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History


@pytest.fixture
def project(api: Api, make: Make, instance: Instance) -> Project:
    """Return a public project with the releases ``v/1`` and ``v2``."""
    project = make_project(make, visibility="public")
    history = History()
    history.commit(files={"README.md": "hello\n"})
    history.fill(instance, project)
    for tag in ("v/1", "v2"):
        assert api.post(f"/projects/{project.id}/releases", make.root, tag_name=tag, ref="master").status_code == 201
    return project


def test_life_cycle_of_a_link(api: Api, make: Make, instance: Instance, project: Project) -> None:
    made = api.post(
        f"/projects/{project.id}/releases/v%2F1/assets/links",
        make.root,
        name="linux",
        url="https://example.org/linux.tar.gz",
        filepath="/bin/linux-amd64",
        link_type="package",
    )
    assert made.status_code == 201, made.text
    shown = made.json()
    assert shown == {
        "id": shown["id"],
        "name": "linux",
        "url": "https://example.org/linux.tar.gz",
        "direct_asset_url": f"{instance.url}/{project.path}/-/releases/v%2F1/downloads/bin/linux-amd64",
        "external": True,
        "link_type": "package",
    }
    one = f"/projects/{project.id}/releases/v%2F1/assets/links/{shown['id']}"
    assert api.get(one).json() == shown
    own = f"{instance.url}/{project.path}/-/x"
    other = api.post(f"/projects/{project.id}/releases/v%2F1/assets/links", make.root, name="own", url=own).json()
    assert (other["external"], other["link_type"], other["direct_asset_url"]) == (False, "other", own)
    listed = api.get(f"/projects/{project.id}/releases/v%2F1/assets/links")
    assert listed.json() == [other, shown]  # Newest first.
    assert api.get(f"/projects/{project.id}/releases/v%2F1").json()["assets"]["links"] == [other, shown]
    changed = api.put(one, make.root, name="Linux", link_type="image", direct_asset_path="/linux")
    assert changed.status_code == 200, changed.text
    assert (changed.json()["name"], changed.json()["url"]) == ("Linux", shown["url"])
    assert changed.json()["direct_asset_url"].endswith("/downloads/linux")
    assert api.put(one, make.root, filepath="").json()["direct_asset_url"] == shown["url"]
    deleted = api.delete(f"/projects/{project.id}/releases/v%2F1/assets/links/{shown['id']}", make.root)
    assert (deleted.status_code, deleted.json()["name"]) == (200, "Linux")
    again = api.delete(one, make.root)
    assert (again.status_code, again.content) == (200, b"")
    assert api.get(one).status_code == 404
    assert api.put(one, make.root, name="x").status_code == 404


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": " "}, "name"),
        ({"name": "x" * 256}, "name"),
        ({"name": ["x"]}, "name"),
        ({"url": ""}, "url"),
        ({"url": "example.org"}, "url"),
        ({"url": "javascript:alert(1)"}, "url"),
        ({"url": "data:text/html,x"}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": "https://"}, "url"),
        ({"url": "https://[::1"}, "url"),
        ({"url": "https://a b/"}, "url"),
        ({"url": 'https://a/"><script>'}, "url"),
        ({"url": "https://a/" + "x" * 2048}, "url"),
        ({"filepath": "bin/x"}, "filepath"),
        ({"filepath": "/../x"}, "filepath"),
        ({"filepath": "//x"}, "filepath"),
        ({"filepath": "/x y"}, "filepath"),
        ({"filepath": "/" + "x" * 128}, "filepath"),
        ({"direct_asset_path": "x"}, "filepath"),
        ({"link_type": "video"}, "link_type"),
        ({"link_type": 1}, "link_type"),
    ],
)
def test_invalid_links_are_rejected(api: Api, make: Make, project: Project, sent: dict[str, Any], field: str) -> None:
    url = f"/projects/{project.id}/releases/v2/assets/links"
    refused = api.post(url, make.root, **{"name": "x", "url": "https://example.org/x", **sent})
    assert refused.status_code == 400, refused.text
    assert list(refused.json()["message"]) == [field]
    there = api.post(url, make.root, name="x", url="https://example.org/x").json()
    assert api.put(f"{url}/{there['id']}", make.root, **sent).status_code == 400
    assert api.get(url).json() == [there]


def test_links_of_a_release_are_unique(api: Api, make: Make, project: Project) -> None:
    url = f"/projects/{project.id}/releases/v2/assets/links"
    first = {"name": "a", "url": "https://example.org/a", "filepath": "/a"}
    assert api.post(url, make.root, **first).status_code == 201
    second = {"name": "b", "url": "https://example.org/b", "filepath": "/b"}
    for field in first:
        refused = api.post(url, make.root, **{**second, field: first[field]})
        assert refused.json() == {"message": {field: ["has already been taken"]}}
    made = api.post(url, make.root, **second).json()
    assert api.put(f"{url}/{made['id']}", make.root, name="a").status_code == 400
    assert api.put(f"{url}/{made['id']}", make.root, name="b").status_code == 200
    assert api.post(f"/projects/{project.id}/releases/v%2F1/assets/links", make.root, **first).status_code == 201


def test_a_link_belongs_to_its_release(api: Api, make: Make, project: Project) -> None:
    sent = {"name": "a", "url": "https://example.org/a"}
    link = api.post(f"/projects/{project.id}/releases/v2/assets/links", make.root, **sent).json()["id"]
    other = f"/projects/{project.id}/releases/v%2F1/assets/links/{link}"
    assert api.get(other).status_code == 404
    assert api.put(other, make.root, name="x").status_code == 404
    assert api.delete(other, make.root).status_code == 200
    assert api.get(f"/projects/{project.id}/releases/v2/assets/links/{link}").status_code == 200
    for odd in ("x", "0", "-1", str(2**63), "1.0"):
        assert api.get(f"/projects/{project.id}/releases/v2/assets/links/{odd}").status_code in (400, 404)


def test_the_number_of_links_is_limited(
    api: Api, make: Make, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_LINKS", 2)
    url = f"/projects/{project.id}/releases"
    links = [{"name": str(n), "url": f"http://a/{n}"} for n in range(3)]
    statuses = [api.post(f"{url}/v2/assets/links", make.root, **link).status_code for link in links]
    assert statuses == [201, 201, 400]
    assert api.delete(f"{url}/v%2F1", make.root).status_code == 200
    assert api.post(url, make.root, tag_name="v/1", assets={"links": links}).status_code == 400
    made = api.post(url, make.root, tag_name="v/1", assets={"links": links[:2]}).json()
    assert [link["name"] for link in made["assets"]["links"]] == ["1", "0"]


def test_links_as_form_fields(api: Api, make: Make, project: Project) -> None:
    form = "tag_name=v3&ref=master&assets[links][][name]=a&assets[links][][url]=http://a/&assets[links][][name]=b&assets[links][][url]=http://b/"
    made = api.request(
        "POST",
        f"/projects/{project.id}/releases",
        make.root,
        content=form,
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert made.status_code == 201, made.text
    assert [link["name"] for link in made.json()["assets"]["links"]] == ["b", "a"]


def test_downloads_redirect_to_the_url_of_the_link(api: Api, make: Make, instance: Instance, project: Project) -> None:
    releases = f"/projects/{project.id}/releases"
    link = {"name": "tool", "url": "https://example.org/tool.tgz?a=1", "filepath": "/bin/tool"}
    assert api.post(f"{releases}/v2/assets/links", make.root, **link).status_code == 201
    paths = (
        f"/projects/{project.id}/releases/v2/downloads/bin%2Ftool",
        f"/projects/{project.id}/releases/permalink/latest/downloads/bin%2Ftool",
    )
    for path in paths:
        answer = api.get(path)
        assert (answer.status_code, answer.headers["location"]) == (302, link["url"])
        unescaped = httpx.get(f"{instance.url}/api/v4{path.replace('bin%2F', 'bin/')}")
        assert unescaped.headers["location"] == link["url"]
        assert api.get(f"{path}2").status_code == 404
    assert api.get(f"{releases}/v%2F1/downloads/bin%2Ftool").status_code == 404
    assert api.put(project.url, make.root, visibility="private").status_code == 200
    for path in paths:
        assert api.get(path).status_code == 404
        assert api.get(path, make.user()).status_code == 404
        assert api.get(path, make.root).status_code == 302
