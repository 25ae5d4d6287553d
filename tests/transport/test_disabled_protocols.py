"""Disabled git protocols: the other one is rejected with a message, and not shown on pages."""

import base64
import json
import subprocess
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.lfs.conftest import LfsClient, lfs
from tests.transport.conftest import BASE, Tree, over_http, over_ssh

__all__ = ["lfs"]
NO_HTTP = "Git access over HTTP is not allowed. Use the SSH address of the project."
NO_SSH = "Git access over SSH is not allowed. Use the HTTP address of the project."


@pytest.fixture
def only(api: Api, make: Make) -> Iterator[Callable[[str], None]]:
    """Yield a function that enables a single protocol until the test ends."""

    def enable(protocol: str) -> None:
        answer = api.put("/application/settings", make.root, enabled_git_access_protocol=protocol)
        assert answer.status_code == 200, answer.text

    yield enable
    enable("nil")


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    return make_project(make, owner, visibility="public")


def _request(env: dict[str, str], instance: Instance, words: str) -> subprocess.CompletedProcess[str]:
    ssh = [*env["GIT_SSH_COMMAND"].split(), "-T", "-p", str(instance.settings.ssh_port), "git@127.0.0.1", words]
    return subprocess.run(ssh, env=BASE, capture_output=True, text=True, check=False)


def test_ssh_only(
    instance: Instance,
    make: Make,
    tree: Tree,
    owner: User,
    project: Project,
    lfs: LfsClient,
    only: Callable[[str], None],
    ssh_key: Callable[[User], dict[str, str]],
) -> None:
    tree.env = ssh_key(owner)
    tree.commit()
    only("ssh")

    for path in (project.path, f"{project.path}.wiki"):
        assert f"remote: {NO_HTTP}" in tree.git("ls-remote", over_http(instance, path, owner), fails=True)
        asked = httpx.get(f"{instance.url}/{path}.git/info/refs?service=git-upload-pack")
        assert (asked.status_code, asked.text) == (403, f"{NO_HTTP}\n"), "No password would help."
        assert tree.git("ls-remote", over_ssh(instance, path)) == ""
    assert f"remote: {NO_HTTP}" in tree.git("push", over_http(instance, project, owner), "master", fails=True)
    tree.git("push", "-q", over_ssh(instance, project), "master")
    hidden = make_project(make, owner)
    asked = httpx.get(f"{instance.url}/{hidden.path}.git/info/refs?service=git-upload-pack")
    assert (asked.status_code, asked.text) == (403, f"{NO_HTTP}\n"), "The existence of projects is not revealed."

    refused = lfs.batch(project, owner, "download", b"large")
    assert (refused.status_code, refused.json()["message"]) == (403, NO_HTTP)
    credentials = json.loads(_request(tree.env, instance, f"git-lfs-authenticate /{project.path}.git upload").stdout)
    name, _, token = (
        base64.b64decode(credentials["header"]["Authorization"].removeprefix("Basic ")).decode().partition(":")
    )
    lfs.upload(project, (name, token), b"large")


def test_http_only(
    instance: Instance,
    tree: Tree,
    owner: User,
    project: Project,
    only: Callable[[str], None],
    ssh_key: Callable[[User], dict[str, str]],
) -> None:
    tree.env = ssh_key(owner)
    tree.commit()
    only("http")

    for path in (project.path, f"{project.path}.wiki", "no/such"):
        assert NO_SSH in tree.git("ls-remote", over_ssh(instance, path), fails=True)
    large = _request(tree.env, instance, f"git-lfs-authenticate /{project.path}.git download")
    assert (large.returncode, large.stderr.strip()) == (128, NO_SSH)
    tree.git("push", "-q", over_http(instance, project, owner), "master")


@pytest.mark.parametrize(
    ("protocol", "shown", "unshown"), [("ssh", "ssh://", "http://"), ("http", "http://", "ssh://")]
)
def test_pages_show_enabled_protocols(
    instance: Instance,
    api: Api,
    owner: User,
    project: Project,
    only: Callable[[str], None],
    protocol: str,
    shown: str,
    unshown: str,
) -> None:
    only(protocol)

    seen = api.get(f"/projects/{project.id}", owner).json()
    addresses = {"http://": seen["http_url_to_repo"], "ssh://": seen["ssh_url_to_repo"]}
    for page, ending in ((f"/{project.path}", ".git"), (f"/{project.path}/-/wikis", ".wiki.git")):
        html = httpx.get(f"{instance.url}{page}").text
        assert f'value="{addresses[shown].removesuffix(".git")}{ending}"' in html
        assert addresses[unshown].removesuffix(".git") + ending not in html
