"""Reads on a file system that several machines share, where a file may be replaced between its lookup and its use.

The error is injected into system calls of the real server and its git processes that open files of repositories.
"""

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.syscall_filter import CONTINUE, FilteredServer, SystemCall

OPEN_CALLS: dict[str, tuple[int, int | None]] = {"open": (0, None), "openat": (1, 0)}


class SharedDisk:
    """Disk on which the next ``stale`` attempts to open a file of a repository fail."""

    def __init__(self, root: Path) -> None:
        self._root = f"{root.resolve()}/repositories/"
        self.stale = 0
        self.failures = 0

    def decide(self, call: SystemCall) -> int | None:
        """Fail an attempt to open a file."""
        if not self.stale or not call.path(*OPEN_CALLS[call.name]).startswith(self._root):
            return CONTINUE
        self.stale -= 1
        self.failures += 1
        return -errno.ESTALE


@pytest.fixture
def disk(data_folder: Path) -> SharedDisk:
    """The disk of the data directory."""
    data_folder.mkdir(mode=0o700)
    return SharedDisk(data_folder)


@pytest.fixture
def server(data_folder: Path, disk: SharedDisk) -> Iterator[FilteredServer]:
    """A server on that disk."""
    server = FilteredServer(data_folder, disk.decide, OPEN_CALLS, reads=True)
    try:
        yield server.start_filtered()
    finally:
        disk.stale = 0
        server.kill()
    assert server.errors == []


READS = (
    "repository/branches",
    "repository/branches/master",
    "repository/commits",
    "repository/commits/master",
    "repository/commits/master/diff",
    "repository/tree",
    "repository/files/README.md?ref=master",
    "repository/files/README.md/raw?ref=master",
    "repository/compare?from=master~1&to=master",
    "",
)


def test_reads_are_repeated_until_the_files_are_found(server: FilteredServer, disk: SharedDisk) -> None:
    made = server.call("POST", "/projects", json={"name": "shared", "initialize_with_readme": True}).json()
    project = f"/projects/{made['id']}"
    for number in range(2):
        action = {"action": "create", "file_path": f"{number}.txt", "content": f"{number}"}
        sent = {"branch": "master", "commit_message": "add", "actions": [action]}
        assert server.call("POST", f"{project}/repository/commits", json=sent).status_code == 201
    expected = {path: server.call("GET", f"{project}/{path}").content for path in READS}
    for path in READS:
        disk.stale = 3
        # The response to the same URL would come from the cache.
        again = f"{path}{'&' if '?' in path else '?'}unused=1"
        assert server.call("GET", f"{project}/{again}").content == expected[path], path
    assert disk.failures > len(READS)
