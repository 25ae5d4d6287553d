"""Git bundles: a repository in one file, for exports, imports and clones."""

import re
from collections.abc import Sequence
from pathlib import Path

from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, GitTimeout
from ingot.git.core.layout import MERGE_REQUEST_REFS
from ingot.git.core.refs import HEADS, TAGS, read_head, read_refs
from ingot.git.core.repository import Repository
from ingot.git.maintenance.fetch import MAX_MEMORY, empty_repository, point_head, remove_ambiguous_refs
from ingot.git.maintenance.object_limits import largest_objects, size_error

KEPT_REFS = "refs/keep/*"
"""Refs of commits that no branch contains any more, such as earlier versions of merge requests."""
MERGE_REQUEST_HEADS = f"{MERGE_REQUEST_REFS}/*/head"
BUNDLE_MARKS = (b"# v2 git bundle\n", b"# v3 git bundle\n")
"""First lines of a bundle."""
_TIMEOUT_SECONDS = 3600.0
_HEAD_LINE = re.compile(rb"^([0-9a-f]{40,64}) HEAD$", re.MULTILINE)


def write_bundle(repository: Path, bundle: Path) -> bool:
    """Write all branches, tags and merge requests of a repository to a file; return False if there are none."""
    if not read_refs(repository, (HEADS, TAGS)):
        return False
    head = ["HEAD"] if read_head(repository) in read_refs(repository, (HEADS,)) else []
    patterns = [f"--glob={pattern}" for pattern in (MERGE_REQUEST_HEADS, KEPT_REFS)]
    arguments = ["bundle", "create", "--quiet", str(bundle), "--branches", "--tags", *patterns, *head]
    run_git(arguments, repository, timeout=_TIMEOUT_SECONDS)
    return True


def write_clone_bundle(repository: Path, bundle: Path) -> None:
    """Write the branches and tags of a repository to a file, which everyone may have who may clone it."""
    arguments = ["bundle", "create", "--quiet", str(bundle), "--branches", "--tags"]
    run_git(arguments, repository, timeout=_TIMEOUT_SECONDS, max_memory=None)


def fetch_bundle(
    repository: Path, bundle: Path, patterns: Sequence[str] = (), timeout: float = _TIMEOUT_SECONDS
) -> str | None:
    """Fetch the branches and tags of a bundle, and further refs by patterns; return None, or the reason of a failure.

    Refs that the repository has and the bundle does not are deleted, except for those of the further patterns.
    """
    refspecs = [f"+{pattern}:{pattern}" for pattern in ("refs/heads/*", "refs/tags/*", *patterns)]
    options = ["--atomic", "--no-auto-gc", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
    config = [("fetch.fsckObjects", "true"), ("core.bigFileThreshold", "64m"), ("credential.helper", "")]
    environment = {"GIT_ALLOW_PROTOCOL": "file"}
    try:
        listing = run_git(["bundle", "list-heads"], repository, operands=[str(bundle)], timeout=timeout).out
        run_git(
            ["fetch", *options, "--no-show-forced-updates", "--"],
            repository,
            operands=[str(bundle), *refspecs],
            timeout=timeout,
            env=environment,
            config=config,
            max_memory=MAX_MEMORY,
        )
    except GitTimeout:  # Shown as the reason of the failed import.
        return "The import took too long"
    except GitError as error:
        if re.search(r"fsck error|error in object", error.stderr):
            return "The repository holds objects that git's checks refuse"
        return "The bundle of the repository cannot be read"
    too_large = size_error(largest_objects(repository))
    if too_large is not None:
        empty_repository(repository)
        return too_large
    remove_ambiguous_refs(repository)
    point_head(Repository(repository), _head_branch(repository, listing))
    return None


def _head_branch(repository: Path, listing: bytes) -> bytes | None:
    """Return the branch that HEAD of a bundle most likely points at: a bundle contains only its commit."""
    match = _HEAD_LINE.search(listing)
    if match is None:
        return None
    commit = match[1].decode()
    names = [name for name, oid in read_refs(repository, (HEADS,)).items() if oid == commit]
    current = read_head(repository)
    usual = [name for name in (current, b"refs/heads/main", b"refs/heads/master") if name in names]
    return next(iter([*usual, *names]), None)
