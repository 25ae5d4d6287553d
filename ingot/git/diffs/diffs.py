"""Diffs between two commits, file by file, within limits, cached by commit pair."""

import re
from typing import NamedTuple

import msgspec

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.log import log_failure
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitLimitReached
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.diffs.stats import MAX_TEXT_BYTES
from ingot.git.diffs.tree_changes import EMPTY_TREE, EntryChange, has_too_many_changes, list_first_changes
from ingot.git.history.commits import decode_text

_MAX_TEXT_BYTES = 32 * 2**20
_MAX_SCANNED_BYTES = 256 * 2**20
_SECONDS = 20.0
_MAX_MEMORY = 2**30
_MAX_INLINE_BYTES = 512 * 1024
_CHANGE_BYTES = 400
_NO_BLOB = b"0" * 40
_ENTRY = re.compile(rb":(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) (?P<status>[A-Z])\d*\0(?P<path>[^\0]+)\0")
_SECOND_PATH = re.compile(rb"(?P<path>[^\0]+)\0")
_PATCH_START = b"\ndiff --git "
_PATCH_BODY = re.compile(rb"^(?:---|Binary)", re.MULTILINE)
_BINARY = b"Binary"


class DiffLimits(NamedTuple):
    """Limits of a diff; files beyond them are listed without their lines."""

    listed: int = 20_000
    files: int = 1_000
    patch_bytes: int = 200 * 1024
    lines: int = 50_000
    bytes: int = 5 * 2**20


DEFAULT_LIMITS = DiffLimits()


class FileDiff(msgspec.Struct, frozen=True):
    """One file of a diff. Paths are raw bytes; modes are octal, ``0`` where the file does not exist."""

    old_path: bytes
    new_path: bytes
    a_mode: str
    b_mode: str
    new_file: bool
    renamed_file: bool
    deleted_file: bool
    diff: str = ""
    """Starts with the ``---`` line; empty if only the name or mode changed."""
    too_large: bool = False
    """The lines are omitted because this file exceeds the limit per file."""
    collapsed: bool = False
    """The lines are omitted because the previous files have used up the limit of the diff."""


class Diff(msgspec.Struct, frozen=True):
    """The changed files in git's order."""

    changes: tuple[FileDiff, ...]
    overflow: bool = False
    """Some files or lines are omitted."""
    size: int = 0
    """Approximate size in memory in bytes."""


_diff_cache: BoundedCache[tuple[str, str | None, str, DiffLimits], Diff] = declare_cache("diffs", share=5)


def diff_between(repository: Repository, old: str | None, new: str, limits: DiffLimits = DEFAULT_LIMITS) -> Diff:
    """Return the diff between two commits, or from the empty tree; cached, since it never changes."""
    key = str(repository.path), old, new, limits
    diff = _diff_cache.get(key)
    if diff is None:
        diff = _read_diff(repository, old or EMPTY_TREE, new, limits)
        _diff_cache.put(key, diff, diff.size + 400)
    if diff.size > _MAX_INLINE_BYTES:
        require_blocking_allowed()  # Encoding it as JSON would block the event loop.
    return diff


def _cached_size(change: FileDiff) -> int:
    # Text with a character beyond Latin-1 takes two or four bytes per character.
    return _CHANGE_BYTES + len(change.old_path) + len(change.new_path) + change.diff.__sizeof__()


def _read_diff(repository: Repository, old: str, new: str, limits: DiffLimits) -> Diff:
    if has_too_many_changes(repository, old, new):
        return _first_files(repository, old, new, limits)
    parser = _DiffParser(limits)
    args = ["diff-tree", "-r", "-M", "--raw", "-p", "-z", "--no-ext-diff", "--no-textconv", "--no-color"]
    try:
        run_git(
            [*args, "--src-prefix=a/", "--dst-prefix=b/", old, new, "--"],
            repository.path,
            timeout=_SECONDS,
            config=[MAX_TEXT_BYTES, ("core.quotePath", "false")],
            max_memory=_MAX_MEMORY,
            on_stdout=parser.take,
        )
        parser.end()
    except _DiffLimitReached:
        pass
    except GitLimitReached as error:
        log_failure("diff not complete", error)
        if not parser.listed:
            return _first_files(repository, old, new, limits)
    return parser.diff(repository)


def _first_files(repository: Repository, old: str, new: str, limits: DiffLimits) -> Diff:
    """Return the first changed files without their lines, for a diff that git cannot compute within its limits."""
    changes = tuple(map(_collapsed_file, list_first_changes(repository, old, new, limits.files)))
    return Diff(changes, overflow=True, size=sum(map(_cached_size, changes)))


def _collapsed_file(change: EntryChange) -> FileDiff:
    old, new = change
    path = new.path if new is not None else old.path if old is not None else b""
    return FileDiff(
        path,
        path,
        f"{old.mode:o}" if old is not None else "0",
        f"{new.mode:o}" if new is not None else "0",
        new_file=old is None,
        renamed_file=False,
        deleted_file=new is None,
        collapsed=True,
    )


class _DiffLimitReached(Exception):
    """The remaining output of git exceeds the limits and would not be shown."""


class _DiffEntry(NamedTuple):
    change: FileDiff
    blobs: tuple[bytes, ...]


class _Patch(NamedTuple):
    text: bytes
    too_large: bool


class _DiffParser:
    """Incremental parser of git's output: first the list of files, then their patches in the same order.

    Of a patch that is too large only a part is held, so memory is bounded by the limits.
    """

    def __init__(self, limits: DiffLimits) -> None:
        self.listed = False
        self._limits = limits
        self._files: list[_DiffEntry] = []
        self._patches: list[_Patch] = []
        self._rest = b""
        self._patch = bytearray()
        self._patch_size = 0
        self._scanned = self._lines = self._bytes = 0
        self._dropped = False

    def take(self, piece: bytes) -> None:
        """Parse a further chunk of output."""
        self._scanned += len(piece)
        self._rest += piece
        if not self.listed:
            self._parse_list()
        if self.listed:
            self._parse_patches()
        if self._scanned > _MAX_SCANNED_BYTES:
            raise _DiffLimitReached

    def end(self) -> None:
        """Finish the last patch at the end of the output."""
        self._append(self._rest)
        if self._patch_size:
            self._end_patch()

    def diff(self, repository: Repository) -> Diff:
        """Return the parsed diff."""
        changes = [_with_patch(repository, *pair) for pair in zip(self._files, self._patches, strict=False)]
        hidden = [msgspec.structs.replace(file.change, collapsed=True) for file in self._files[len(changes) :]]
        return Diff((*changes, *hidden), bool(hidden) or self._dropped, sum(map(_cached_size, [*changes, *hidden])))

    def _parse_list(self) -> None:
        position = 0
        while position < len(self._rest):
            if self._rest[position] == 0:
                self.listed = True
                position += 1
                break
            entry = _ENTRY.match(self._rest, position)
            renamed = entry is not None and entry["status"] in b"RC"
            second = _SECOND_PATH.match(self._rest, entry.end()) if entry is not None and renamed else entry
            if entry is None or second is None:
                break
            self._list(_files(entry, second["path"]))
            position = second.end()
        self._rest = self._rest[position:]

    def _list(self, files: list[_DiffEntry]) -> None:
        if len(self._files) < self._limits.listed:
            self._files += files
        else:
            self._dropped = True

    def _parse_patches(self) -> None:
        start = 0
        while (newline := self._rest.find(_PATCH_START, start)) >= 0:
            self._append(self._rest[start : newline + 1])
            self._end_patch()
            start = newline + 1
        # The start of the next patch may be split across chunks.
        safe = max(start, len(self._rest) - len(_PATCH_START) + 1)
        self._append(self._rest[start:safe])
        self._rest = self._rest[safe:]

    def _append(self, part: bytes) -> None:
        self._patch_size += len(part)
        self._patch += part[: max(0, 2 * self._limits.patch_bytes - len(self._patch))]

    def _end_patch(self) -> None:
        patch, size = bytes(self._patch), self._patch_size
        self._patch.clear()
        self._patch_size = 0
        body = _PATCH_BODY.search(patch)
        header = body.start() if body else size
        if size - header > self._limits.patch_bytes:
            self._patches.append(_Patch(b"", too_large=True))
        else:
            self._show(patch[header:])
        if len(self._patches) >= self._limits.files:
            raise _DiffLimitReached

    def _show(self, text: bytes) -> None:
        self._lines += text.count(b"\n")
        self._bytes += len(text)
        if self._lines > self._limits.lines or self._bytes > self._limits.bytes:
            raise _DiffLimitReached
        self._patches.append(_Patch(text, too_large=False))


def _files(entry: "re.Match[bytes]", new_path: bytes) -> list[_DiffEntry]:
    """Return the file of one entry; a change of type is a deletion and a creation, as in git's patches."""
    old_mode, new_mode, old, new, status, path = entry.groups()
    before, after = _mode(old_mode), _mode(new_mode)
    if status == b"T":
        deleted = FileDiff(path, path, before, "0", new_file=False, renamed_file=False, deleted_file=True)
        created = FileDiff(path, path, "0", after, new_file=True, renamed_file=False, deleted_file=False)
        return [_DiffEntry(deleted, (old,)), _DiffEntry(created, (new,))]
    change = FileDiff(
        path,
        new_path,
        before,
        after,
        new_file=status == b"A",
        renamed_file=status == b"R",
        deleted_file=status == b"D",
    )
    return [_DiffEntry(change, (old, new))]


def _mode(octal: bytes) -> str:
    return octal.decode().lstrip("0") or "0"


def _with_patch(repository: Repository, file: _DiffEntry, patch: _Patch) -> FileDiff:
    if patch.too_large or (patch.text.startswith(_BINARY) and _is_over_text_limit(repository, file.blobs)):
        return msgspec.structs.replace(file.change, too_large=True)
    return msgspec.structs.replace(file.change, diff=_text(patch.text))


def _is_over_text_limit(repository: Repository, blobs: tuple[bytes, ...]) -> bool:
    """Return whether git treated a file as binary only because of its size."""
    odb = open_repository(repository.path).odb
    sizes = [odb.read_header(oid.decode())[1] for oid in blobs if oid != _NO_BLOB]
    return max(sizes) >= _MAX_TEXT_BYTES


def _text(patch: bytes) -> str:
    try:
        return patch.decode()
    except UnicodeDecodeError:
        # Decode by line, since lines in other encodings may be next to lines and names in UTF-8.
        return "".join(decode_text(line) for line in patch.splitlines(keepends=True))
