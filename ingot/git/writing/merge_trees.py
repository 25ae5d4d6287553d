"""Merges of two commits into a tree by ``git merge-tree``, without a work tree."""

import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ingot.git.core.command import Config, GitResult, run_git
from ingot.git.core.errors import GitError, git_error
from ingot.git.core.repository import Repository
from ingot.git.trees.totals import require_bounded_commit

_TIMEOUT_SECONDS = 120.0
_CLEAN, _CONFLICTS = 0, 1
_UNRELATED = "refusing to merge unrelated histories"
# Temporary objects need not be synced to disk.
_NOT_DURABLE: Config = (("core.fsync", "none"),)


class MergeConflict(Exception):
    """The merge has conflicts; ``paths`` are the conflicting files."""

    def __init__(self, paths: Sequence[str] = ()) -> None:
        super().__init__(", ".join(paths) or "nothing in common")
        self.paths = tuple(paths)


def write_merged_tree(repository: Repository, ours: str, theirs: str) -> str:
    """Merge two commits and return the tree, written durably; raise ``MergeConflict`` or ``TreeTooLarge``.

    Unrelated histories are not merged, as in git: that is nearly always a mistake.
    """
    _require_bounded(repository, ours, theirs)
    try:
        return _merge(repository, ours, theirs)
    except GitError:
        # As for any loose object: housekeeping may have removed the folder just before the object was written.
        return _merge(repository, ours, theirs)


def can_merge(repository: Repository, ours: str, theirs: str) -> bool:
    """Return whether two commits can be merged, without leaving objects behind; raise ``TreeTooLarge``."""
    _require_bounded(repository, ours, theirs)
    with temporary_objects(repository) as env:
        try:
            _merge(repository, ours, theirs, env, _NOT_DURABLE)
        except MergeConflict:
            return False
    return True


def merge_with_conflicts(repository: Repository, ours: str, theirs: str, env: Mapping[str, str] | None = None) -> bytes:
    """Merge two commits and return git's output: the tree, and the versions of each file with conflicts.

    The objects are written durably, or to the temporary folder of ``env``. Raises ``MergeConflict`` for unrelated
    histories.
    """
    _require_bounded(repository, ours, theirs)
    result = _merge_tree(repository, [], ours, theirs, env, () if env is None else _NOT_DURABLE)
    return result.out


@contextmanager
def temporary_objects(repository: Repository) -> Iterator[dict[str, str]]:
    """Yield the environment in which git writes objects to a folder that is removed afterwards."""
    # Named like the quarantine of a push, so that housekeeping also removes the leftovers of a killed process.
    quarantine = repository.path / "objects" / f"incoming-{secrets.token_hex(8)}"
    quarantine.mkdir()
    try:
        yield {
            "GIT_OBJECT_DIRECTORY": str(quarantine.absolute()),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(quarantine.parent.absolute()),
        }
    finally:
        shutil.rmtree(quarantine, ignore_errors=True)


def _require_bounded(repository: Repository, *commits: str) -> None:
    for commit in commits:
        try:
            require_bounded_commit(repository, commit)
        except KeyError:
            pass  # An object is missing, which git reports.


def _merge(
    repository: Repository, ours: str, theirs: str, env: Mapping[str, str] | None = None, config: Config = ()
) -> str:
    result = _merge_tree(repository, ["--name-only"], ours, theirs, env, config)
    tree, *paths = result.out.decode(errors="replace").rstrip("\0").split("\0")
    if result.status == _CONFLICTS:
        raise MergeConflict(paths)
    return tree


def _merge_tree(
    repository: Repository,
    options: Sequence[str],
    ours: str,
    theirs: str,
    env: Mapping[str, str] | None,
    config: Config,
) -> GitResult:
    """Run ``git merge-tree``; raise ``MergeConflict`` for unrelated histories, and ``GitError`` if there is no tree."""
    result = run_git(
        ["merge-tree", "--write-tree", "--no-messages", "-z", *options],
        repository.path,
        operands=[ours, theirs],
        timeout=_TIMEOUT_SECONDS,
        env=env,
        config=config,
        check=False,
    )
    # The status is the same for conflicts and for a missing commit, but then there is no tree.
    if result.status == _CLEAN or (result.status == _CONFLICTS and result.out.rstrip(b"\0")):
        return result
    if _UNRELATED in result.stderr:
        raise MergeConflict
    raise git_error("merge-tree", result.status, result.stderr, repository.path)
