"""What merge requests bring: commits of one repository that are kept in another one, whatever becomes of the first."""

from collections.abc import Callable, Sequence

from ingot.errors import Invalid
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, GitOutputTooLarge
from ingot.git.core.layout import MERGE_REQUEST_REFS
from ingot.git.core.repository import Repository
from ingot.git.diffs.diffs import EMPTY_TREE
from ingot.git.diffs.stats import MAX_TEXT_BYTES
from ingot.git.history.commits import NO_OID, commit_or_none
from ingot.git.history.log import BUFFERED_OUTPUT
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, update_refs

_MAX_ATTEMPTS = 5
_FETCH_SECONDS = 600.0
MAX_COUNTED_FILES = 1000
"""So many files are counted; of more it is said that there are more."""
MAX_PATCH_BYTES = 32 * 2**20


def copy_commit(source: Repository, target: Repository, oid: str) -> None:
    """Let ``target`` have a commit of ``source`` with all that it leads to; only what it lacks is copied."""
    if commit_or_none(target, oid) is not None:
        return
    try:
        _fetch(source, target, oid)
    except GitError:
        # Of two who fetch the same at once, one finds the reference locked.
        if commit_or_none(target, oid) is None:
            raise


def _fetch(source: Repository, target: Repository, oid: str) -> None:
    run_git(
        [
            "fetch",
            "--no-tags",
            "--no-write-fetch-head",
            "--quiet",
            # The helper does not inherit our configuration, but must not mind another user's directory either.
            "--upload-pack=git -c safe.directory='*' upload-pack",
            "--",
            str(source.path.absolute()),
            f"+{oid}:{_pin_ref(oid)}",
        ],
        target.path,
        timeout=_FETCH_SECONDS,
        env={"GIT_ALLOW_PROTOCOL": "file"},
    )


def pin_commits(repository: Repository, oids: Sequence[str]) -> None:
    """Hold commits with all that they lead to; returns when the disk knows."""
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        missing = [oid for oid in dict.fromkeys(oids) if repository.tip(_pin_ref(oid)) is None]
        if not missing:
            return
        try:
            update_refs(repository, [RefUpdate(_pin_ref(oid), NO_OID, oid) for oid in missing])
        except (RefMoved, GitError):  # Somebody else makes one of them at the same time.
            if attempt == _MAX_ATTEMPTS:
                raise


def merge_request_head_ref(iid: int) -> str:
    """The name under which clients fetch what a merge request brings."""
    return f"{MERGE_REQUEST_REFS}/{iid}/head"


def merge_request_merge_ref(iid: int) -> str:
    """The name under which clients fetch what its target would be with it."""
    return f"{MERGE_REQUEST_REFS}/{iid}/merge"


def update_head_ref(repository: Repository, iid: int, wanted: Callable[[], str | None]) -> None:
    """Let the reference of a merge request follow what is wanted, which is asked again when it was moved.

    Of two who move it at once, the later one so finds what the other one had not seen yet.
    """
    ref = merge_request_head_ref(iid)
    for _ in range(_MAX_ATTEMPTS):
        oid = wanted()
        tip = repository.tip(ref)
        if oid is None or oid == tip:
            return
        try:
            update_refs(repository, [RefUpdate(ref, tip or NO_OID, oid)])
        except RefMoved:
            continue


def delete_head_ref(repository: Repository, iid: int) -> None:
    """Let nobody fetch what a merge request brought any more."""
    tips = ((ref, repository.tip(ref)) for ref in (merge_request_head_ref(iid), merge_request_merge_ref(iid)))
    gone = [RefUpdate(ref, tip, NO_OID) for ref, tip in tips if tip is not None]
    if gone:
        update_refs(repository, gone)


def count_between(repository: Repository, old: str | None, new: str) -> int:
    """How many commits ``new`` leads to and ``old`` does not."""
    less = [] if old is None else [f"^{old}"]
    return int(run_git(["rev-list", "--count", "--end-of-options", new, *less, "--"], repository.path).out)


def count_files(repository: Repository, old: str, new: str) -> str:
    """How many files differ, as it is shown."""
    args = ["diff-tree", "-r", "-M", "--name-only", "-z", old, new, "--"]
    count = run_git(args, repository.path, env=BUFFERED_OUTPUT).out.count(b"\0")
    return str(count) if count <= MAX_COUNTED_FILES else f"{MAX_COUNTED_FILES}+"


def commits_not_in(repository: Repository, new: str, olds: Sequence[str], limit: int) -> list[str]:
    """The newest commits that ``new`` leads to and none of the others does, the newest first."""
    args = ["rev-list", f"--max-count={limit}", "--end-of-options", new, *(f"^{old}" for old in olds), "--"]
    return run_git(args, repository.path).out.decode().split()


def raw_patch(repository: Repository, old: str | None, new: str) -> bytes:
    """What leads from one commit to another, or from nothing to it, as other programs apply it."""
    args = ["diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color"]
    try:
        return run_git(
            [*args, old or EMPTY_TREE, new, "--"], repository.path, config=[MAX_TEXT_BYTES], max_bytes=MAX_PATCH_BYTES
        ).out
    except GitOutputTooLarge:
        raise Invalid("The changes are too large to be sent as one patch") from None


def _pin_ref(oid: str) -> str:
    return f"refs/keep/{oid}"
