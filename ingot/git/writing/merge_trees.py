"""Merging two lines of history into one tree: git's own merge, with renames and criss-cross bases, and no work tree."""

import secrets
import shutil
from collections.abc import Mapping, Sequence

from ingot.git.core.command import Config, run_git
from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository

_TIMEOUT_SECONDS = 120.0
_CLEAN, _CONFLICTS = 0, 1
_UNRELATED = "refusing to merge unrelated histories"
# What is thrown away at once need not reach the disk.
_NOT_DURABLE: Config = (("core.fsync", "none"),)


class MergeConflict(Exception):
    """It does not go without a person; ``paths`` are those that both sides changed in ways that do not fit."""

    def __init__(self, paths: Sequence[str] = ()) -> None:
        super().__init__(", ".join(paths) or "nothing in common")
        self.paths = tuple(paths)


def write_merged_tree(repository: Repository, ours: str, theirs: str) -> str:
    """The tree that a merge of two commits has, written to last; raises ``MergeConflict``.

    Histories that share no commit are not merged: git's own merge refuses them too, since that is nearly always a slip.
    """
    try:
        return _merge(repository, ours, theirs)
    except GitError:
        # As for any loose object: housekeeping may have removed the folder just before something was put into it.
        return _merge(repository, ours, theirs)


def can_merge(repository: Repository, ours: str, theirs: str) -> bool:
    """Whether two commits can be merged; nothing stays of the attempt."""
    # Named like the quarantine of a push, so that what a killed process leaves is swept up with those.
    aside = repository.path / "objects" / f"incoming-{secrets.token_hex(8)}"
    aside.mkdir()
    env = {
        "GIT_OBJECT_DIRECTORY": str(aside.absolute()),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(aside.parent.absolute()),
    }
    try:
        _merge(repository, ours, theirs, env, _NOT_DURABLE)
    except MergeConflict:
        return False
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return True


def _merge(
    repository: Repository, ours: str, theirs: str, env: Mapping[str, str] | None = None, config: Config = ()
) -> str:
    outcome = run_git(
        ["merge-tree", "--write-tree", "--no-messages", "--name-only", "-z"],
        repository.path,
        operands=[ours, theirs],
        timeout=_TIMEOUT_SECONDS,
        env=env,
        config=config,
        check=False,
    )
    tree, *paths = outcome.out.decode(errors="replace").rstrip("\0").split("\0")
    if outcome.status == _CLEAN:
        return tree
    # It says the same of a commit that is not there, but then it has no tree to show.
    if outcome.status == _CONFLICTS and tree:
        raise MergeConflict(paths)
    if _UNRELATED in outcome.stderr:
        raise MergeConflict
    raise GitError("merge-tree", outcome.status, outcome.stderr)
