"""Snapshots of the data directory, to which a server for tests returns within milliseconds."""

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from ingot.core.errors import NotFound

EMPTY = ""
"""Name of the snapshot of the start."""
_DATABASE = "ingot.db"
_OF_THE_PROCESS = {"run", "secrets", "snapshots"}
"""Folders that belong to the running server, besides hidden ones; all others contain data of the instance."""


class DataSnapshots:
    """Copies of the database and of the folders with files; the caller stops everything that uses them."""

    def __init__(self, data: Path, folder: Path) -> None:
        self._data = data
        self._folder = folder
        self._names: dict[str, Path] = {}
        self._count = 0
        folder.mkdir(mode=0o700)

    def take(self, name: str) -> None:
        """Copy the current state; a snapshot with the same name is replaced."""
        target = self._new_folder()
        source = sqlite3.connect(self._data / _DATABASE)
        copy = sqlite3.connect(target / _DATABASE)
        source.backup(copy)
        copy.close()
        source.close()
        for folder in self._present(self._data):
            _copy_tree(folder, target / folder.name)
        replaced = self._names.get(name)
        self._names[name] = target
        if replaced is not None:
            _remove_later(replaced)

    def restore(self, name: str) -> None:
        """Replace the current state by a snapshot; raise ``NotFound`` if there is none with this name."""
        if name not in self._names:
            raise NotFound(message=f"There is no snapshot {name}")
        source = self._names[name]
        # Moved first, because removing many files takes longer than a reset should.
        removed = self._new_folder()
        for folder in self._present(self._data):
            folder.rename(removed / folder.name)
        for folder in self._present(source):
            _copy_tree(folder, self._data / folder.name)
        stored = sqlite3.connect(source / _DATABASE)
        current = sqlite3.connect(self._data / _DATABASE)
        # Temporary data need not survive a power failure.
        current.execute("PRAGMA synchronous = OFF")
        # Through SQLite and not by replacing the file, so that connections that are still open see the change.
        stored.backup(current)
        current.close()
        stored.close()
        _remove_later(removed)

    def _new_folder(self) -> Path:
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir(mode=0o700)
        return folder

    def _present(self, parent: Path) -> Iterator[Path]:
        with os.scandir(parent) as entries:
            folders = [entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
        return (parent / name for name in folders if name not in _OF_THE_PROCESS)


def _copy_tree(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True, copy_function=_copy_file)


def _copy_file(source: str, target: str) -> str:
    """Link git's objects, which never change; copy everything else."""
    if "/objects/" in source:
        os.link(source, target)
        return target
    return shutil.copy2(source, target)


def _remove_later(folder: Path) -> None:
    threading.Thread(target=shutil.rmtree, args=(folder,), kwargs={"ignore_errors": True}, daemon=True).start()
