"""Archives of a commit's files, streamed while they are generated."""

import bz2
import zlib
from collections.abc import Generator
from contextlib import closing
from typing import Literal, Protocol

from ingot.git.core.paths import LITERAL_PATHSPECS, path_argument
from ingot.git.core.repository import Repository
from ingot.git.core.streaming import stream_git

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
    pieces = stream_git(args, repository.path, env=LITERAL_PATHSPECS)
    if form == "tar.gz":
        return _compress(pieces, zlib.compressobj(wbits=_GZIP))
    if form == "tar.bz2":
        return _compress(pieces, bz2.BZ2Compressor())
    return pieces


def _compress(pieces: Generator[bytes, None, None], packer: _Packer) -> Generator[bytes, None, None]:
    """Compress in process, since not every machine has the programs that git would run for it."""
    with closing(pieces):
        for piece in pieces:
            if packed := packer.compress(piece):
                yield packed
        yield packer.flush()
