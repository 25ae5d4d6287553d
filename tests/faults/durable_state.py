"""Model of a disk that loses everything that was not synced, for simulated power losses."""

import os
import stat
import threading
from pathlib import Path
from typing import NamedTuple

from tests.faults.syscall_filter import SystemCall

SYNC_CALLS = ("fsync", "fdatasync", "syncfs")


class Entry(NamedTuple):
    """File or folder under its name in a folder."""

    inode: int
    mode: int


class DurableState:
    """The files and folders below a directory that survive a power loss, learned from its processes' sync calls.

    The rules are those of a file system with an ordered journal, such as ext4 and XFS:

    - The content of a file is that of its last sync. A file that was never synced is empty.
    - Names (new files and folders, renames, links, removals) are written to the journal in order. ``fsync`` and the
      first ``fdatasync`` of a new file write the journal up to that moment. Later ones do not, because SQLite
      overwrites its log in place once the log has its full size, and then no metadata changes.

    It does not model partial sectors, reordered writes within one file, changes through ``mmap`` before a sync, or
    disks that ignore a sync. Files are identified by their inode, so the model is exact where inodes are not reused at
    once, as on tmpfs.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.syncs = 0
        self._contents: dict[int, bytes] = {}
        self._folders: dict[int, dict[str, Entry]] = {}
        self._lock = threading.Lock()

    def record(self, call: SystemCall) -> int:
        """Record a sync and return success at once; the test's disk need not be synced."""
        path = Path(call.file())
        if path.is_relative_to(self.root):
            with self._lock:
                self.syncs += 1
                if call.name == "syncfs":
                    for each in self.root.rglob("*"):
                        self._sync_content(each)
                    self._write_journal()
                elif self._sync_content(path) or call.name == "fsync":
                    self._write_journal()
        return 0

    def _sync_content(self, path: Path) -> bool:
        """Record the content of a file; return whether it is new."""
        try:
            inode = path.stat().st_ino
            is_new = inode not in self._contents
            if not path.is_dir():
                self._contents[inode] = path.read_bytes()
        except FileNotFoundError:  # Removed while it was open; such a file cannot be found after a power loss.
            return False
        return is_new

    def _write_journal(self) -> None:
        self._folders = {}
        waiting = [self.root]
        while waiting:
            folder = waiting.pop()
            try:
                inode = folder.stat().st_ino
                with os.scandir(folder) as listing:
                    entries = {entry.name: entry.stat(follow_symlinks=False) for entry in listing}
            except FileNotFoundError:  # Removed by another process at this moment.
                continue
            self._folders[inode] = {name: Entry(each.st_ino, each.st_mode) for name, each in entries.items()}
            waiting += [folder / name for name, each in entries.items() if stat.S_ISDIR(each.st_mode)]

    def restore_to(self, target: Path) -> None:
        """Write the files and folders that survive a power loss at this moment to a new directory."""
        with self._lock:
            contents, folders = dict(self._contents), self._folders
        target.mkdir(mode=0o700)
        waiting = [(self.root.stat().st_ino, target)]
        while waiting:
            inode, folder = waiting.pop()
            for name, entry in folders.get(inode, {}).items():
                path = folder / name
                if stat.S_ISDIR(entry.mode):
                    path.mkdir()
                    waiting.append((entry.inode, path))
                elif stat.S_ISREG(entry.mode):
                    path.write_bytes(contents.get(entry.inode, b""))
                else:  # A socket, which the next start creates again.
                    continue
                path.chmod(stat.S_IMODE(entry.mode))
