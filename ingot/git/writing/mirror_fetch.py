"""Fetches of the branches and tags of a repository on another server that differ from those of this one."""

from collections.abc import Callable
from typing import NamedTuple

from ingot.git.core.errors import GitError, GitOutputTooLarge, GitTimeout
from ingot.git.core.names import ref_name_error
from ingot.git.core.refs import HEADS, TAGS, read_refs
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.fetch import ImportTooLarge, ImportTooSlow, failure_reason
from ingot.git.maintenance.mirror_remote import MirrorAddress, MirrorRemote
from ingot.git.writing.mirror_push import contains_commit, ssh_failure_reason
from ingot.git.writing.ref_updates import RefUpdate


class PullOptions(NamedTuple):
    """Choice of the refs, and the size limit of the repository."""

    includes: Callable[[str], bool]
    """Whether a branch is mirrored."""
    overwrites_diverged: bool
    with_tags: bool
    max_bytes: int


class FetchedChanges(NamedTuple):
    """Updates whose objects have been fetched, or the reason of a failure."""

    updates: list[RefUpdate]
    diverged: bool
    error: str | None = None


def fetch_changes(
    repository: Repository, address: MirrorAddress, options: PullOptions, timeout: float
) -> FetchedChanges:
    """Fetch what differs and return the updates that are still to be made; nothing is deleted here."""
    try:
        return _fetch(repository, MirrorRemote(repository, address, timeout), options)
    except ImportTooLarge:  # Each of these is shown as the reason of the failed update.
        reason = "The repository is too large"
    except ImportTooSlow:
        reason = "The server took too long"
    except GitTimeout:
        reason = "The update took too long"
    except GitOutputTooLarge:
        reason = "The server's answer is too large"
    except GitError as error:
        reason = ssh_failure_reason(error) or failure_reason(error)
    return FetchedChanges([], False, reason)


def _fetch(repository: Repository, remote: MirrorRemote, options: PullOptions) -> FetchedChanges:
    local = read_refs(repository.path, (HEADS, TAGS))
    differing = {
        name: oid for name, oid in remote.refs().items() if local.get(name) != oid and _is_mirrored(name, options)
    }
    if not differing:
        return FetchedChanges([], False)
    remote.fetch(list(differing), options.max_bytes)
    updates = []
    diverged = False
    for name, oid in differing.items():
        current = local.get(name)
        if current is None or options.overwrites_diverged or _is_continued(repository, name, current, oid):
            updates.append(RefUpdate(name.decode(), current or NO_OID, oid))
        else:
            diverged = True
    return FetchedChanges(updates, diverged)


def _is_mirrored(name: bytes, options: PullOptions) -> bool:
    try:
        short = name.split(b"/", 2)[2].decode()
    except UnicodeDecodeError:  # git accepts such names, but the API cannot return them.
        return False
    if ref_name_error(short) is not None:
        return False
    return options.with_tags if name.startswith(TAGS) else options.includes(short)


def _is_continued(repository: Repository, name: bytes, current: str, new: str) -> bool:
    return name.startswith(HEADS) and contains_commit(repository, new, current)
