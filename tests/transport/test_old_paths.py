"""Clones outlive a rename: git is led on from the old path, for pulls and for pushes."""

from collections.abc import Callable

from tests.client import Api, Make, Person
from tests.making import make_project
from tests.transport.conftest import Tree, Way


def test_a_clone_of_the_old_path_pulls_and_pushes(
    api: Api, make: Make, tree: Tree, way: Callable[[Person], Way]
) -> None:
    owner = make.user()
    project = make_project(make, owner)
    chosen = way(owner)
    tree.env = chosen.env
    url = chosen.url(project)
    tree.commit()
    tree.git("push", "-q", url, "master")
    assert api.put(project.url, owner, path=make.name("moved")).status_code == 200

    second = tree.commit(content="two\n")
    tree.git("push", "-q", url, "master")

    assert tree.git("ls-remote", url, "refs/heads/master").split() == [second, "refs/heads/master"]
    branch = api.get(f"{project.url}/repository/branches/master", owner).json()
    assert branch["commit"]["id"] == second
