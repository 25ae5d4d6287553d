"""Full and read-only disks: errors with a message, no partial writes, and recovery."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingot.git.maintenance.integrity import find_problems
from tests.faults.push_remote import Remote, leftovers
from tests.server.process import Server
from tests.transport.conftest import Tree

MEGABYTES = 24


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a small disk, if mounting is permitted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "none", str(folder)]
    done = subprocess.run(mount, capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("mounting a small disk is not permitted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "tree")
    tree.folder.mkdir()
    tree.git("init", "-q", "-b", "master")
    _commit(tree, 1000)
    return tree


def _commit(tree: Tree, size: int) -> None:
    (tree.folder / "file").write_bytes(os.urandom(size))
    tree.git("add", "file")
    tree.git("commit", "-q", "-m", "Change")


def _fill(disk: Path, leave: int) -> Path:
    """Fill the disk up to this many free bytes, while the server also writes."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        while True:
            free, taken = os.statvfs(disk), file.seek(0, os.SEEK_END)
            try:
                os.posix_fallocate(file.fileno(), taken, max(1, free.f_bavail * free.f_frsize - leave))
            except OSError:
                continue
            return ballast


def test_full_disk(disk: Path, empty_database: str, tmp_path: Path) -> None:
    """For packs and for all writes; over HTTP, SSH and the API."""
    server = Server(disk, empty_database)
    try:
        server.start()
        for way in ("http", "ssh"):
            folder = tmp_path / way
            folder.mkdir()
            _fail_and_recover(disk, _tree(folder), Remote(server, f"full-{way}", way, folder))
    finally:
        server.kill()


def _fail_and_recover(disk: Path, tree: Tree, remote: Remote) -> None:
    files = f"/projects/{remote.id}/repository/files"
    sent = {"branch": "master", "commit_message": "x", "content": "x" * 1000}
    remote.push(tree, "master")
    for leave in (1_000_000, 0):
        ballast = _fill(disk, leave)
        _commit(tree, 3_000_000)
        said = remote.push(tree, "master:large", fails=True)
        assert str(disk) not in said, "no path of the server is shown"
        made = remote.server.call("POST", f"{files}/large-{leave}", json=sent)
        assert leave or made.status_code in (500, 503, 507), made.text
        assert "refs/heads/master" in tree.git("ls-remote", remote.url, env=remote.env), "reading goes on"
        ballast.unlink()
        tree.git("reset", "-q", "--hard", "HEAD~")
    assert find_problems(remote.repository, deep=True) == []
    assert leftovers(remote.repository) == []
    assert not [ref for ref, _, _ in remote.recorded() if ref.endswith("large")]
    tree.git("fetch", "-q", remote.url, "master", env=remote.env)
    tree.git("reset", "-q", "--hard", "FETCH_HEAD")
    _commit(tree, 1000)
    remote.push(tree, "master")
    assert remote.server.call("POST", f"{files}/small", json=sent).status_code == 201


def test_read_only_disk(disk: Path, empty_database: str, tmp_path: Path) -> None:
    """Pushes are rejected with a message, and clones work."""
    server = Server(tmp_path / "data", empty_database)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "repositories").symlink_to(disk)
    try:
        server.start()
        tree, remote = _tree(tmp_path), Remote(server, "read-only", "http", tmp_path)
        remote.push(tree, "master")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        _commit(tree, 1000)
        said = remote.push(tree, "master", fails=True)
        assert str(disk) not in said
        assert "refs/heads/master" in tree.git("ls-remote", remote.url)
        sent = {"branch": "master", "commit_message": "x", "content": "x"}
        made = server.call("POST", f"/projects/{remote.id}/repository/files/new", json=sent)
        assert made.status_code in (500, 503, 507), made.text
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        remote.push(tree, "master")
        assert len(remote.recorded()) == 2
    finally:
        server.kill()
