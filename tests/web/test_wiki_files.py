"""Files of wikis, as served to browsers and API clients."""

from pathlib import Path

import httpx
import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def attach(api: Api, project: Project, person: User, name: str, content: bytes) -> str:
    """Add a file to the wiki and return its path."""
    made = api.request("POST", f"{project.url}/wikis/attachments", person, files={"file": (name, content)})
    assert made.status_code == 201, made.text
    path: str = made.json()["file_path"]
    return path


def get(instance: Instance, path: str, who: User | None = None) -> httpx.Response:
    """Request a path."""
    return httpx.get(instance.url + path, headers={"PRIVATE-TOKEN": who.token} if who else {})


def test_files_require_access_to_the_wiki(instance: Instance, api: Api, make: Make) -> None:
    owner, stranger = make.user(), make.user()
    project = make_project(make, owner, visibility="private")
    path = attach(api, project, owner, "a.png", PNG)

    for url in (f"/{project.path}/wikis/{path}", f"/{project.path}/-/wikis/{path}"):
        shown = get(instance, url, owner)
        assert (shown.status_code, shown.content, shown.headers["content-type"]) == (200, PNG, "image/png")
        assert get(instance, url, stranger).status_code == get(instance, url).status_code == 404
    # A page that mentions it has a working link.
    sent = {"title": "docs/start", "content": f"![a]({path}) [up](other) [beside](./more)"}
    assert api.post(f"{project.url}/wikis", owner, **sent).status_code == 201
    html = api.get(f"{project.url}/wikis/docs%2Fstart", owner, render_html=True).json()["content"]
    base = f"{instance.url}/{project.path}/wikis"
    assert all(f'"{base}/{inside}"' in html for inside in (path, "other", "docs/more"))
    # Nothing is cached for users who lost access.
    assert api.put(project.url, owner, wiki_enabled=False).status_code == 200
    assert get(instance, f"/{project.path}/wikis/{path}", owner).status_code == 404


@pytest.mark.parametrize("name", ["a.svg", "a.html"])
def test_served_files_run_nothing(instance: Instance, api: Api, make: Make, name: str) -> None:
    """Attack: files that could run are only downloaded."""
    owner = make.user()
    project = make_project(make, owner)
    path = attach(api, project, owner, name, b"<svg onload=alert(1)>")

    shown = get(instance, f"/{project.path}/wikis/{path}", owner)
    assert shown.headers["content-type"] == "application/octet-stream"
    assert shown.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in shown.headers["content-security-policy"]


def test_large_files_are_streamed(instance: Instance, api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    content = bytes(range(256)) * 4 * 1024 * 3
    path = attach(api, project, owner, "large.bin", content)

    assert get(instance, f"/{project.path}/wikis/{path}", owner).content == content


def test_only_attachments_are_served(instance: Instance, api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    path = attach(api, project, owner, "a.txt", b"text")
    folder = str(Path(path).parent)

    assert get(instance, f"/{project.path}/wikis/{path}", owner).text == "text"
    for wrong in (f"{folder}/b.txt", f"{folder}/..%2f..%2fa.txt", f"uploads/{'0' * 32}/a.txt", f"{folder}/%00"):
        assert get(instance, f"/{project.path}/wikis/{wrong}", owner).status_code == 404, wrong
    empty = make_project(make, owner)
    assert get(instance, f"/{empty.path}/wikis/{path}", owner).status_code == 404
