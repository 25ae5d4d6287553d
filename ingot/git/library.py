"""The way to libgit2; nothing else imports pygit2."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pygit2


@cache
def _library() -> Any:
    """Loaded at its first use, because it costs 20 MB and a tenth of a second, and most processes never need it."""
    import pygit2
    from pygit2.enums import ConfigLevel, Option

    # Like git's environment in command.py: repositories may belong to another user, and no configuration but
    # their own counts.
    pygit2.option(Option.SET_OWNER_VALIDATION, False)
    for level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = ""
    pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)
    return pygit2


def open_repository(path: Path) -> "pygit2.Repository":
    """A repository as libgit2 sees it; never one further up."""
    library = _library()
    opened: pygit2.Repository = library.Repository(str(path), library.enums.RepositoryOpenFlag.NO_SEARCH)
    return opened
