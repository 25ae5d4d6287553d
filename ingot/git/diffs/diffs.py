"""What lies between two commits, file by file, as git shows it; bounded, however large it is."""

import re
from typing import NamedTuple

import msgspec

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitTimeout
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.diffs.stats import MAX_TEXT_BYTES
from ingot.git.history.commits import decode_text
from ingot.offload import require_blocking_allowed

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""git knows it in every repository."""
_MAX_TEXT_BYTES = 32 * 2**20
_MAX_SCANNED_BYTES = 256 * 2**20
_SECONDS = 30.0
_MAX_INLINE_BYTES = 512 * 1024
_CHANGE_BYTES = 400
_NO_BLOB = b"0" * 40
_ENTRY = re.compile(rb":(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) (?P<status>[A-Z])\d*\0(?P<path>[^\0]+)\0")
_SECOND_PATH = re.compile(rb"(?P<path>[^\0]+)\0")
_PATCH_START = b"\ndiff --git "
_PATCH_BODY = re.compile(rb"^(?:---|Binary)", re.MULTILINE)
_BINARY = b"Binary"


class DiffLimits(NamedTuple):
    """How much is shown; the rest is named without its lines."""

    listed: int = 20_000
    files: int = 1_000
    patch_bytes: int = 200 * 1024
    lines: int = 50_000
    bytes: int = 5 * 2**20


DEFAULT_LIMITS = DiffLimits()


class FileDiff(msgspec.Struct, frozen=True):
    """One file in a diff; paths stay as git has them, modes are octal and ``0`` where there is no file."""

    old_path: bytes
    new_path: bytes
    a_mode: str
    b_mode: str
    new_file: bool
    renamed_file: bool
    deleted_file: bool
    diff: str = ""
    """From the line of the old name on; empty where only the name or the mode changed."""
    too_large: bool = False
    """Whether the lines are left out because there are too many in this file."""
    collapsed: bool = False
    """Whether they are left out because the files before it have used up what one diff may show."""


class Diff(msgspec.Struct, frozen=True):
    """The files that changed, in git's order."""

    changes: tuple[FileDiff, ...]
    overflow: bool = False
    """Whether there is more than is shown here."""
    size: int = 0
    """How many bytes it takes in memory, about."""


_diff_cache: BoundedCache[tuple[str, str | None, str, DiffLimits], Diff] = declare_cache("diffs", share=8)


def diff_between(repository: Repository, old: str | None, new: str, limits: DiffLimits = DEFAULT_LIMITS) -> Diff:
    """What leads from one commit to another, or from nothing to it; kept, since it cannot change."""
    key = str(repository.path), old, new, limits
    known = _diff_cache.get(key)
    if known is None:
        known = _read_diff(repository, old or EMPTY_TREE, new, limits)
        _diff_cache.put(key, known, known.size + 400)
    if known.size > _MAX_INLINE_BYTES:
        require_blocking_allowed()  # For what is done with it next: writing it as JSON.
    return known


def _cached_size(change: FileDiff) -> int:
    # Text with a character beyond Latin-1 takes two or four bytes for each of them.
    return _CHANGE_BYTES + len(change.old_path) + len(change.new_path) + change.diff.__sizeof__()


def _read_diff(repository: Repository, old: str, new: str, limits: DiffLimits) -> Diff:
    gathered = _DiffParser(limits)
    args = ["diff-tree", "-r", "-M", "--raw", "-p", "-z", "--no-ext-diff", "--no-textconv", "--no-color"]
    try:
        run_git(
            [*args, "--src-prefix=a/", "--dst-prefix=b/", old, new, "--"],
            repository.path,
            timeout=_SECONDS,
            config=[MAX_TEXT_BYTES, ("core.quotePath", "false")],
            on_stdout=gathered.take,
        )
        gathered.end()
    except _DiffLimitReached:
        pass
    except GitTimeout:
        if not gathered.listed:
            raise
    return gathered.diff(repository)


class _DiffLimitReached(Exception):
    """Nothing that git still has to say would be shown."""


class _DiffEntry(NamedTuple):
    change: FileDiff
    blobs: tuple[bytes, ...]


class _Patch(NamedTuple):
    text: bytes
    too_large: bool


class _DiffParser:
    """Takes git's output in pieces: first the list of files, then their patches in the same order.

    Of a patch that is too large only a part is held, so memory is bounded by the limits and not by git.
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
        """Look at what git says next."""
        self._scanned += len(piece)
        self._rest += piece
        if not self.listed:
            self._parse_list()
        if self.listed:
            self._parse_patches()
        if self._scanned > _MAX_SCANNED_BYTES:
            raise _DiffLimitReached

    def end(self) -> None:
        """Nothing comes any more, so what has come of the last patch is all of it."""
        self._append(self._rest)
        if self._patch_size:
            self._end_patch()

    def diff(self, repository: Repository) -> Diff:
        """What is shown of it."""
        changes = [_with_patch(repository, *pair) for pair in zip(self._files, self._patches, strict=False)]
        hidden = [msgspec.structs.replace(file.change, collapsed=True) for file in self._files[len(changes) :]]
        return Diff((*changes, *hidden), bool(hidden) or self._dropped, sum(map(_cached_size, [*changes, *hidden])))

    def _parse_list(self) -> None:
        at = 0
        while at < len(self._rest):
            if self._rest[at] == 0:
                self.listed = True
                at += 1
                break
            entry = _ENTRY.match(self._rest, at)
            renamed = entry is not None and entry["status"] in b"RC"
            second = _SECOND_PATH.match(self._rest, entry.end()) if entry is not None and renamed else entry
            if entry is None or second is None:
                break
            self._list(_files(entry, second["path"]))
            at = second.end()
        self._rest = self._rest[at:]

    def _list(self, files: list[_DiffEntry]) -> None:
        if len(self._files) < self._limits.listed:
            self._files += files
        else:
            self._dropped = True

    def _parse_patches(self) -> None:
        begins = 0
        while (newline := self._rest.find(_PATCH_START, begins)) >= 0:
            self._append(self._rest[begins : newline + 1])
            self._end_patch()
            begins = newline + 1
        # The beginning of the next one may be cut in two by the end of this piece.
        safe = max(begins, len(self._rest) - len(_PATCH_START) + 1)
        self._append(self._rest[begins:safe])
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
    """The file of one entry; a file that became a link or a submodule is deleted and made anew, as in git's patches."""
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
    """Whether git took a file for a binary one only because of its size."""
    odb = open_repository(repository.path).odb
    sizes = [odb.read_header(oid.decode())[1] for oid in blobs if oid != _NO_BLOB]
    return max(sizes) >= _MAX_TEXT_BYTES


def _text(patch: bytes) -> str:
    try:
        return patch.decode()
    except UnicodeDecodeError:
        # Line by line, since files in another encoding stand beside names and lines that are UTF-8.
        return "".join(decode_text(line) for line in patch.splitlines(keepends=True))
