"""Clones after a rename: git is redirected from the old path, for pulls and pushes."""

from collections.abc import Callable

from tests.client import Api, Make, User
from tests.factories import changed_settings, make_project
from tests.transport.conftest import GitRemote, Tree


def test_a_clone_of_the_old_path_pulls_and_pushes(
    api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    url = chosen.url(project)
    tree.commit()
    tree.git("push", "-q", url, "master")
    assert "has moved" not in tree.stderr("push", url, "master:beside")
    moved = api.put(project.url, owner, path=make.name("moved")).json()

    second = tree.commit(content="two\n")
    said = tree.stderr("push", url, "master")

    now = moved["ssh_url_to_repo" if url.startswith("ssh") else "http_url_to_repo"]
    assert "This project has moved; its address is now:" in said
    assert f"remote:   {now}" in said
    assert "has moved" not in tree.stderr(
        "push", url.replace(project.path, moved["path_with_namespace"]), "master:more"
    )
    with changed_settings(make, custom_http_clone_url_root="https://git.example.com/code"):
        said = tree.stderr("push", url, "master:other")
    chosen_root = f"https://git.example.com/code/{moved['path_with_namespace']}.git"
    assert f"remote:   {now if url.startswith('ssh') else chosen_root}" in said
    assert tree.git("ls-remote", url, "refs/heads/master").split() == [second, "refs/heads/master"]
    branch = api.get(f"{project.url}/repository/branches/master", owner).json()
    assert branch["commit"]["id"] == second
