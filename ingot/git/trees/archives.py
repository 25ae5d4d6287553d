"""A commit's files as one archive, made while it is sent."""

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
    """The archive in pieces, its files below ``prefix``; only what lies at ``path``, where one is named."""
    plain = "zip" if form == "zip" else "tar"
    chosen = [path_argument(path)] if path else []
    args = ["archive", f"--format={plain}", f"--prefix={prefix}", commit, "--", *chosen]
    pieces = stream_git(args, repository.path, env=LITERAL_PATHSPECS)
    if form == "tar.gz":
        return _packed(pieces, zlib.compressobj(wbits=_GZIP))
    if form == "tar.bz2":
        return _packed(pieces, bz2.BZ2Compressor())
    return pieces


def _packed(pieces: Generator[bytes, None, None], packer: _Packer) -> Generator[bytes, None, None]:
    """Packed in process, since not every machine has the programs that git would start for it."""
    with closing(pieces):
        for piece in pieces:
            if packed := packer.compress(piece):
                yield packed
        yield packer.flush()
