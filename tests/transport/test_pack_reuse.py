"""Clones that git serves from the packs and bitmaps that housekeeping writes."""

import re
from collections.abc import Callable

from ingot.git.maintenance.housekeeping import run_housekeeping
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import repository_of
from tests.transport.conftest import GitRemote, Tree, over_http

_REUSED = re.compile(r"pack-reused (\d+)")


def test_clone_after_housekeeping_reuses_the_pack(
    git_remote: Callable[[User], GitRemote], instance: Instance, make: Make, tree: Tree
) -> None:
    owner = make.user()
    project = make_project(make, owner)
    for number in range(40):
        tree.commit(f"file-{number}", f"{number}\n" * 100)
    tree.git("push", "-q", over_http(instance, project, owner), "master")
    run_housekeeping(repository_of(instance, project).path)

    chosen = git_remote(owner)
    tree.env = chosen.env
    said = tree.stderr("clone", "--progress", "--bare", chosen.url(project), "copy.git")
    reused = _REUSED.search(said)
    assert reused is not None and int(reused[1]) > 0, said
    copy = Tree(tree.folder / "copy.git")
    assert copy.git("rev-parse", "master") == tree.git("rev-parse", "HEAD")
    copy.git("fsck", "--strict")
