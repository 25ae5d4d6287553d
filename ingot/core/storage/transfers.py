"""Moves of files between the disk and the bucket, while both are read and written."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ingot.core.storage.drivers import CHUNK_BYTES, StorageDriver
from ingot.core.storage.files import FileStorage


class DamagedCopy(Exception):
    """A copy whose content differs from the original, which was therefore not deleted."""


class MovedFiles(NamedTuple):
    """Result of a move."""

    files: int
    bytes: int


def move_files(
    storage: FileStorage, place: str, progress: Callable[[int, int], None], *, delete: bool = True
) -> MovedFiles:
    """Move all files of a kind to a place, ``disk`` or ``bucket``; without ``delete``, they are only copied there.

    ``progress`` is called with the number of files and bytes so far. The move can be interrupted and repeated.
    """
    target, source = _places(storage, place)
    count = size = 0
    for stored in source.objects():
        if move_file(storage, source, target, stored.key, delete=delete):
            count, size = count + 1, size + stored.size
            progress(count, size)
    return MovedFiles(count, size)


def move_file(
    storage: FileStorage, source: StorageDriver, target: StorageDriver, key: str, *, delete: bool = True
) -> bool:
    """Copy one file, compare the copy with the original, and delete the original; return False if it is gone.

    Readers find the file at every moment, because they search both places.
    """
    path = storage.incoming_path()
    try:
        digest, size = _copy_to(source, key, path)
        target.publish(key, path)
        if _digest(target, key, size) != digest:
            raise DamagedCopy(f"The copy of {key} differs from the original")
        if delete:
            source.delete(key)
    except FileNotFoundError:  # Deleted meanwhile.
        return False
    finally:
        path.unlink(missing_ok=True)
    return True


def _places(storage: FileStorage, place: str) -> tuple[StorageDriver, StorageDriver]:
    """Return the place to move to, and the one to move from."""
    if storage.bucket is None:
        raise ValueError("There is no bucket")
    return (storage.bucket, storage.disk) if place == storage.bucket.name else (storage.disk, storage.bucket)


def _copy_to(source: StorageDriver, key: str, path: Path) -> tuple[str, int]:
    """Copy a file to a path of the disk; return its digest and size."""
    digest = hashlib.sha256()
    with source.open(key) as file, os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
        while piece := file.read(CHUNK_BYTES):
            digest.update(piece)
            copy.write(piece)
        return digest.hexdigest(), copy.tell()


def _digest(place: StorageDriver, key: str, size: int) -> str:
    digest = hashlib.sha256()
    for piece in place.pieces(key, 0, size):
        digest.update(piece)
    return digest.hexdigest()
