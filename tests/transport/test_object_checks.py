"""Checks of pushed objects, and isolation between repositories."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History, repository_of, run
from tests.transport.conftest import GitRemote, Tree

HOSTILE_TREES = {
    "a folder of git's own": (b"40000 .git\0", "tree"),
    "the same in another case": (b"40000 .GiT\0", "tree"),
    "the same as Windows shortens it": (b"40000 git~1\0", "tree"),
    "a way out": (b"40000 ..\0", "tree"),
    "a slash": (b"100644 a/b\0", "blob"),
}


def test_invalid_objects_are_rejected(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """Attack: a tree that overwrites a client's .git directory on checkout."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env, url = chosen.env, chosen.url(project)
    tip = tree.commit()
    tree.git("push", "-q", url, "master")
    for what, (line, kind) in HOSTILE_TREES.items():
        inner = tree.git("rev-parse", "HEAD^{tree}" if kind == "tree" else "HEAD:README")
        raw = tree.folder / "raw"
        raw.write_bytes(line + bytes.fromhex(inner))
        bad = tree.git("hash-object", "-t", "tree", "-w", "--literally", str(raw))
        commit = tree.git("commit-tree", "-p", tip, "-m", "Evil", bad)
        said = tree.git("push", "-q", url, f"{commit}:refs/heads/evil", fails=True)
        assert "fsck error" in said, (what, said)
    repository = repository_of(instance, project)
    assert repository.refs() == {b"refs/heads/master": tip}
    assert not list((repository.path / "objects").glob("tmp_objdir*"))
    tree.git("push", "-q", url, "master:refs/heads/good")


@pytest.mark.parametrize("protocol", ["0", "1", "2"])
def test_objects_of_other_projects_are_not_served(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote], protocol: str, tmp_path: Path
) -> None:
    """Attack: fetch an object of another project by its id."""
    owner, stranger = make.user(), make.user()
    private, own = make_project(make, owner), make_project(make, stranger)
    for project in (private, own):
        history = History()
        history.commit(files={"a": project.path})
        history.fill(instance, project)
    secret = run(repository_of(instance, private).path, "rev-parse", "master")
    chosen = git_remote(stranger)
    tree.env = chosen.env
    args = ("-c", f"protocol.version={protocol}", "fetch", "-q", chosen.url(own))
    tree.git(*args, secret, fails=True)
    tree.git(*args, run(repository_of(instance, private).path, "rev-parse", "master:a"), fails=True)
    tree.git(*args, "master")
