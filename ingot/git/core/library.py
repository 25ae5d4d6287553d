"""Access to libgit2. Nothing outside of the git package imports pygit2."""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingot.core.offload import require_no_transaction
from ingot.git.core.errors import MissingRepository, is_unreadable_error
from ingot.git.core.shared_disks import is_outdated, look_again, on_shared_disk, repeated_when_stale

if TYPE_CHECKING:
    import pygit2

_MAX_OPEN = 16
_CACHE_BYTES = 16 * 2**20
_MAX_MAPPED_BYTES = 256 * 2**20
_MAX_CACHED_BLOB_BYTES = 4096


class _OpenRepositories(threading.local):
    """Open repositories of one thread; libgit2 handles must not be shared between threads."""

    def __init__(self) -> None:
        self.by_path: OrderedDict[str, tuple[int, pygit2.Repository]] = OrderedDict()
        self.generation = 0

    def close(self, path: str) -> None:
        """Close the files of a repository, if it is open; objects that were read from it stay valid.

        Python frees the handle later, because it is part of a reference cycle, and a garbage collection may come only
        after hundreds of repacks, each of which leaves deleted files open.
        """
        _, handle = self.by_path.pop(path, (0, None))
        if handle is not None:
            handle.free()

    def close_all(self) -> None:
        """Close the files of all repositories."""
        for path in list(self.by_path):
            self.close(path)


_opened = _OpenRepositories()
_generation = 0


@cache
def pygit2_module() -> Any:
    """Import and configure pygit2 on first use: it takes 20 MB and 0.1 s, and most processes do not need it."""
    require_no_transaction(pygit2_module)
    with _without_root_certificates():
        import pygit2
    from pygit2.enums import ConfigLevel, ObjectType, Option

    # As in the environment in command.py: repositories may belong to another user, and only their own configuration
    # applies.
    pygit2.option(Option.SET_OWNER_VALIDATION, False)
    for level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = ""
    pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)
    # The defaults are 256 MB of objects and 8 GB of packs.
    pygit2.settings.cache_max_size(_CACHE_BYTES)
    # By default libgit2 does not cache blobs; unpacking a small one takes 8 µs, reading it from the cache 1 µs.
    pygit2.settings.cache_object_limit(ObjectType.BLOB, _MAX_CACHED_BLOB_BYTES)
    pygit2.settings.mwindow_mapped_limit = _MAX_MAPPED_BYTES
    return pygit2


@contextmanager
def _without_root_certificates() -> Iterator[None]:
    """Let pygit2 load no root certificates: libgit2 opens no connections here, git does.

    They take 1.6 MB and 45 ms, and the import fails where there are none. Nothing is changed while other threads run,
    because the variables also apply to the connections that these open.
    """
    if threading.active_count() > 1:
        yield
        return
    names = ("SSL_CERT_FILE", "SSL_CERT_DIR")
    before = {name: os.environ[name] for name in names if name in os.environ}
    os.environ.update(dict.fromkeys(names, os.sep))  # A folder without certificates.
    try:
        yield
    finally:
        for name in names:
            del os.environ[name]
        os.environ.update(before)


@repeated_when_stale
def open_repository(path: Path) -> "pygit2.Repository":
    """Return this thread's libgit2 handle of a repository, without searching parent directories.

    The handle stays open while the packs are unchanged. libgit2 reads refs and loose objects again at each access, and
    lists the packs again if an object is missing, so an open handle is never stale. On a file system that several
    machines share, it still has deleted packs open if the time of the folder comes from the kernel's memory; a request
    that fails because of that calls ``reopen_repositories`` and is repeated.
    """
    key = str(path)
    if _opened.generation != _generation:
        _opened.close_all()
        _opened.generation = _generation
    if on_shared_disk(path):
        look_again(f"{key}/objects/pack")
    try:
        packs = os.stat(f"{key}/objects/pack").st_mtime_ns  # noqa: PTH116 - A Path costs more than the call.
    except FileNotFoundError as error:
        if path.is_dir():
            raise
        raise MissingRepository(f"The repository {path.name} was removed") from error
    cached = _opened.by_path.get(key)
    if cached is not None and cached[0] == packs:
        _opened.by_path.move_to_end(key)
        return cached[1]
    _opened.close(key)
    handle: pygit2.Repository = pygit2_module().Repository(key, pygit2_module().enums.RepositoryOpenFlag.NO_SEARCH)
    _opened.by_path[key] = packs, handle
    if len(_opened.by_path) > _MAX_OPEN:
        _opened.close(next(iter(_opened.by_path)))
    return handle


def recover_read(root: Path, error: Exception, *, has_copies: bool = False) -> bool:
    """Return whether a read of repositories below a folder may be repeated, because a file was replaced meanwhile.

    ``has_copies`` tells that repositories may be copies, which can be removed while they are read.
    """
    outdated = is_outdated(error, root) or (has_copies and (is_unreadable_error(error) or _is_file_missing(error)))
    if outdated:
        reopen_repositories()
    return outdated


def _is_file_missing(error: Exception) -> bool:
    return isinstance(error, FileNotFoundError | NotADirectoryError | KeyError)


def reopen_repositories() -> None:
    """Make all threads open their repositories again, after an object or pack was not found."""
    global _generation  # noqa: PLW0603 - A counter; it does not matter if two threads increment it once.
    _generation += 1


def close_repositories() -> None:
    """Close all handles of this thread, before a process is forked."""
    _opened.close_all()


def close_repository(path: Path) -> None:
    """Close this thread's handle of a repository, so that the disk space of deleted files is freed."""
    _opened.close(str(path))
