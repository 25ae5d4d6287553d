"""Wikis with the real git client, over HTTP and over SSH."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.transport.conftest import GitRemote, Tree, over_http, over_ssh, ssh_command
from tests.transport.test_workflows import recorded


def test_clone_edit_and_push(
    instance: Instance, api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote], tmp_path: Path
) -> None:
    """Pages written through the API are cloned, and pushed pages are read there; the project itself is not changed."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    url = chosen.url(f"{project.path}.wiki")
    base = f"/projects/{project.id}/wikis"
    api.post(base, owner, title="Home page", content="over the API")
    tree.git("clone", "-q", url, str(tmp_path / "copy"))
    copy = Tree(tmp_path / "copy", chosen.env)
    assert (copy.folder / "Home-page.md").read_text() == "over the API"
    copy.commit("Home-page.md", "over git\n")
    copy.commit("docs/with spaces.markdown", "too\n")
    copy.commit("picture.png", "no page\n")
    copy.git("push", "-q", "origin", "HEAD")
    assert api.get(f"{base}/Home-page", owner).json()["content"] == "over git\n"
    pages = api.get(base, owner).json()
    assert [page["slug"] for page in pages] == ["Home-page", "docs/with spaces"]
    assert api.get(f"{base}/docs%2Fwith%20spaces", owner).json()["content"] == "too\n"
    edited = api.put(f"{base}/docs%2Fwith%20spaces", owner, content="edited", title="docs/renamed")
    assert edited.status_code == 200, edited.text
    copy.git("pull", "-q")
    assert (copy.folder / "docs/renamed.md").read_text() == "edited"
    assert not (copy.folder / "docs/with spaces.markdown").exists()
    assert recorded(instance, project) == []
    assert api.get(f"/projects/{project.id}", owner).json()["empty_repo"]
    assert copy.git("ls-remote", chosen.url(project)) == ""


def test_a_first_push(api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]) -> None:
    """An unused wiki is cloned empty, and shows the branch that is pushed first under any name."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    url = chosen.url(f"{project.path}.wiki")
    assert tree.git("ls-remote", url) == ""
    tree.git("checkout", "-q", "-b", "trunk")
    tree.commit("home.md", "first\n")
    tree.git("push", "-q", url, "trunk")
    assert api.get(f"/projects/{project.id}/wikis/home", owner).json()["content"] == "first\n"
    assert "cannot be deleted" in tree.git("push", url, ":trunk", fails=True)
    assert "branches and tags only" in tree.git("push", url, "HEAD:refs/keep/x", fails=True)
    tree.git("push", "-q", url, "HEAD:refs/heads/other", "HEAD:refs/tags/v1")
    tree.git("push", "-q", url, ":other")
    tree.commit("home.md", "second\n")
    tree.git("commit", "-q", "--amend", "-m", "another")
    tree.git("push", "-q", "-f", url, "trunk")
    assert api.get(f"/projects/{project.id}/wikis/home", owner).json()["content"] == "second\n"


def test_wiki_of_a_group(
    instance: Instance, api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """The wiki of a group and of a subgroup is pushed and read; a reporter reads only, others find nothing."""
    owner, reporter, guest = make.user(), make.user(), make.user()
    group = make_group(make, owner, visibility="private", members={reporter: Level.REPORTER, guest: Level.GUEST})
    below = make_group(make, owner, parent=group, visibility="private")
    chosen = git_remote(owner)
    tree.commit("home.md", "first\n")
    for each in (group, below):
        url = chosen.url(f"{each.path}.wiki")
        tree.git("push", "-q", url, "HEAD", env=chosen.env)
        assert api.get(f"{each.url}/wikis/home", owner).json()["content"] == "first\n"
        assert "refs/heads/" in tree.git("ls-remote", url, env=chosen.env)
        readable = over_http(instance, f"{each.path}.wiki", reporter)
        assert "refs/heads/" in tree.git("ls-remote", readable)
        assert "not allowed to push" in tree.git("push", readable, "HEAD:refs/heads/new", fails=True)
        assert "not allowed to download" in tree.git(
            "ls-remote", over_http(instance, f"{each.path}.wiki", guest), fails=True
        )
        tree.git("ls-remote", over_http(instance, f"{each.path}.wiki", make.user()), fails=True)
        tree.git("ls-remote", over_http(instance, f"{each.path}.wiki", None), fails=True)
        tree.git("ls-remote", over_http(instance, each.path, owner), fails=True)


CALLERS = [
    (Level.NONE, "private", False, False),
    (Level.NONE, "public", True, False),
    (Level.GUEST, "private", False, False),
    (Level.REPORTER, "private", True, False),
    (Level.DEVELOPER, "private", True, True),
]


@pytest.mark.parametrize(("level", "visibility", "reads", "writes"), CALLERS)
def test_permissions(
    instance: Instance, api: Api, make: Make, tree: Tree, level: Level, visibility: str, reads: bool, writes: bool
) -> None:
    """Reporters clone, developers push, as through the API."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility=visibility, members={other: level})
    api.post(f"/projects/{project.id}/wikis", owner, title="home", content="x")
    url = over_http(instance, f"{project.path}.wiki", other)
    tree.git("ls-remote", url, fails=not reads)
    tree.commit("new.md", "y\n")
    tree.git("push", url, "HEAD:refs/heads/new", fails=not writes)
    tree.git("ls-remote", over_http(instance, f"{project.path}.wiki", None), fails=visibility != "public")


def test_disabled_archived_and_missing(instance: Instance, api: Api, make: Make, tree: Tree) -> None:
    """An archived project's wiki is read-only, a disabled one is hidden, and there is only one wiki."""
    owner = make.user()
    project = make_project(make, owner)
    api.post(f"/projects/{project.id}/wikis", owner, title="home", content="x")
    url = over_http(instance, f"{project.path}.wiki", owner)
    tree.commit("new.md", "y\n")
    api.post(f"/projects/{project.id}/archive", owner)
    assert "archived" in tree.git("push", url, "HEAD:refs/heads/new", fails=True)
    assert "refs/heads" in tree.git("ls-remote", url)
    api.post(f"/projects/{project.id}/unarchive", owner)
    api.put(f"/projects/{project.id}", owner, wiki_enabled=False)
    assert "no wiki" in tree.git("ls-remote", url, fails=True)
    assert "no wiki" in tree.git("push", url, "HEAD:refs/heads/new", fails=True)
    for path in (f"{project.path}.wiki.wiki", ".wiki", f"{owner.username}/.wiki", f"{owner.username}/none.wiki"):
        tree.git("ls-remote", over_http(instance, path, owner), fails=True)


def test_tokens_and_deploy_keys(instance: Instance, api: Api, make: Make, tree: Tree, tmp_path: Path) -> None:
    """Read-only tokens and deploy keys do not push to a wiki."""
    owner = make.user()
    project = make_project(make, owner)
    reading = make.token(owner.id, "read_repository")
    tree.commit("new.md", "y\n")
    url = over_http(instance, f"{project.path}.wiki", owner, reading)
    assert tree.git("ls-remote", url) == ""
    assert "cannot push" in tree.git("push", url, "HEAD:refs/heads/new", fails=True)
    key = tmp_path / "machine"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    line = Path(f"{key}.pub").read_text()
    added = api.post(f"/projects/{project.id}/deploy_keys", owner, title="robot", key=line, can_push=True)
    assert added.status_code == 201, added.text
    tree.env = {"GIT_SSH_COMMAND": ssh_command(key)}
    url = over_ssh(instance, f"{project.path}.wiki")
    assert tree.git("ls-remote", url) == ""
    assert "Deploy keys cannot push" in tree.git("push", url, "HEAD:refs/heads/new", fails=True)


def test_no_project_is_named_like_a_wiki(api: Api, make: Make) -> None:
    """The path would be ambiguous."""
    owner = make.user()
    refused = api.post("/projects", owner, name="namesake", path="some.wiki")
    assert refused.status_code == 400
