"""Changed files of commits, without their lines, up to an output limit."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository
from ingot.git.diffs.tree_changes import EMPTY_TREE, EntryChange, has_too_many_changes, list_first_changes
from ingot.git.history.commits import NO_OID, Commit, decode_text

MAX_OUTPUT_BYTES = 4 * 2**20
_SECONDS = 30.0
_MAX_LISTED = 1_000
"""Number of listed files of a commit with more changes than git may compare."""
_COMMIT = re.compile(rb"[0-9a-f]{40}")
ChangeKind = Literal["added", "modified", "removed", "renamed"]
_CHANGE_KINDS: dict[bytes, ChangeKind] = {b"A": "added", b"D": "removed", b"R": "renamed"}


class PathChange(NamedTuple):
    """A changed file; for a deleted one, its former path and object."""

    how: ChangeKind
    path: bytes
    oid: str
    mode: int


class _ChangeLimitReached(Exception):
    """The list of changes exceeds the output limit."""


def changed_files_by_commit(repository: Repository, commits: Sequence[Commit]) -> dict[str, list[PathChange]]:
    """Return the changed files of each commit compared with its first parent, up to the output limit."""
    changes: dict[str, list[PathChange]] = {commit.oid: [] for commit in commits}
    ordinary: list[Commit] = []
    for commit in commits:
        parent = commit.parents[0] if commit.parents else None
        if has_too_many_changes(repository, parent, commit.oid):
            changes[commit.oid] = _first_changes(repository, parent, commit.oid)
        else:
            ordinary.append(commit)
    revisions = "".join(" ".join((commit.oid, *commit.parents[:1])) + "\n" for commit in ordinary)
    args = ["diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"]
    current: list[PathChange] = []
    fields = iter(_read_fields(repository, args, revisions.encode()))
    for field in fields:
        if _COMMIT.fullmatch(field):
            current = changes.setdefault(field.decode(), [])
        else:
            path = next(fields, None)
            if path is not None:
                current.append(_parse_change(field, path))
    return changes


def changed_files_between(repository: Repository, old: str, new: str) -> list[PathChange]:
    """Return the files that differ between two commits; zeros denote the empty tree."""
    changed = _listed_if_too_many(repository, old, new)
    if changed is not None:
        return changed
    changed = []
    args = ["diff-tree", "-r", "-z", "--raw", "-M", "--no-abbrev", *_trees(old, new), "--"]
    fields = iter(_read_fields(repository, args, None))
    for field in fields:
        path = next(fields, None)
        if path is not None and field.split()[-1].startswith(b"R"):
            path = next(fields, None)
        if path is not None:
            changed.append(_parse_change(field, path))
    return changed


def changed_paths_between(repository: Repository, old: str, new: str) -> list[str]:
    """Return the paths that differ between two commits, of a renamed file both; zeros denote the empty tree."""
    listed = _listed_if_too_many(repository, old, new)
    if listed is not None:
        return [decode_text(change.path) for change in listed]
    args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", *_trees(old, new), "--"]
    return [decode_text(path) for path in _read_fields(repository, args, None)]


def _trees(*oids: str) -> list[str]:
    return [EMPTY_TREE if oid == NO_OID else oid for oid in oids]


def _listed_if_too_many(repository: Repository, old: str, new: str) -> list[PathChange] | None:
    """Return the first changes if git may not compare the commits; None if it may."""
    before = None if old == NO_OID else old
    if new == NO_OID or not has_too_many_changes(repository, before, new):
        return None
    return _first_changes(repository, before, new)


def _first_changes(repository: Repository, old: str | None, new: str) -> list[PathChange]:
    return [_path_change(change) for change in list_first_changes(repository, old, new, _MAX_LISTED)]


def _path_change(change: EntryChange) -> PathChange:
    entry = change.new or change.old
    assert entry is not None  # noqa: S101 - For the type checker: one side exists.
    how: ChangeKind = "removed" if change.new is None else "added" if change.old is None else "modified"
    return PathChange(how, entry.path, entry.oid, entry.mode)


def _parse_change(field: bytes, path: bytes) -> PathChange:
    old_mode, new_mode, old, new, status = field.lstrip(b":").split()
    deleted = status == b"D"
    oid, mode = (old, old_mode) if deleted else (new, new_mode)
    return PathChange(_CHANGE_KINDS.get(status[:1], "modified"), path, oid.decode(), int(mode, 8))


def _read_fields(repository: Repository, args: Sequence[str], revisions: bytes | None) -> list[bytes]:
    output = bytearray()

    def collect(piece: bytes) -> None:
        output.extend(piece)
        if len(output) > MAX_OUTPUT_BYTES:
            raise _ChangeLimitReached

    try:
        run_git(args, repository.path, input=revisions, timeout=_SECONDS, on_stdout=collect)
    except _ChangeLimitReached:
        del output[output.rfind(b"\0") :]
    return [field for field in bytes(output).split(b"\0") if field]
