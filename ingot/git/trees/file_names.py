"""The paths of all files of a commit; bounded, however many there are."""

from typing import NamedTuple

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository
from ingot.git.history.commits import decode_text
from ingot.offload import require_blocking_allowed

MAX_FILES = 100_000
_MAX_BYTES = 8 * 2**20
_MAX_INLINE_BYTES = 64 * 1024
_SECONDS = 20.0


class FileNames(NamedTuple):
    """Paths in git's order."""

    paths: list[str]
    more: bool
    """Whether there are others, which were too many to list."""


_name_cache: BoundedCache[tuple[str, str], bytes] = declare_cache("file-names", share=4)


class _NameLimitReached(Exception):
    """What git still has to say would be too much to tell."""


def list_file_names(repository: Repository, commit: str) -> FileNames:
    """The files that a commit has anywhere, links and submodules among them."""
    key = str(repository.path), commit
    raw = _name_cache.get(key)
    if raw is None:
        raw = _read_file_names(repository, commit)
        _name_cache.put(key, raw, len(raw) + 200)
    if len(raw) > _MAX_INLINE_BYTES:
        require_blocking_allowed()
    # What was cut off ends in the middle of a path, of which nothing is told.
    paths = raw.split(b"\0", MAX_FILES)
    rest = paths.pop()
    return FileNames([decode_text(path) for path in paths], more=bool(rest))


def _read_file_names(repository: Repository, commit: str) -> bytes:
    read = bytearray()

    def take(piece: bytes) -> None:
        read.extend(piece)
        if len(read) > _MAX_BYTES:
            raise _NameLimitReached

    try:
        run_git(["ls-tree", "-r", "-z", "--name-only", commit], repository.path, timeout=_SECONDS, on_stdout=take)
    except _NameLimitReached:
        pass
    return bytes(read[:_MAX_BYTES])
