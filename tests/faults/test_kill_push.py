"""Killing all processes during pushes: the ref is old or new, and its record matches."""

import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from ingot.git.core.repository import Repository
from ingot.git.maintenance.integrity import find_problems
from ingot.git.writing.ref_updates import STALE_LOCK_SECONDS, RefUpdate, update_refs
from ingot.repositories.ref_changes.service import open_intent
from tests.faults.load_generator import database_of
from tests.faults.push_remote import ZERO, Remote, git_processes, kill_git
from tests.server.process import Server, until
from tests.transport.conftest import Tree

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "3"))
LARGE = 3 * 2**20
pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for git processes in /proc")


def commit(tree: Tree, size: int) -> str:
    """Create a commit of an incompressible file and return its id."""
    (tree.folder / "file").write_bytes(os.urandom(size))
    tree.git("add", "file")
    tree.git("commit", "-q", "-m", "Large")
    return tree.git("rev-parse", "HEAD")


def create_checkout(tmp_path: Path) -> Tree:
    """Return an empty checkout."""
    tree = Tree(tmp_path / "tree")
    tree.folder.mkdir()
    tree.git("init", "-q", "-b", "master")
    return tree


def _age_locks(repository: Path) -> None:
    """Age all locks beyond their timeout."""
    then = time.time() - STALE_LOCK_SECONDS - 1
    for lock in repository.rglob("*.lock"):
        os.utime(lock, (then, then))


class Pusher:
    """Client that pushes to one branch and records the results."""

    def __init__(self, server: Server, way: str, folder: Path) -> None:
        folder.mkdir()
        self.tree, self.remote = create_checkout(folder), Remote(server, f"kill-{way}", way, folder)
        self.tip = commit(self.tree, LARGE)
        self.remote.push(self.tree, "master")
        self.refs = [("refs/heads/master", ZERO, self.tip)]
        self.new = self.tip

    def begin(self, size: int) -> "subprocess.Popen[bytes]":
        """Start a push of new commits."""
        self.new = commit(self.tree, size)
        return self.remote.begin(self.tree, "push", "master:master")

    def check(self, status: int, said: bytes) -> None:
        """Check after a restart that the branch is old or new, and new if the push was acknowledged."""
        listed = self.tree.git("ls-remote", self.remote.url, "refs/heads/master", env=self.remote.env)
        seen = listed.split()[0]
        assert seen in (self.tip, self.new)
        assert seen == self.new or status != 0, said
        if seen == self.tip:
            self.remote.push(self.tree, "master")
        self.refs.append(("refs/heads/master", self.tip, self.new))
        self.tip = self.new
        assert self.remote.recorded() == self.refs


def test_killed_during_pushes(server: Server, tmp_path: Path) -> None:
    """At random moments, over HTTP and SSH; in half of the rounds git processes survive."""
    dice = random.Random(int(os.environ.get("INGOT_SOAK_SEED", "1")))
    pushers = [Pusher(server, way, tmp_path / way) for way in ("http", "ssh")]
    started = time.monotonic()
    for ended in [pusher.begin(LARGE) for pusher in pushers]:
        ended.communicate(timeout=60)
        assert ended.returncode == 0
    length = time.monotonic() - started
    for pusher in pushers:
        pusher.check(0, b"")
    for number in range(ROUNDS):
        # A small push gets further in the same time: between the pre-receive check and the record.
        pushing = [pusher.begin(LARGE if number % 2 else 2000) for pusher in pushers]
        _wait(pushing[0], length * dice.random())
        server.kill()
        if dice.random() < 0.5:
            kill_git(server)
        said = [each.communicate(timeout=60)[0] for each in pushing]
        # Running housekeeping continues, and takes time on a busy machine.
        until("the end of git", lambda: not git_processes(server), 120)
        for pusher in pushers:
            _age_locks(pusher.remote.repository)
        server.start()
        for pusher, process, words in zip(pushers, pushing, said, strict=True):
            pusher.check(process.returncode, words)
    for pusher in pushers:
        repository = pusher.remote.repository
        assert find_problems(repository, deep=True) == []
        subprocess.run(["git", "fsck", "--strict"], cwd=repository, check=True, capture_output=True)


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass


def test_killed_between_ref_update_and_record(server: Server, tmp_path: Path) -> None:
    """The only moment at which both disagree: they agree before the restarted server accepts requests."""
    tree, remote = create_checkout(tmp_path), Remote(server, "between", "http", tmp_path)
    first = commit(tree, 100)
    remote.push(tree, "master")
    second = commit(tree, 100)
    remote.push(tree, "master:refs/tags/objects")
    server.kill()
    change = [RefUpdate("refs/heads/master", first, second), RefUpdate("refs/heads/other", ZERO, second)]
    with database_of(server) as database:
        database.write(lambda db: open_intent(db, remote.id, 1, "http", change))
    update_refs(Repository(remote.repository), change[:1])
    server.start()
    assert remote.recorded()[-1] == ("refs/heads/master", first, second)
    assert len(remote.recorded()) == 3, "a failed push is not recorded"
    remote.push(tree, "master:other")
    assert remote.recorded()[-1] == ("refs/heads/other", ZERO, second)
    assert len(remote.recorded()) == 4
