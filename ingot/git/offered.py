"""What merge requests bring: commits of one repository that are kept in another one, whatever becomes of the first."""

from collections.abc import Callable, Sequence

from ingot.errors import Invalid
from ingot.git.command import run_git
from ingot.git.commits import NO_OID, commit_or_none
from ingot.git.diffs import EMPTY_TREE
from ingot.git.faults import GitFailed, GitSaidTooMuch
from ingot.git.history import BUFFERED
from ingot.git.layout import MERGE_REQUEST_REFS
from ingot.git.repository import Repository
from ingot.git.stats import LARGEST_TEXT
from ingot.git.updating import RefMoved, RefUpdate, update_refs

_TRIES = 5
_FETCH_SECONDS = 600.0
MOST_FILES = 1000
"""So many files are counted; of more it is said that there are more."""
LARGEST_PATCH = 32 * 2**20


def bring_commit(source: Repository, target: Repository, oid: str) -> None:
    """Let ``target`` have a commit of ``source`` with all that it leads to; only what it lacks is copied."""
    if commit_or_none(target, oid) is not None:
        return
    try:
        _fetch(source, target, oid)
    except GitFailed:
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
            f"+{oid}:{_kept(oid)}",
        ],
        target.path,
        timeout=_FETCH_SECONDS,
        env={"GIT_ALLOW_PROTOCOL": "file"},
    )


def keep_commits(repository: Repository, oids: Sequence[str]) -> None:
    """Hold commits with all that they lead to; returns when the disk knows."""
    for attempt in range(1, _TRIES + 1):
        missing = [oid for oid in dict.fromkeys(oids) if repository.tip(_kept(oid)) is None]
        if not missing:
            return
        try:
            update_refs(repository, [RefUpdate(_kept(oid), NO_OID, oid) for oid in missing])
        except (RefMoved, GitFailed):  # Somebody else makes one of them at the same time.
            if attempt == _TRIES:
                raise


def head_ref(iid: int) -> str:
    """The name under which clients fetch what a merge request brings."""
    return f"{MERGE_REQUEST_REFS}/{iid}/head"


def merge_ref(iid: int) -> str:
    """The name under which clients fetch what its target would be with it."""
    return f"{MERGE_REQUEST_REFS}/{iid}/merge"


def point_head(repository: Repository, iid: int, wanted: Callable[[], str | None]) -> None:
    """Let the reference of a merge request follow what is wanted, which is asked again when it was moved.

    Of two who move it at once, the later one so finds what the other one had not seen yet.
    """
    ref = head_ref(iid)
    for _ in range(_TRIES):
        oid = wanted()
        tip = repository.tip(ref)
        if oid is None or oid == tip:
            return
        try:
            update_refs(repository, [RefUpdate(ref, tip or NO_OID, oid)])
        except RefMoved:
            continue


def drop_head(repository: Repository, iid: int) -> None:
    """Let nobody fetch what a merge request brought any more."""
    tips = ((ref, repository.tip(ref)) for ref in (head_ref(iid), merge_ref(iid)))
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
    count = run_git(args, repository.path, env=BUFFERED).out.count(b"\0")
    return str(count) if count <= MOST_FILES else f"{MOST_FILES}+"


def commits_apart(repository: Repository, new: str, olds: Sequence[str], most: int) -> list[str]:
    """The newest commits that ``new`` leads to and none of the others does, the newest first."""
    args = ["rev-list", f"--max-count={most}", "--end-of-options", new, *(f"^{old}" for old in olds), "--"]
    return run_git(args, repository.path).out.decode().split()


def raw_patch(repository: Repository, old: str | None, new: str) -> bytes:
    """What leads from one commit to another, or from nothing to it, as other programs apply it."""
    args = ["diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color"]
    try:
        return run_git(
            [*args, old or EMPTY_TREE, new, "--"], repository.path, config=[LARGEST_TEXT], most_bytes=LARGEST_PATCH
        ).out
    except GitSaidTooMuch:
        raise Invalid("The changes are too large to be sent as one patch") from None


def _kept(oid: str) -> str:
    return f"refs/keep/{oid}"
