"""The last commit that touched a path, as ``git log -1`` tells it."""

from time import monotonic
from typing import Any

from ingot.git.command import run_git
from ingot.git.library import open_repository
from ingot.git.paths import LITERAL, path_argument
from ingot.git.remembered import Remembered
from ingot.git.repository import Repository
from ingot.git.tree_commits import held_at, known_commit, note_a_long_look
from ingot.inline import expect_a_wait

_NEAR_COMMITS = 32
_NEAR_SECONDS = 0.002
_TIMEOUT_SECONDS = 30.0

# By repository too: the ids would do, but a commit that one of them has lost must not be told by another.
_known: Remembered[tuple[str, str, bytes], str] = Remembered(20_000, 12 * 2**20)


def last_commit_id(repository: Repository, commit: str, path: bytes) -> str:
    """The last commit, of those that lead to this one, that changed what it has at a path; itself for no path."""
    if not path:
        return commit
    where = str(repository.path)
    known = _known.get((where, commit, path)) or known_commit(repository, commit, path)
    if known is not None:
        return known
    oid, found = _look_near(repository, commit, path)
    if not found:
        oid = _look_far(repository, oid, path)
        note_a_long_look(repository, commit)
    return _known.keep((where, commit, path), oid, len(path) + 400)


def _look_near(repository: Repository, commit: str, path: bytes) -> tuple[str, bool]:
    """Go back some commits in process: most pages show what changed of late, or what was asked before a push.

    Gives the last commit, or the one from which on somebody has to look further.
    """
    began = monotonic()
    where = str(repository.path)
    handle = open_repository(repository.path)
    named = path.decode("utf-8", "surrogateescape")
    at: Any = handle[commit]
    entry = held_at(at, named)
    for _ in range(_NEAR_COMMITS):
        followed = None
        for parent in at.parent_ids:
            before: Any = handle[parent]
            if held_at(before, named) == entry:
                followed = before
                break
        if followed is None:
            return str(at.id), True
        at = followed
        known = _known.get((where, str(at.id), path)) or known_commit(repository, str(at.id), path)
        if known is not None:
            return known, True
        if monotonic() - began > _NEAR_SECONDS:
            expect_a_wait()
            break
    return str(at.id), False


def _look_far(repository: Repository, commit: str, path: bytes) -> str:
    """Let git do it, which has the commit graph and its filters of changed paths."""
    said = run_git(
        ["log", "-1", "--format=%H", commit, "--", path_argument(path)],
        repository.path,
        env=LITERAL,
        timeout=_TIMEOUT_SECONDS,
    )
    return said.out.decode().strip() or commit
