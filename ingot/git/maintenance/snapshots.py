"""Snapshots of bare repositories: a tar stream of their refs and objects."""

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

_CHUNK_BYTES = 256 * 1024
# Objects come last, so that those of every ref in the snapshot are in it.
_PARTS = ("HEAD", "packed-refs", "refs", "objects")
_TEMPORARY = ("tmp_", "incoming-", ".tmp-")


def snapshot_pieces(folder: Path) -> Iterator[bytes]:
    """Yield a tar archive of a bare repository, without its configuration; files that vanish meanwhile are skipped."""
    for path in _files(folder):
        try:
            file = path.open("rb")
        except FileNotFoundError:  # A repack has replaced it.
            continue
        with file:
            status = os.fstat(file.fileno())
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            entry.size, entry.mtime = status.st_size, int(status.st_mtime)
            yield entry.tobuf(tarfile.PAX_FORMAT)
            left = entry.size
            while left > 0:
                # A file that became shorter is filled up, because its header announced the size.
                piece = file.read(min(_CHUNK_BYTES, left)) or bytes(min(_CHUNK_BYTES, left))
                left -= len(piece)
                yield piece
        yield bytes(-entry.size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _files(folder: Path) -> Iterator[Path]:
    for name in _PARTS:
        path = folder / name
        if path.is_file():
            yield path
        for parent, folders, names in os.walk(path):
            folders[:] = sorted(each for each in folders if not each.startswith(_TEMPORARY))
            yield from (
                Path(parent, each)
                for each in sorted(names)
                if not each.startswith((*_TEMPORARY, ".")) and not each.endswith(".lock")
            )
