"""Which files commits change, without their lines; bounded, however many there are."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository
from ingot.git.diffs.diffs import EMPTY_TREE
from ingot.git.history.commits import NO_OID, Commit

MAX_OUTPUT_BYTES = 4 * 2**20
_SECONDS = 30.0
_COMMIT = re.compile(rb"[0-9a-f]{40}")
ChangeKind = Literal["added", "modified", "removed", "renamed"]
_CHANGE_KINDS: dict[bytes, ChangeKind] = {b"A": "added", b"D": "removed", b"R": "renamed"}


class PathChange(NamedTuple):
    """A file that is not what it was; of one that is gone, the path and object that it had."""

    how: ChangeKind
    path: bytes
    oid: str
    mode: int


class _ChangeLimitReached(Exception):
    """What git still has to say would be too much to tell."""


def changed_files_by_commit(repository: Repository, commits: Sequence[Commit]) -> dict[str, list[PathChange]]:
    """What each commit changes against its first parent; what is too much altogether is left out."""
    asked = "".join(" ".join((commit.oid, *commit.parents[:1])) + "\n" for commit in commits)
    args = ["diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"]
    found: dict[str, list[PathChange]] = {commit.oid: [] for commit in commits}
    here: list[PathChange] = []
    fields = iter(_read_fields(repository, args, asked.encode()))
    for field in fields:
        if _COMMIT.fullmatch(field):
            here = found.setdefault(field.decode(), [])
        else:
            path = next(fields, None)
            if path is not None:
                here.append(_parse_change(field, path))
    return found


def changed_files_between(repository: Repository, old: str, new: str) -> list[PathChange]:
    """What leads from one commit to another; zeros stand for nothing at all."""
    trees = [EMPTY_TREE if oid == NO_OID else oid for oid in (old, new)]
    args = ["diff-tree", "-r", "-z", "--raw", "-M", "--no-abbrev", *trees, "--"]
    changed = []
    fields = iter(_read_fields(repository, args, None))
    for field in fields:
        path = next(fields, None)
        if path is not None and field.split()[-1].startswith(b"R"):
            path = next(fields, None)
        if path is not None:
            changed.append(_parse_change(field, path))
    return changed


def _parse_change(field: bytes, path: bytes) -> PathChange:
    old_mode, new_mode, old, new, status = field.lstrip(b":").split()
    gone = status == b"D"
    oid, mode = (old, old_mode) if gone else (new, new_mode)
    return PathChange(_CHANGE_KINDS.get(status[:1], "modified"), path, oid.decode(), int(mode, 8))


def _read_fields(repository: Repository, args: Sequence[str], asked: bytes | None) -> list[bytes]:
    read = bytearray()

    def take(piece: bytes) -> None:
        read.extend(piece)
        if len(read) > MAX_OUTPUT_BYTES:
            raise _ChangeLimitReached

    try:
        run_git(args, repository.path, input=asked, timeout=_SECONDS, on_stdout=take)
    except _ChangeLimitReached:
        del read[read.rfind(b"\0") :]
    return [field for field in bytes(read).split(b"\0") if field]
