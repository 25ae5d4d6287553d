"""The way to libgit2; nothing outside of this package imports pygit2."""

import os
import threading
from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingot.git.core.errors import MissingRepository

if TYPE_CHECKING:
    import pygit2

_MAX_OPEN = 16
_CACHE_BYTES = 16 * 2**20
_MAX_MAPPED_BYTES = 256 * 2**20
_MAX_CACHED_BLOB_BYTES = 4096


class _OpenRepositories(threading.local):
    """A thread's own repositories, since libgit2 lets no two threads use one at once."""

    def __init__(self) -> None:
        self.by_path: OrderedDict[str, tuple[int, pygit2.Repository]] = OrderedDict()


_opened = _OpenRepositories()


@cache
def pygit2_module() -> Any:
    """Loaded at its first use, because it costs 20 MB and a tenth of a second, and most processes never need it."""
    import pygit2
    from pygit2.enums import ConfigLevel, ObjectType, Option

    # Like git's environment in command.py: repositories may belong to another user, and no configuration but
    # their own counts.
    pygit2.option(Option.SET_OWNER_VALIDATION, False)
    for level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = ""
    pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)
    # Its own bounds are 256 MB of objects and 8 GB of packs.
    pygit2.settings.cache_max_size(_CACHE_BYTES)
    # By itself it keeps no contents of files; to unpack a small one takes 8 µs each time, and 1 once it is kept.
    pygit2.settings.cache_object_limit(ObjectType.BLOB, _MAX_CACHED_BLOB_BYTES)
    pygit2.settings.mwindow_mapped_limit = _MAX_MAPPED_BYTES
    return pygit2


def open_repository(path: Path) -> "pygit2.Repository":
    """A repository as libgit2 sees it, never one further up; kept open by this thread while its packs stay the same.

    References and loose objects are looked for anew at each question, so an open one shows no past state.
    """
    key = str(path)
    try:
        packs = os.stat(f"{key}/objects/pack").st_mtime_ns  # noqa: PTH116 - Asked at every read; a Path costs more than the call.
    except FileNotFoundError as error:
        if path.is_dir():
            raise
        raise MissingRepository(f"The repository {path.name} was removed") from error
    known = _opened.by_path.get(key)
    if known is not None and known[0] == packs:
        _opened.by_path.move_to_end(key)
        return known[1]
    opened: pygit2.Repository = pygit2_module().Repository(key, pygit2_module().enums.RepositoryOpenFlag.NO_SEARCH)
    _opened.by_path[key] = packs, opened
    _opened.by_path.move_to_end(key)
    if len(_opened.by_path) > _MAX_OPEN:
        _opened.by_path.popitem(last=False)
    return opened


def close_repository(path: Path) -> None:
    """Close the handle that this thread has of a repository, so that its files can be freed."""
    _opened.by_path.pop(str(path), None)
