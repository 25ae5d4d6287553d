"""Merges with conflicts: the conflicting files, their hunks, and commits that resolve them, without a work tree."""

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from ingot.git.core.command import run_git
from ingot.git.core.errors import git_error
from ingot.git.core.repository import Repository
from ingot.git.trees.blobs import read_blob
from ingot.git.writing.commits import CommitMetadata, commit_content
from ingot.git.writing.merge_trees import merge_with_conflicts, temporary_objects
from ingot.git.writing.new_objects import InvalidObjects, NewObjects
from ingot.git.writing.path_rules import is_git_special_file
from ingot.git.writing.tree_builder import EXECUTABLE, FILE, LINK, SUBMODULE, PathConflict, TreeBuilder, TreeLeaf

MAX_MERGED_BYTES = 512 * 1024
"""Files with a larger version are not merged line by line; one of their versions can be chosen."""
_MARKER_SIZE = 61
"""Length of the markers in the output of git, which the lines of files do not have."""
_MAX_CONFLICTS = 127
"""The exit status of ``git merge-file`` is the number of conflicts, up to this one; higher ones are errors."""
_TIMEOUT_SECONDS = 30.0

Side = Literal["ours", "theirs"]


class CannotResolve(Exception):
    """The conflicts cannot be resolved by choosing versions of files; the text is shown to the user."""


class ConflictHunk(NamedTuple):
    """Consecutive lines of a merged file: unchanged ones, or those of both sides of a conflict."""

    conflict: bool
    ours: tuple[str, ...]
    """Lines with their line endings; for unchanged lines both sides are equal."""
    theirs: tuple[str, ...]
    id: str = ""
    """Identifies a conflict as long as its lines are the same."""


class ConflictedFile(NamedTuple):
    """File with its version on each side; None where it does not exist."""

    path: bytes
    base: TreeLeaf | None
    ours: TreeLeaf | None
    theirs: TreeLeaf | None

    def side(self, name: Side) -> TreeLeaf | None:
        """Return the version of one side."""
        return self.ours if name == "ours" else self.theirs


class ConflictedMerge(NamedTuple):
    """Result of a merge with conflicts."""

    tree: str
    """The tree with the files that have no conflicts; files with conflicts contain markers."""
    files: tuple[ConflictedFile, ...]


def conflicts_between(repository: Repository, ours: str, theirs: str) -> tuple[ConflictedFile, ...]:
    """Return the files that conflict when two commits are merged, without leaving objects behind."""
    with temporary_objects(repository) as env:
        return _parse(merge_with_conflicts(repository, ours, theirs, env)).files


def commit_resolution(
    repository: Repository,
    ours: str,
    theirs: str,
    resolved: Mapping[bytes, TreeLeaf | bytes | None],
    metadata: CommitMetadata,
) -> str:
    """Write a merge commit in which each conflicting file has the given version, content, or is deleted.

    Raises ``CannotResolve`` if a conflicting file is missing in ``resolved``.
    """
    merge = _parse(merge_with_conflicts(repository, ours, theirs))
    missing = [file.path for file in merge.files if file.path not in resolved]
    if missing:
        raise CannotResolve(f"{missing[0].decode(errors='replace')} has conflicts that are not resolved.")
    builder, objects = TreeBuilder(repository, merge.tree), NewObjects()
    for file in merge.files:
        _put(builder, objects, file, resolved[file.path])
    tree = builder.finish(objects)
    commit = objects.add("commit", commit_content(tree, [ours, theirs], metadata))
    special = any(is_git_special_file(file.path.decode(errors="replace")) for file in merge.files)
    try:
        objects.store(repository, checked=special)
    except InvalidObjects as error:
        raise CannotResolve("git rejects the content of a file that it reads itself, such as .gitmodules") from error
    return commit


def _put(builder: TreeBuilder, objects: NewObjects, file: ConflictedFile, resolution: TreeLeaf | bytes | None) -> None:
    if isinstance(resolution, bytes):
        mode = (file.ours or file.theirs or TreeLeaf(FILE, "")).mode
        resolution = TreeLeaf(mode if mode in (FILE, EXECUTABLE) else FILE, objects.add("blob", resolution))
    try:
        if resolution is not None:
            builder.put(file.path, resolution)
        elif builder.find(file.path) is not None:
            builder.remove(file.path)
    except PathConflict as error:
        raise CannotResolve("A file and a folder have the same name. Resolve the conflict locally.") from error


def _parse(output: bytes) -> ConflictedMerge:
    tree, *entries = output.rstrip(b"\0").split(b"\0")
    stages: dict[bytes, dict[bytes, TreeLeaf]] = {}
    for entry in entries:
        details, _, path = entry.partition(b"\t")
        mode, oid, stage = details.split(b" ")
        stages.setdefault(path, {})[stage] = TreeLeaf(mode, oid.decode())
    files = [
        ConflictedFile(path, versions.get(b"1"), versions.get(b"2"), versions.get(b"3"))
        for path, versions in stages.items()
    ]
    return ConflictedMerge(tree.decode(), tuple(files))


def merged_hunks(repository: Repository, file: ConflictedFile) -> tuple[ConflictHunk, ...] | None:
    """Merge the versions of a file line by line; None if it is not a text file on both sides, or is large."""
    if file.ours is None or file.theirs is None:
        return None
    versions = [_text_or_none(repository, version) for version in (file.base, file.ours, file.theirs)]
    base, ours, theirs = versions
    if base is None or ours is None or theirs is None:
        return None
    hunks = _hunks(file.path, _merge_file(repository, ours, base, theirs))
    return _without_added_newline(hunks, ours, theirs)


def _text_or_none(repository: Repository, version: TreeLeaf | None) -> bytes | None:
    if version is None:
        return b""
    if version.mode in (LINK, SUBMODULE):
        return None
    blob = read_blob(repository, version.oid)
    if blob.body is None or blob.size > MAX_MERGED_BYTES or b"\0" in blob.body:
        return None
    try:
        blob.body.decode()
    except UnicodeDecodeError:
        return None
    return blob.body


def _merge_file(repository: Repository, ours: bytes, base: bytes, theirs: bytes) -> bytes:
    with _files(ours, base, theirs) as paths:
        result = run_git(
            ["merge-file", "-p", "-q", f"--marker-size={_MARKER_SIZE}", "-L", "ours", "-L", "base", "-L", "theirs"],
            repository.path,
            operands=[str(path) for path in paths],
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    if result.status > _MAX_CONFLICTS or result.status < 0:
        raise git_error("merge-file", result.status, result.stderr, repository.path)
    return result.out


@contextmanager
def _files(*contents: bytes) -> Iterator[list[Path]]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / str(number) for number in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        yield paths


def _hunks(path: bytes, merged: bytes) -> tuple[ConflictHunk, ...]:
    begin, middle, end = (
        f"{sign * _MARKER_SIZE}{label}" for sign, label in (("<", " ours"), ("=", ""), (">", " theirs"))
    )
    hunks: list[ConflictHunk] = []
    common: list[str] = []
    sides: list[list[str]] = []
    for line in _lines(merged.decode()):
        mark = line.rstrip("\r\n")
        if mark == begin:
            if common:
                hunks.append(ConflictHunk(False, tuple(common), tuple(common)))
            common, sides = [], [[]]
        elif mark == middle and len(sides) == 1:
            sides.append([])
        elif mark == end and len(sides) == 2:
            hunks.append(_conflict(path, len(hunks), *sides))
            sides = []
        elif sides:
            sides[-1].append(line)
        else:
            common.append(line)
    if common:
        hunks.append(ConflictHunk(False, tuple(common), tuple(common)))
    return tuple(hunks)


def _lines(text: str) -> list[str]:
    """Split a text after line feeds only, as git does."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _conflict(path: bytes, number: int, ours: Sequence[str], theirs: Sequence[str]) -> ConflictHunk:
    digest = hashlib.blake2b(b"\0".join([path, str(number).encode()]), digest_size=10)
    digest.update(repr((list(ours), list(theirs))).encode())
    return ConflictHunk(True, tuple(ours), tuple(theirs), digest.hexdigest())


def _without_added_newline(hunks: tuple[ConflictHunk, ...], ours: bytes, theirs: bytes) -> tuple[ConflictHunk, ...]:
    """Remove the newline that git adds to the last line of a conflict if the file ends without one."""
    if not hunks or not hunks[-1].conflict:
        return hunks
    sides = [
        (*lines[:-1], lines[-1].removesuffix("\n")) if lines and not content.endswith(b"\n") else lines
        for lines, content in ((hunks[-1].ours, ours), (hunks[-1].theirs, theirs))
    ]
    return (*hunks[:-1], hunks[-1]._replace(ours=sides[0], theirs=sides[1]))


def resolved_text(hunks: Sequence[ConflictHunk], choices: Mapping[str, Side]) -> bytes:
    """Return the file with the chosen side of each conflict; raise ``CannotResolve`` if a choice is missing."""
    pieces: list[str] = []
    for hunk in hunks:
        choice = choices.get(hunk.id) if hunk.conflict else "ours"
        if choice is None:
            raise CannotResolve("Choose a side for each conflict.")
        pieces.extend(hunk.ours if choice == "ours" else hunk.theirs)
    return "".join(pieces).encode()
