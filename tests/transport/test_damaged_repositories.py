"""Damaged repositories: an error message for the project, all others are served, and the doctor reports it."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ingot.git.maintenance import housekeeping
from ingot.git.maintenance.integrity import find_problems
from ingot.git.writing.ref_updates import STALE_LOCK_SECONDS, RefUpdate
from ingot.projects.projects.jobs import enqueue_repository_sweep
from ingot.repositories.ref_changes.service import open_intent
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import repository_of
from tests.transport.conftest import GitRemote, Tree, over_http
from tests.transport.test_workflows import recorded
from tests.transport.wire import ZERO

UNREADABLE = "The repository of this project cannot be read."


def _damage(path: Path, what: str) -> None:
    if what == "no repository":
        shutil.rmtree(path)
    elif what == "no packs":
        for pack in path.glob("objects/pack/*"):
            pack.unlink()
    elif what == "a pack cut off":
        for pack in path.glob("objects/pack/*.pack"):
            pack.chmod(0o600)
            os.truncate(pack, pack.stat().st_size // 2)
    elif what == "a bad HEAD":
        (path / "HEAD").write_text("nonsense\n")
    elif what == "no HEAD":
        (path / "HEAD").unlink()
    else:
        (path / "config").write_text("[core\n")


DAMAGES = ["no repository", "no packs", "a pack cut off", "a bad HEAD", "no HEAD", "a bad config"]


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_repository(
    instance: Instance,
    api: Api,
    make: Make,
    tree: Tree,
    git_remote: Callable[[User], GitRemote],
    tmp_path: Path,
    what: str,
) -> None:
    owner = make.user()
    broken, whole = make_project(make, owner), make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    for number in range(3):
        tree.commit("file", f"{number}\n" * 1000)
    for project in (broken, whole):
        tree.git("push", "-q", chosen.url(project), "master")
    path = repository_of(instance, broken).path
    kept = tmp_path / "kept"
    shutil.copytree(path, kept)
    try:
        _damage(path, what)
        said = tree.git("clone", chosen.url(broken), str(tmp_path / "clone"), fails=True)
        assert str(instance.settings.data) not in said, "no path of the server is shown"
        if what in ("no repository", "a bad HEAD", "no HEAD", "a bad config"):
            assert UNREADABLE in said
        assert api.get(f"/projects/{broken.id}", owner).status_code == 200
        for place in ("commits", "tree", "branches/master"):
            read = api.get(f"/projects/{broken.id}/repository/{place}", owner)
            assert read.status_code < 500 or UNREADABLE in read.json()["message"], read.text
        assert what == "no repository" or what == "a bad config" or find_problems(path, deep=True)
        tree.git("clone", "-q", chosen.url(whole), str(tmp_path / "other"))
    finally:
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(kept, path)
    tree.git("clone", "-q", chosen.url(broken), str(tmp_path / "again"))


def _locked(instance: Instance, make: Make, tree: Tree) -> tuple[Project, str, Path]:
    owner = make.user()
    project = make_project(make, owner)
    url = over_http(instance, project, owner)
    tree.commit()
    tree.git("push", "-q", url, "master", "master:gone")
    tree.commit(content="two\n")
    return project, url, repository_of(instance, project).path


def test_stale_locks(instance: Instance, make: Make, tree: Tree) -> None:
    """A recent one may be in use and causes an error; after its timeout it is removed."""
    project, url, path = _locked(instance, make, tree)
    (path / "refs" / "heads" / "master.lock").touch()
    assert "cannot lock ref" in tree.git("push", url, "master", fails=True)
    assert len(recorded(instance, project)) == 2
    (path / "packed-refs.lock").touch()
    then = time.time() - STALE_LOCK_SECONDS - 1
    for lock in path.rglob("*.lock"):
        os.utime(lock, (then, then))
    tree.git("push", "-q", url, "master", ":gone")
    assert not list(path.rglob("*.lock"))
    assert len(recorded(instance, project)) == 4


def _age(lock: Path, seconds: float) -> Path:
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    then = time.time() - seconds
    os.utime(lock, (then, then))
    return lock


def test_a_start_removes_the_locks_of_killed_processes(instance: Instance, make: Make, tree: Tree) -> None:
    """No further push to the tag is needed; a lock that may be in use stays, and so does the record of the change."""
    project, _, path = _locked(instance, make, tree)
    database, tip = instance.app.database, tree.git("rev-parse", "HEAD")
    change = [RefUpdate(f"refs/tags/{name}", ZERO, tip) for name in ("stale", "recent")]
    database.write(lambda db: open_intent(db, project.id, None, "http", change))
    stale = _age(path / "refs/tags/stale.lock", STALE_LOCK_SECONDS + 1)
    packed = _age(path / "packed-refs.lock", STALE_LOCK_SECONDS + 1)
    recent = _age(path / "refs/tags/recent.lock", 0)
    instance.app.reconcile()
    assert (stale.exists(), packed.exists(), recent.exists()) == (False, False, True)
    _age(recent, STALE_LOCK_SECONDS + 1)
    instance.app.reconcile()
    assert not recent.exists()


def test_the_sweep_removes_locks_in_repositories_that_are_not_used(instance: Instance, make: Make, tree: Tree) -> None:
    _, _, path = _locked(instance, make, tree)
    names = ("refs/tags/old.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock")
    stale = [_age(path / name, housekeeping.STALE_LOCK_SECONDS + 60) for name in names]
    recent = _age(path / "refs/tags/new.lock", 0)
    instance.app.database.write(enqueue_repository_sweep)
    instance.work()
    assert [lock.exists() for lock in (*stale, recent)] == [False] * len(stale) + [True]


def test_repositories_behind_a_symlink(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote], tmp_path: Path
) -> None:
    """The data directory may be reached by a symlink."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    path = repository_of(instance, project).path
    path.rename(tmp_path / "elsewhere.git")
    path.symlink_to(tmp_path / "elsewhere.git")
    tree.commit()
    tree.git("push", "-q", chosen.url(project), "master", "master:topic")
    tree.git("push", "-q", chosen.url(project), ":topic")
    assert len(recorded(instance, project)) == 3
