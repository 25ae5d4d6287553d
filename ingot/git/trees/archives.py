"""Archives of a commit's files, streamed while they are generated."""

import bz2
import zlib
from collections.abc import Generator
from contextlib import closing
from typing import Literal, Protocol

from ingot.git.core.errors import GitOutputTooLarge
from ingot.git.core.paths import LITERAL_PATHSPECS, path_argument
from ingot.git.core.repository import Repository
from ingot.git.core.streaming import stream_git
from ingot.git.trees.blobs import STREAMED_BLOBS

MAX_BYTES = 32 * 2**30
"""Maximum size before compression; a larger archive is aborted, so that a part is not taken for the whole."""
MAX_MEMORY = 2**30
Format = Literal["tar", "tar.gz", "tar.bz2", "zip"]
_GZIP = 31


class _Packer(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def stream_archive(
    repository: Repository, commit: str, form: Format, prefix: str, path: bytes = b""
) -> Generator[bytes, None, None]:
    """Stream an archive with its files below ``prefix``; with ``path``, only the files at that path."""
    git_format = "zip" if form == "zip" else "tar"
    pathspecs = [path_argument(path)] if path else []
    args = ["archive", f"--format={git_format}", f"--prefix={prefix}", commit, "--", *pathspecs]
    pieces = _limit_size(
        stream_git(args, repository.path, env=LITERAL_PATHSPECS, config=[STREAMED_BLOBS], max_memory=MAX_MEMORY)
    )
    if form == "tar.gz":
        return _compress(pieces, zlib.compressobj(wbits=_GZIP))
    if form == "tar.bz2":
        return _compress(pieces, bz2.BZ2Compressor())
    return pieces


def _limit_size(pieces: Generator[bytes, None, None]) -> Generator[bytes, None, None]:
    size = 0
    with closing(pieces):
        for piece in pieces:
            size += len(piece)
            if size > MAX_BYTES:
                raise GitOutputTooLarge("archive", 0, "")
            yield piece


def _compress(pieces: Generator[bytes, None, None], packer: _Packer) -> Generator[bytes, None, None]:
    """Compress in process, since not every machine has the programs that git would run for it."""
    with closing(pieces):
        for piece in pieces:
            if packed := packer.compress(piece):
                yield packed
        yield packer.flush()
