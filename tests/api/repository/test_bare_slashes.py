"""Unencoded slashes in names of branches, tags and files."""

from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project
from tests.git_history import History
from tests.roles import UsersByRole, project_with


@pytest.fixture
def project(instance: Instance, make: Make, roles: UsersByRole) -> Project:
    """Return a project in which nearly every name contains slashes."""
    project = project_with(make, roles)
    history = History()
    files = {"lib/deep/a.py": "a\n", "lib/deep/raw": "raw\n", "lib/deep/b c%2Fd": "odd\n", "raw/raw": "twice\n"}
    first = history.commit(files=files)
    history.commit("feature/x/y", files={"a": "1\n"}, parents=(first,))
    history.tag("rel/2.0/x", first)
    history.fill(instance, project)
    return project


class UnencodedClient:
    """Client that sends paths unchanged; they match no path of the OpenAPI document."""

    def __init__(self, api: Api, project: Project) -> None:
        self._base = httpx.URL(api.url)
        self._project = f"/api/v4/projects/{project.id}"

    def __call__(self, method: str, path: str, person: User, **params: Any) -> httpx.Response:
        query = f"?{urlencode(params)}" if params else ""
        url = self._base.copy_with(raw_path=f"{self._project}{path}{query}".encode())
        return httpx.request(method, url, headers={"PRIVATE-TOKEN": person.token})


@pytest.fixture
def call(api: Api, project: Project) -> UnencodedClient:
    """Return the calls in the project."""
    return UnencodedClient(api, project)


def test_branches(call: UnencodedClient, roles: UsersByRole) -> None:
    url = "/repository/branches/feature/x/y"
    assert (
        call("GET", url, roles.reporter).json()
        == call("GET", url.replace("re/x/y", "re%2Fx%2Fy"), roles.reporter).json()
    )
    assert call("GET", url.replace("x/y", "x%2Fy"), roles.reporter).json()["name"] == "feature/x/y"
    assert call("GET", url + "/", roles.reporter).json()["name"] == "feature/x/y"
    assert call("HEAD", url, roles.reporter).status_code == 200
    shown = call("PUT", f"{url}/protect", roles.master, developers_can_push=True).json()
    assert (shown["name"], shown["protected"], shown["developers_can_push"]) == ("feature/x/y", True, True)
    assert call("PUT", f"{url}/unprotect", roles.master).json()["protected"] is False
    assert call("PUT", f"{url}/protect", roles.developer).status_code == 403
    missing = call("GET", f"{url}/z", roles.reporter)
    assert (missing.status_code, missing.json()) == (404, {"message": "404 Branch Not Found"})
    assert call("DELETE", url, roles.developer).status_code == 200
    assert call("GET", url, roles.reporter).status_code == 404


def test_tags(call: UnencodedClient, roles: UsersByRole) -> None:
    url = "/repository/tags/rel/2.0/x"
    assert call("GET", url, roles.reporter).json()["name"] == "rel/2.0/x"
    told = call("POST", f"{url}/release", roles.developer, description="One")
    assert (told.status_code, told.json()) == (201, {"tag_name": "rel/2.0/x", "description": "One"})
    assert call("PUT", f"{url}/release", roles.developer, description="Two").json()["description"] == "Two"
    assert call("DELETE", url, roles.master).status_code == 200
    assert call("GET", url, roles.reporter).json() == {"message": "404 Tag Not Found"}


def test_files(call: UnencodedClient, roles: UsersByRole) -> None:
    url = "/repository/files"
    read = call("GET", f"{url}/lib/deep/a.py", roles.reporter, ref="master")
    assert (read.status_code, read.json()["file_path"]) == (200, "lib/deep/a.py")
    assert call("GET", f"{url}/lib/deep/a.py/raw", roles.reporter, ref="master").text == "a\n"
    assert call("GET", f"{url}/lib/deep/a.py/blame", roles.reporter, ref="master").json()[0]["lines"] == ["a"]
    odd = call("GET", f"{url}/lib/deep/b%20c%252Fd", roles.reporter, ref="master")
    assert odd.json()["file_path"] == "lib/deep/b c%2Fd"
    assert call("HEAD", f"{url}/lib/deep/a.py", roles.reporter, ref="master").status_code == 200
    # The last word belongs to the route; a file of that name needs encoded slashes.
    assert call("GET", f"{url}/lib/deep/raw", roles.reporter, ref="master").json() == {"message": "404 File Not Found"}
    assert call("GET", f"{url}/lib%2Fdeep%2Fraw", roles.reporter, ref="master").json()["file_path"] == "lib/deep/raw"
    assert call("GET", f"{url}/raw/raw/raw", roles.reporter, ref="master").text == "twice\n"

    sent = {"branch": "master", "commit_message": "x"}
    made = call("POST", f"{url}/new/at/once.txt", roles.master, content="1", **sent)
    assert (made.status_code, made.json()["file_path"]) == (201, "new/at/once.txt")
    assert call("PUT", f"{url}/new/at/once.txt", roles.master, content="2", **sent).status_code == 200
    gone = call("DELETE", f"{url}/new/at/once.txt", roles.master, **sent)
    assert (gone.status_code, gone.json()["file_path"]) == (200, "new/at/once.txt")


@pytest.mark.parametrize("path", ["%2E%2E/x", "a/%2e%2e/%2E%2E/x", ".git/config", "a/.git/x", "a/%2E/x"])
def test_hostile_paths(call: UnencodedClient, roles: UsersByRole, path: str) -> None:
    """Attack: paths that are rejected with encoded slashes are rejected without."""
    sent = {"branch": "master", "content": "x", "commit_message": "x"}
    for method in ("POST", "PUT", "DELETE"):
        answer = call(method, f"/repository/files/{path}", roles.master, **sent)
        assert answer.status_code == 400 and "path cannot" in answer.json()["message"], answer.text


def test_routes_without_unencoded_slashes(call: UnencodedClient, roles: UsersByRole) -> None:
    for path in (
        "/repository/commits/feature/x/y",
        "/releases/rel/2.0/x",
        "/repository/branches/%FF/x",
        "/repository/files/a/%00",
        "/repository/nothing/a/b",
    ):
        answer = call("GET", path, roles.reporter, ref="master")
        assert (answer.status_code, answer.json()) == (404, {"error": "404 Not Found"}), path
    assert call("POST", "/repository/branches/a/b", roles.master).status_code == 405
    assert call("GET", "/repository/branches/master/protect", roles.master).status_code == 405
    assert call("GET", "/repository/files/a/b", roles.reporter).status_code == 400
