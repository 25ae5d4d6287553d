"""Cached paths of all files of a commit, up to a limit."""

from typing import NamedTuple

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository
from ingot.git.history.commits import decode_text

MAX_FILES = 100_000
_MAX_BYTES = 8 * 2**20
_MAX_INLINE_BYTES = 64 * 1024
_SECONDS = 20.0


class FileNames(NamedTuple):
    """Paths in git's order."""

    paths: list[str]
    more: bool
    """Further files exist beyond the limit."""


_name_cache: BoundedCache[tuple[str, str], bytes] = declare_cache("file-names", share=4)


class _NameLimitReached(Exception):
    """The list of names exceeds the size limit."""


def list_file_names(repository: Repository, commit: str) -> FileNames:
    """List all files of a commit, including symbolic links and submodules."""
    key = str(repository.path), commit
    raw = _name_cache.get(key)
    if raw is None:
        raw = _read_file_names(repository, commit)
        _name_cache.put(key, raw, len(raw) + 200)
    if len(raw) > _MAX_INLINE_BYTES:
        require_blocking_allowed()
    # Truncated output ends within a path, which is dropped.
    paths = raw.split(b"\0", MAX_FILES)
    rest = paths.pop()
    return FileNames([decode_text(path) for path in paths], more=bool(rest))


def _read_file_names(repository: Repository, commit: str) -> bytes:
    output = bytearray()

    def collect(piece: bytes) -> None:
        output.extend(piece)
        if len(output) > _MAX_BYTES:
            raise _NameLimitReached

    try:
        run_git(["ls-tree", "-r", "-z", "--name-only", commit], repository.path, timeout=_SECONDS, on_stdout=collect)
    except _NameLimitReached:
        pass
    return bytes(output[:_MAX_BYTES])
