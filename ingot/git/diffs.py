"""What lies between two commits, file by file, as git shows it; bounded, however large it is."""

import re
from typing import NamedTuple

import msgspec

from ingot.git.command import run_git
from ingot.git.commits import decoded
from ingot.git.faults import GitTimedOut
from ingot.git.keeping import Keeper
from ingot.git.library import open_repository
from ingot.git.repository import Repository
from ingot.git.stats import LARGEST_TEXT
from ingot.inline import expect_a_wait

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""git knows it in every repository."""
_LARGEST_TEXT_BYTES = 32 * 2**20
_MOST_SCANNED = 256 * 2**20
_SECONDS = 30.0
_KEPT_BYTES = 32 * 2**20
_LONGEST_INLINE = 512 * 1024
_CHANGE_BYTES = 400
_NO_BLOB = b"0" * 40
_ENTRY = re.compile(rb":(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) (?P<status>[A-Z])\d*\0(?P<path>[^\0]+)\0")
_SECOND_PATH = re.compile(rb"(?P<path>[^\0]+)\0")
_BEGINNING = b"\ndiff --git "
_BODY = re.compile(rb"^(?:---|Binary)", re.MULTILINE)
_BINARY = b"Binary"


class Limits(NamedTuple):
    """How much is shown; the rest is named without its lines."""

    listed: int = 20_000
    files: int = 1_000
    patch_bytes: int = 200 * 1024
    lines: int = 50_000
    bytes: int = 5 * 2**20


LIMITS = Limits()


class Change(msgspec.Struct, frozen=True):
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

    changes: tuple[Change, ...]
    overflow: bool = False
    """Whether there is more than is shown here."""
    size: int = 0
    """How many bytes it takes in memory, about."""


_kept: Keeper[Diff] = Keeper(_KEPT_BYTES)


def diff_between(repository: Repository, old: str | None, new: str, limits: Limits = LIMITS) -> Diff:
    """What leads from one commit to another, or from nothing to it; kept, since it cannot change."""
    key = str(repository.path), old, new, limits
    known = _kept.get(key)
    if known is None:
        known = _read(repository, old or EMPTY_TREE, new, limits)
        _kept.keep(key, known, known.size)
    if known.size > _LONGEST_INLINE:
        expect_a_wait()  # For what is done with it next: writing it as JSON.
    return known


def _size(change: Change) -> int:
    # Text with a character beyond Latin-1 takes two or four bytes for each of them.
    return _CHANGE_BYTES + len(change.old_path) + len(change.new_path) + change.diff.__sizeof__()


def _read(repository: Repository, old: str, new: str, limits: Limits) -> Diff:
    gathered = _Gathered(limits)
    args = ["diff-tree", "-r", "-M", "--raw", "-p", "-z", "--no-ext-diff", "--no-textconv", "--no-color"]
    try:
        run_git(
            [*args, "--src-prefix=a/", "--dst-prefix=b/", old, new, "--"],
            repository.path,
            timeout=_SECONDS,
            config=[LARGEST_TEXT, ("core.quotePath", "false")],
            on_out=gathered.take,
        )
        gathered.end()
    except _Enough:
        pass
    except GitTimedOut:
        if not gathered.listed:
            raise
    return gathered.diff(repository)


class _Enough(Exception):
    """Nothing that git still has to say would be shown."""


class _File(NamedTuple):
    change: Change
    blobs: tuple[bytes, ...]


class _Patch(NamedTuple):
    text: bytes
    too_large: bool


class _Gathered:
    """Takes git's output in pieces: first the list of files, then their patches in the same order.

    Of a patch that is too large only a part is held, so memory is bounded by the limits and not by git.
    """

    def __init__(self, limits: Limits) -> None:
        self.listed = False
        self._limits = limits
        self._files: list[_File] = []
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
            self._take_list()
        if self.listed:
            self._take_patches()
        if self._scanned > _MOST_SCANNED:
            raise _Enough

    def end(self) -> None:
        """Nothing comes any more, so what has come of the last patch is all of it."""
        self._append(self._rest)
        if self._patch_size:
            self._end_patch()

    def diff(self, repository: Repository) -> Diff:
        """What is shown of it."""
        changes = [_with_patch(repository, *pair) for pair in zip(self._files, self._patches, strict=False)]
        hidden = [msgspec.structs.replace(file.change, collapsed=True) for file in self._files[len(changes) :]]
        return Diff((*changes, *hidden), bool(hidden) or self._dropped, sum(map(_size, [*changes, *hidden])))

    def _take_list(self) -> None:
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

    def _list(self, files: list[_File]) -> None:
        if len(self._files) < self._limits.listed:
            self._files += files
        else:
            self._dropped = True

    def _take_patches(self) -> None:
        begins = 0
        while (newline := self._rest.find(_BEGINNING, begins)) >= 0:
            self._append(self._rest[begins : newline + 1])
            self._end_patch()
            begins = newline + 1
        # The beginning of the next one may be cut in two by the end of this piece.
        safe = max(begins, len(self._rest) - len(_BEGINNING) + 1)
        self._append(self._rest[begins:safe])
        self._rest = self._rest[safe:]

    def _append(self, part: bytes) -> None:
        self._patch_size += len(part)
        self._patch += part[: max(0, 2 * self._limits.patch_bytes - len(self._patch))]

    def _end_patch(self) -> None:
        patch, size = bytes(self._patch), self._patch_size
        self._patch.clear()
        self._patch_size = 0
        body = _BODY.search(patch)
        header = body.start() if body else size
        if size - header > self._limits.patch_bytes:
            self._patches.append(_Patch(b"", too_large=True))
        else:
            self._show(patch[header:])
        if len(self._patches) >= self._limits.files:
            raise _Enough

    def _show(self, text: bytes) -> None:
        self._lines += text.count(b"\n")
        self._bytes += len(text)
        if self._lines > self._limits.lines or self._bytes > self._limits.bytes:
            raise _Enough
        self._patches.append(_Patch(text, too_large=False))


def _files(entry: "re.Match[bytes]", new_path: bytes) -> list[_File]:
    """The file of one entry; a file that became a link or a submodule is deleted and made anew, as in git's patches."""
    old_mode, new_mode, old, new, status, path = entry.groups()
    before, after = _mode(old_mode), _mode(new_mode)
    if status == b"T":
        deleted = Change(path, path, before, "0", new_file=False, renamed_file=False, deleted_file=True)
        created = Change(path, path, "0", after, new_file=True, renamed_file=False, deleted_file=False)
        return [_File(deleted, (old,)), _File(created, (new,))]
    change = Change(
        path,
        new_path,
        before,
        after,
        new_file=status == b"A",
        renamed_file=status == b"R",
        deleted_file=status == b"D",
    )
    return [_File(change, (old, new))]


def _mode(octal: bytes) -> str:
    return octal.decode().lstrip("0") or "0"


def _with_patch(repository: Repository, file: _File, patch: _Patch) -> Change:
    if patch.too_large or (patch.text.startswith(_BINARY) and _is_huge(repository, file.blobs)):
        return msgspec.structs.replace(file.change, too_large=True)
    return msgspec.structs.replace(file.change, diff=_text(patch.text))


def _is_huge(repository: Repository, blobs: tuple[bytes, ...]) -> bool:
    """Whether git took a file for a binary one only because of its size."""
    odb = open_repository(repository.path).odb
    sizes = [odb.read_header(oid.decode())[1] for oid in blobs if oid != _NO_BLOB]
    return max(sizes) >= _LARGEST_TEXT_BYTES


def _text(patch: bytes) -> str:
    try:
        return patch.decode()
    except UnicodeDecodeError:
        # Line by line, since files in another encoding stand beside names and lines that are UTF-8.
        return "".join(decoded(line) for line in patch.splitlines(keepends=True))
