"""Writes fail with an I/O error, or the file system is read-only.

Reads continue, every kind of write is refused with a clear message, readiness says so, nothing is stored partially, and
all works again without a restart when the disk does. The errors are injected into the system calls of the real server
and its git processes, for all files of the data directory.
"""

import errno
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from ingot.core.disk_errors import NOT_WRITABLE
from ingot.git.maintenance.integrity import find_problems
from tests.faults.push_remote import Remote, leftovers
from tests.faults.syscall_filter import CONTINUE, FilteredServer, SystemCall
from tests.server.process import Server, ingot, until
from tests.transport.conftest import Tree

DESCRIPTOR_CALLS = ("write", "pwrite64", "writev", "pwritev", "fsync", "fdatasync", "ftruncate", "fallocate")
NAME_CALLS = {"rename": 0, "mkdir": 0, "link": 1, "unlink": 0}
NAME_AT_CALLS = {"mkdirat": 1, "unlinkat": 1, "renameat": 1, "renameat2": 1, "linkat": 3}
OPEN_CALLS: dict[str, tuple[int, int | None]] = {"open": (0, None), "openat": (1, 0)}
CALLS = (*DESCRIPTOR_CALLS, *NAME_CALLS, *NAME_AT_CALLS, *OPEN_CALLS)
DATABASE_WRITES = ("issue", "branch", "tag")
"""Writes that the database refuses first, in its own words."""


class FailingDisk:
    """Decides the writes to a directory: they succeed until ``error`` is set."""

    def __init__(self, root: Path) -> None:
        self.root = str(root.resolve())
        self.error = 0

    def decide(self, call: SystemCall) -> int | None:
        """Fail a call that writes below the directory; on a read-only disk also one that opens a file for writing."""
        if not self.error or not self._path(call).startswith(self.root):
            return CONTINUE
        return -self.error

    def _path(self, call: SystemCall) -> str:
        if call.name in DESCRIPTOR_CALLS:
            return call.file()
        if self.error != errno.EROFS:
            return ""
        if call.name in OPEN_CALLS:
            return call.path(*OPEN_CALLS[call.name])
        if call.name in NAME_CALLS:
            return call.path(NAME_CALLS[call.name])
        position = NAME_AT_CALLS[call.name]
        return call.path(position, position - 1)


@pytest.fixture
def disk(data_folder: Path) -> FailingDisk:
    """The disk of the data directory."""
    data_folder.mkdir(mode=0o700)
    return FailingDisk(data_folder)


@pytest.fixture
def server(data_folder: Path, disk: FailingDisk) -> Iterator[FilteredServer]:
    """A server on that disk."""
    server = FilteredServer(data_folder, disk.decide, CALLS)
    try:
        yield server.start_filtered()
    finally:
        disk.error = 0
        server.kill()
    assert server.errors == []


def _upload_large_file(remote: Remote, content: bytes) -> httpx.Response:
    kind = "application/vnd.git-lfs+json"
    sent = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content)}
    batch = {"operation": "upload", "transfers": ["basic"], "objects": [sent]}
    url = f"{remote.url}/info/lfs/objects/batch"
    answer = httpx.post(url, json=batch, headers={"Accept": kind, "Content-Type": kind})
    if answer.status_code != 200:
        return answer
    action = answer.json()["objects"][0]["actions"]["upload"]
    return httpx.put(action["href"], content=content, headers=action["header"])


def _writes(server: Server, remote: Remote) -> dict[str, Callable[[], httpx.Response]]:
    project, name = f"/projects/{remote.id}", f"{remote.path.rpartition('/')[2]}-copy"
    action = {"action": "create", "file_path": "new", "content": "new"}
    commit = {"branch": "master", "commit_message": "new", "actions": [action]}
    return {
        "issue": lambda: server.call("POST", f"{project}/issues", json={"title": "new"}),
        "project": lambda: server.call("POST", "/projects", json={"name": f"{name}-1"}),
        "upload": lambda: server.call("POST", f"{project}/uploads", files={"file": ("a.txt", b"hello")}),
        "commit": lambda: server.call("POST", f"{project}/repository/commits", json=commit),
        "branch": lambda: server.call("POST", f"{project}/repository/branches", json={"branch": "b", "ref": "master"}),
        "tag": lambda: server.call("POST", f"{project}/repository/tags", json={"tag_name": "t", "ref": "master"}),
        "wiki": lambda: server.call("POST", f"{project}/wikis", json={"title": "page", "content": "new"}),
        "fork": lambda: server.call("POST", f"{project}/fork", json={"name": name, "path": name}),
        "large file": lambda: _upload_large_file(remote, name.encode()),
    }


def _reads(server: Server, remote: Remote, tree: Tree) -> None:
    project = f"/projects/{remote.id}"
    for path in (project, f"{project}/issues", f"{project}/repository/tree", f"{project}/repository/commits"):
        assert server.call("GET", path).status_code == 200, path
    assert httpx.get(f"{server.url}/explore").status_code == 200
    assert "refs/heads/master" in tree.git("ls-remote", remote.url)


def test_writes_fail(server: FilteredServer, disk: FailingDisk, tmp_path: Path) -> None:
    for error in (errno.EIO, errno.EROFS):
        folder = tmp_path / str(error)
        folder.mkdir()
        _refuse_and_recover(server, disk, folder, error)
    assert ingot("doctor", "--data", server.data).stdout == "No problems found.\n"


def _refuse_and_recover(server: FilteredServer, disk: FailingDisk, folder: Path, error: int) -> None:
    tree, remote = Tree(folder / "tree"), Remote(server, f"error-{error}", "http", folder)
    tree.folder.mkdir()
    tree.git("init", "-q", "-b", "master")
    tree.commit()
    remote.push(tree, "master")
    tree.commit(content="second\n")
    _reads(server, remote, tree)

    disk.error = error
    for name, write in _writes(server, remote).items():
        refused = write()
        assert refused.status_code == 503, f"{name}: {refused.status_code} {refused.text}"
        assert int(refused.headers["retry-after"]) > 0
        assert name in DATABASE_WRITES or NOT_WRITABLE in refused.json()["message"], refused.text
    assert str(server.data) not in remote.push(tree, "master", fails=True)
    until("readiness", lambda: server.ready() == 503)
    _reads(server, remote, tree)
    assert not server.events("fault")

    disk.error = 0
    until("readiness", lambda: server.ready() == 200)
    for name, write in _writes(server, remote).items():
        accepted = write()
        assert accepted.status_code in (200, 201), f"{name}: {accepted.text}"
    tree.git("fetch", "-q", remote.url, "master")
    tree.git("reset", "-q", "--hard", "FETCH_HEAD")
    tree.commit(content="third\n")
    remote.push(tree, "master")
    assert find_problems(remote.repository, deep=True) == []
    assert leftovers(remote.repository) == []
