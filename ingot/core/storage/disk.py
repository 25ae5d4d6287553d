"""Files in a directory of the disk."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from ingot.core.storage.drivers import CHUNK_BYTES, INCOMING_FOLDER, StoredObject
from ingot.core.storage.folders import sync_folder

_PARTIAL_SUFFIX = ".partial"


class DiskDriver:
    """Files below a directory, named by their keys; any number of processes may share it."""

    name = "disk"

    def __init__(self, root: Path) -> None:
        self.root = root

    def path_of(self, key: str) -> Path:
        """Return the path of a file, which need not exist."""
        path = PurePosixPath(key)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError("Not a valid key of a file")
        return self.root / path

    def size_of(self, key: str) -> int | None:
        """Return the size of a file, or None if it does not exist."""
        try:
            return self.path_of(key).stat().st_size
        except FileNotFoundError:
            return None

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading; raise FileNotFoundError if it does not exist."""
        return self.path_of(key).open("rb")

    def pieces(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        """Yield a byte range of a file."""
        with self.open(key) as file:
            file.seek(start)
            while start < stop and (piece := file.read(min(CHUNK_BYTES, stop - start))):
                start += len(piece)
                yield piece

    def publish(self, key: str, path: Path) -> None:
        """Sync a complete file of the same disk, give it its name and sync that too."""
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        target = self.path_of(key)
        folders = [
            self.root.joinpath(*target.relative_to(self.root).parts[:depth]) for depth in range(key.count("/") + 1)
        ]
        for folder in folders:
            folder.mkdir(mode=0o700, exist_ok=True)
        path.rename(target)
        for folder in reversed(folders):
            sync_folder(folder)

    def delete(self, key: str) -> None:
        """Delete a file, if it exists."""
        self.path_of(key).unlink(missing_ok=True)

    def objects(self, folder: str = "") -> Iterator[StoredObject]:
        """Yield all complete files, or those below a folder."""
        for directory, folders, names in os.walk(self.path_of(folder)):
            if directory == str(self.root):
                folders[:] = [name for name in folders if name != INCOMING_FOLDER]
            for name in names:
                path = Path(directory, name)
                if name.endswith(_PARTIAL_SUFFIX) and path.parent.parent == self.root:
                    continue  # An upload to a project that is still being written; complete ones are one level below.
                try:
                    status = path.lstat()
                except FileNotFoundError:  # Deleted meanwhile.
                    continue
                yield StoredObject(path.relative_to(self.root).as_posix(), status.st_size, status.st_mtime)
