"""Commits and refs of merge requests in the target repository, retained independently of the source."""

from collections.abc import Callable, Sequence

from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError
from ingot.git.core.layout import MERGE_REQUEST_REFS
from ingot.git.core.repository import Repository
from ingot.git.diffs.tree_changes import has_too_many_changes
from ingot.git.history.commits import NO_OID, commit_or_none
from ingot.git.history.log import BUFFERED_OUTPUT
from ingot.git.writing.pinned_commits import pin_commits, pin_ref
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, update_refs

_MAX_ATTEMPTS = 5
_FETCH_SECONDS = 600.0
MAX_COUNTED_FILES = 1000
"""Maximum number of counted files; beyond it the count is shown as ``1000+``."""


def copy_commit(source: Repository, target: Repository, oid: str) -> None:
    """Copy a commit of ``source`` with its history to ``target``; only missing objects are transferred."""
    if commit_or_none(target, oid) is not None:
        return
    if target.ref_store is not None:
        _fetch(source, target, oid)
        pin_commits(target, [oid])
        return
    try:
        _fetch(source, target, f"+{oid}:{pin_ref(oid)}")
    except GitError:
        # If two processes fetch the same commit, one of them finds the ref locked.
        if commit_or_none(target, oid) is None:
            raise


def _fetch(source: Repository, target: Repository, refspec: str) -> None:
    run_git(
        [
            "fetch",
            "--no-tags",
            "--no-write-fetch-head",
            "--quiet",
            # The upload-pack process does not inherit our configuration, but must accept a directory of another user.
            "--upload-pack=git -c safe.directory='*' upload-pack",
            "--",
            str(source.path.absolute()),
            refspec,
        ],
        target.path,
        timeout=_FETCH_SECONDS,
        max_memory=None,
        env={"GIT_ALLOW_PROTOCOL": "file"},
    )


def merge_request_head_ref(iid: int) -> str:
    """Return the ref under which clients fetch the head of a merge request."""
    return f"{MERGE_REQUEST_REFS}/{iid}/head"


def merge_request_merge_ref(iid: int) -> str:
    """Return the ref under which clients fetch the merge result of a merge request."""
    return f"{MERGE_REQUEST_REFS}/{iid}/merge"


def merge_request_train_ref(iid: int) -> str:
    """Return the ref of the commit that a merge train tests."""
    return f"{MERGE_REQUEST_REFS}/{iid}/train"


def update_head_ref(repository: Repository, iid: int, read_head: Callable[[], str | None]) -> None:
    """Move the head ref of a merge request to the commit that ``read_head`` returns.

    ``read_head`` is called again if the ref was moved meanwhile: of two concurrent updates, the later one sees the
    newer commit.
    """
    ref = merge_request_head_ref(iid)
    for _ in range(_MAX_ATTEMPTS):
        oid = read_head()
        tip = repository.tip(ref)
        if oid is None or oid == tip:
            return
        try:
            update_refs(repository, [RefUpdate(ref, tip or NO_OID, oid)])
        except RefMoved:
            continue


def delete_head_ref(repository: Repository, iid: int) -> None:
    """Delete the refs of a merge request, so that it can no longer be fetched."""
    refs = merge_request_head_ref(iid), merge_request_merge_ref(iid), merge_request_train_ref(iid)
    tips = ((ref, repository.tip(ref)) for ref in refs)
    deletions = [RefUpdate(ref, tip, NO_OID) for ref, tip in tips if tip is not None]
    if deletions:
        update_refs(repository, deletions)


def count_files(repository: Repository, old: str, new: str) -> str:
    """Return the number of changed files as displayed text."""
    if has_too_many_changes(repository, old, new):
        return f"{MAX_COUNTED_FILES}+"
    args = ["diff-tree", "-r", "-M", "--name-only", "-z", old, new, "--"]
    count = run_git(args, repository.path, env=BUFFERED_OUTPUT).out.count(b"\0")
    return str(count) if count <= MAX_COUNTED_FILES else f"{MAX_COUNTED_FILES}+"


def commits_not_in(repository: Repository, new: str, olds: Sequence[str], limit: int) -> list[str]:
    """List the newest commits that are reachable from ``new`` and from none of the others, newest first."""
    args = ["rev-list", f"--max-count={limit}", "--end-of-options", new, *(f"^{old}" for old in olds), "--"]
    return run_git(args, repository.path).out.decode().split()
