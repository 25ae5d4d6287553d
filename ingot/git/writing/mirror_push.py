"""Pushes of all branches and tags to a repository on another server."""

import os
import re
from collections.abc import Callable
from typing import NamedTuple

from ingot.git.core.errors import GitError, GitOutputTooLarge, GitTimeout
from ingot.git.core.refs import HEADS, TAGS, read_refs
from ingot.git.core.repository import Repository
from ingot.git.history.ancestry import is_ancestor
from ingot.git.maintenance.fetch import failure_reason
from ingot.git.maintenance.mirror_remote import MirrorAddress, MirrorRemote

MIRROR_HEADER = "X-Ingot-Mirror"
"""Names the mirrored projects through which a push came, so that the receiver recognizes a loop."""
DIVERGED = "Some refs have diverged and have not been updated on the remote"
VISITED_OPTION = "mirror.visited="
"""Push option with the same names."""
_SSH_REASONS = {
    "Host key verification failed": "The server's host key differs from that of the first connection",
    "Permission denied (": "The server does not accept the key of this mirror",
    "Connection timed out": "The server took too long",
    "ssh: not found": "The server lacks the command ssh",
    "cannot run ssh": "The server lacks the command ssh",
}
_REJECTED = re.compile(r"\[(?:remote )?rejected\]|pre-receive hook declined")


class MirrorOptions(NamedTuple):
    """Choice of the refs, and the path of the change."""

    includes: Callable[[str], bool]
    """Whether a branch is mirrored."""
    keep_divergent: bool
    with_tags: bool
    visited: tuple[str, ...]


class _Changes(NamedTuple):
    specs: list[str]
    """Refspecs of ``git push``."""
    diverged: bool


def push_to_mirror(
    repository: Repository, address: MirrorAddress, options: MirrorOptions, timeout: float
) -> str | None:
    """Push what differs; return None, or the reason of a failure."""
    header = ("http.extraHeader", f"{MIRROR_HEADER}: {','.join(options.visited)}")
    remote = MirrorRemote(repository, address, timeout, [header])
    try:
        changes = _changes(repository, remote.refs(), options)
        if address.ssh_environment is None:
            remote.push(changes.specs)
        else:
            _push_with_path(remote, changes.specs, options)
    except GitTimeout:  # Shown as the reason of the failed update.
        return "The update took too long"
    except GitOutputTooLarge:  # Likewise.
        return "The server's answer is too large"
    except GitError as error:
        if _REJECTED.search(error.stderr) or error.status == 1:
            return "The server refused to update some branches or tags"
        return ssh_failure_reason(error) or failure_reason(error)
    return DIVERGED if changes.diverged else None


def _push_with_path(remote: MirrorRemote, specs: list[str], options: MirrorOptions) -> None:
    """Push over SSH, which has no headers, with the path of the change as an option if the server takes options."""
    try:
        remote.push(specs, [f"{VISITED_OPTION}{','.join(options.visited)}"] if options.visited else [])
    except GitError as error:
        if "does not support push options" not in error.stderr:
            raise
        remote.push(specs)


def ssh_failure_reason(error: GitError) -> str | None:
    """Return the reason why ssh could not connect, if it was ssh that failed."""
    return next((reason for text, reason in _SSH_REASONS.items() if text in error.stderr), None)


def _changes(repository: Repository, remote: dict[bytes, str], options: MirrorOptions) -> _Changes:
    """Compare the refs; a ref that only the server has is deleted if the default branch contains its commit."""

    def is_mirrored(name: bytes) -> bool:
        if name.startswith(TAGS):
            return options.with_tags
        return options.includes(name.removeprefix(HEADS).decode(errors="replace"))

    prefixes = (HEADS, TAGS)
    local = {name: oid for name, oid in read_refs(repository.path, prefixes).items() if is_mirrored(name)}
    specs: list[str] = []
    diverged = False
    for name, oid in local.items():
        there = remote.get(name)
        if there == oid:
            continue
        if there is not None and options.keep_divergent and not contains_commit(repository, oid, there):
            diverged = True
            continue
        specs.append(f"+{os.fsdecode(name)}:{os.fsdecode(name)}")
    head = local.get(HEADS + repository.head_branch().encode())
    for name, oid in remote.items():
        if name not in local and is_mirrored(name) and head is not None and contains_commit(repository, head, oid):
            specs.append(f":{os.fsdecode(name)}")
    return _Changes(specs, diverged)


def contains_commit(repository: Repository, new: str, old: str) -> bool:
    """Return whether a commit contains another one, which may be missing here."""
    try:
        return is_ancestor(repository, old, new)
    except GitError:  # Only the server has this commit.
        return False
