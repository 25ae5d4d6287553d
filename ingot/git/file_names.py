"""The paths of all files of a commit; bounded, however many there are."""

from typing import NamedTuple

from ingot.git.command import run_git
from ingot.git.commits import decoded
from ingot.git.remembered import Remembered
from ingot.git.repository import Repository
from ingot.inline import expect_a_wait

MOST_FILES = 100_000
_MOST_BYTES = 8 * 2**20
_LONGEST_INLINE = 64 * 1024
_SECONDS = 20.0


class Names(NamedTuple):
    """Paths in git's order."""

    paths: list[str]
    more: bool
    """Whether there are others, which were too many to list."""


_kept: Remembered[tuple[str, str], bytes] = Remembered(200, 32 * 2**20)


class _Enough(Exception):
    """What git still has to say would be too much to tell."""


def file_names(repository: Repository, commit: str) -> Names:
    """The files that a commit has anywhere, links and submodules among them."""
    key = str(repository.path), commit
    raw = _kept.get(key)
    if raw is None:
        raw = _read(repository, commit)
        _kept.keep(key, raw, len(raw) + 200)
    if len(raw) > _LONGEST_INLINE:
        expect_a_wait()
    # What was cut off ends in the middle of a path, of which nothing is told.
    paths = raw.split(b"\0", MOST_FILES)
    rest = paths.pop()
    return Names([decoded(path) for path in paths], more=bool(rest))


def _read(repository: Repository, commit: str) -> bytes:
    read = bytearray()

    def take(piece: bytes) -> None:
        read.extend(piece)
        if len(read) > _MOST_BYTES:
            raise _Enough

    try:
        run_git(["ls-tree", "-r", "-z", "--name-only", commit], repository.path, timeout=_SECONDS, on_out=take)
    except _Enough:
        pass
    return bytes(read[:_MOST_BYTES])
