"""Diffs for pages: the files, their line counts, and as many rows as fit on one page."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from html import escape
from sys import getsizeof
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.markup.lexers import language_of
from ingot.core.offload import require_blocking_allowed
from ingot.repositories.commits.views import DiffView
from ingot.web.bidi import has_bidi_characters
from ingot.web.code.diff_gaps import GapContext
from ingot.web.code.patch_rows import DiffRow, parse_hunks, split_rows, unified_rows
from ingot.web.code.whitespace import without_whitespace_changes
from ingot.web.display_zone import current_language
from ingot.web.formats import with_query

_LINES_PER_SCREEN = 600
_FILES_PER_SCREEN = 20
_IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".ico", ".bmp")
_MAX_UNFOLDED_LINES = 800
"""Diffs of files with more lines are collapsed."""
_MAX_HIGHLIGHTED_LENGTH = 30_000
_MAX_HIGHLIGHTED_PER_PAGE = 40_000
_MAX_INLINE_LENGTH = 4_000
_ROW_BYTES = 300
"""Estimated memory of a row besides its HTML."""
_row_cache: BoundedCache["_RowCacheKey", list[DiffRow]] = declare_cache("diff-rows", share=5)

CommentableLines = Literal["no", "changed", "any"]
LineSlots = Mapping[tuple[str, int | None, int | None], Any]
"""Content below lines, such as discussions, by the new path of the file and the line's old and new number."""


class ImageVersions(NamedTuple):
    """URLs of an image before and after a change; empty where it does not exist."""

    old: str
    new: str


class DiffTarget(NamedTuple):
    """Base URL of the project, the commit at the new side of a diff and, for images, the one at the old side."""

    project_url: str
    commit: str
    old_commit: str = ""
    warns: bool = True
    """Whether the page warns of bidirectional control characters."""

    def images(self, item: DiffView) -> ImageVersions | None:
        """Return the URLs of the versions of an image, or None for other files."""
        if not item.diff.startswith("Binary") or not item.new_path.lower().endswith(_IMAGE_ENDINGS):
            return None
        old = "" if item.new_file or not self.old_commit else self._raw(self.old_commit, item.old_path)
        return ImageVersions(old, "" if item.deleted_file else self._raw(self.commit, item.new_path))

    def _raw(self, commit: str, path: str) -> str:
        return f"{self.project_url}/-/raw/{commit}/{quote(path)}"


class _RowCacheKey(NamedTuple):
    diff: str
    path: str
    anchor: str
    link: str
    same: str | None
    split: bool
    target: DiffTarget | None
    """Set only where the unchanged lines around the changes can be expanded."""
    page_language: str


class DiffFile(msgspec.Struct):
    """File of a diff."""

    number: int
    anchor: str
    old_path: str
    new_path: str
    added: int
    removed: int
    notes: list[str]
    """Descriptions of changes other than to lines, such as a rename."""
    empty_reason: str
    """Reason why no lines are shown, if there are none."""
    lines: int
    whole: str
    """URL of the page that shows all lines of the file."""
    start: str
    """URL of the page that starts with the file."""
    parts: list[tuple[Markup, list[Any]]] = []
    """Rows of the table, split after each line that has content below it, with that content."""
    collapsed: bool = False
    """True if the lines are omitted because there are too many."""
    on_this_page: bool = False
    """True if the lines of the file are on this page of the diff."""
    has_bidi: bool = False
    """True if the file contains characters that change the text direction."""
    digest: str = ""
    """Digest of the changes of the file; a mark as viewed counts only for the same changes."""
    viewed: bool = False
    """True if the viewer has marked these changes as viewed."""
    images: ImageVersions | None = None
    """Set if the file is an image whose versions can be shown."""

    @property
    def path(self) -> str:
        """Return the current path."""
        return self.new_path


class RenderedDiff(msgspec.Struct):
    """Page of a diff."""

    files: list[DiffFile]
    """All files of the diff."""
    shown: list[DiffFile]
    """Files on this page."""
    added: int
    removed: int
    split: bool
    whitespace: bool
    """False if changes of white space are left out."""
    whitespace_address: str
    """URL of the page with or without changes of white space."""
    part: bool
    """True if the query selects some of the files: a script then needs only their fragment."""
    unified_address: str
    split_address: str
    next_address: str = ""
    left: int = 0
    """Number of files after this page."""
    first: int = 0

    def line_at(self, name: Any) -> tuple[str, int | None, int | None] | None:
        """Return the line with this element id, in the form that comments use."""
        anchor, _, numbers = str(name or "").partition("_")
        old, _, new = numbers.partition("_")
        file = next((file for file in self.files if file.anchor == anchor), None)
        if file is None or not (old or new):
            return None
        return file.new_path, _number(old), _number(new)


def render_diff(
    items: Sequence[DiffView],
    query: dict[str, Any],
    *,
    slots: LineSlots | None = None,
    commentable: CommentableLines = "no",
    target: DiffTarget | None = None,
    viewed: Mapping[str, str] | None = None,
) -> RenderedDiff:
    """Render the files for a page.

    ``query`` contains the query parameters of the page: ``view=split`` shows old and new side by side, ``first`` starts
    with a later file, ``only`` shows one file. ``commentable`` names the lines that can be commented on (all lines, or
    changed lines only): their numbers link to the page with ``at``. With ``target`` the unchanged lines around the
    changes can be expanded. ``viewed`` holds the digests of the files that the viewer has marked as viewed.
    """
    params = {name: value for name, value in query.items() if name not in ("first", "only", "at", "from")}
    split = query.get("view") == "split"
    digests = [_digest(item, target) for item in items]
    whitespace = query.get("w") != "1"
    if not whitespace:
        items = [msgspec.structs.replace(item, diff=without_whitespace_changes(item.diff)) for item in items]
    files = _files(items, params, whitespace=whitespace)
    for file, digest in zip(files, digests, strict=True):
        file.digest = digest
        file.viewed = viewed is not None and viewed.get(file.new_path) == digest
    only, first = _number(query.get("only")), _number(query.get("first")) or 0
    shown = RenderedDiff(
        files=files,
        shown=files[first:] if only is None else files[only : only + 1],
        added=sum(file.added for file in files),
        removed=sum(file.removed for file in files),
        split=split,
        whitespace=whitespace,
        whitespace_address=with_query(params, w="1" if whitespace else None),
        part=only is not None or first > 0,
        unified_address=with_query(params, view=None),
        split_address=with_query(params, view="split"),
        first=first if only is None else 0,
    )
    link = "#" if commentable == "no" else escape(with_query(params, at=" ").removesuffix("+"))
    _fill_lines(
        shown,
        items,
        (link, "#" if commentable == "changed" else None),
        slots or {},
        target,
        everything=only is not None,
    )
    last = shown.shown[-1].number + 1 if shown.shown and only is None else len(files)
    if last < len(files):
        shown.left = len(files) - last
        shown.next_address = with_query(params, first=last)
    return shown


def _digest(item: DiffView, target: DiffTarget | None) -> str:
    """Return the digest of a file's changes; of a binary file only the commit tells whether it has changed."""
    version = target.commit if target and item.diff.startswith("Binary") else ""
    return blake2b(f"{item.b_mode} {version} {item.diff}".encode(errors="replace"), digest_size=16).hexdigest()


def _files(items: Sequence[DiffView], query: dict[str, Any], *, whitespace: bool = True) -> list[DiffFile]:
    files, taken = [], set()
    for number, item in enumerate(items):
        added, removed = count_changed_lines(item.diff)
        anchor = "d" + blake2b(item.new_path.encode(errors="replace"), digest_size=5).hexdigest()
        if anchor in taken:
            anchor += f"x{number}"
        taken.add(anchor)
        files.append(
            DiffFile(
                number=number,
                anchor=anchor,
                old_path=item.old_path,
                new_path=item.new_path,
                added=added,
                removed=removed,
                notes=_file_notes(item),
                empty_reason=_reason_without_lines(item, whitespace=whitespace),
                lines=item.diff.count("\n"),
                whole=with_query(query, only=number),
                start=with_query(query, first=number or None),
            )
        )
    return files


def count_changed_lines(diff: str) -> tuple[int, int]:
    """Return the number of lines that a patch adds and removes."""
    begins = 0 if diff.startswith("@@") else diff.find("\n@@")
    return (diff.count("\n+", begins), diff.count("\n-", begins)) if begins >= 0 else (0, 0)


def _file_notes(item: DiffView) -> list[str]:
    notes = []
    if item.new_file:
        notes.append("New file")
    if item.deleted_file:
        notes.append("Deleted")
    if item.renamed_file:
        notes.append(f"Renamed from {item.old_path}")
    if not item.new_file and not item.deleted_file and item.a_mode != item.b_mode:
        notes.append(f"Mode changed from {item.a_mode} to {item.b_mode}")
    notes += [note for mode, note in _KINDS.items() if mode in (item.a_mode, item.b_mode)]
    return notes


_KINDS = {"120000": "Symbolic link", "160000": "Submodule"}


def _reason_without_lines(item: DiffView, *, whitespace: bool) -> str:
    if item.too_large:
        return "This diff is too large to display."
    if item.collapsed:
        return "Not displayed, because the whole diff is too large."
    if item.diff.startswith("Binary"):
        return "Binary file, changes not displayed."
    if "@@" in item.diff:
        return ""
    if not whitespace and not item.diff and item.a_mode == item.b_mode:
        return "No changes other than white space."
    if item.renamed_file:
        return "Renamed without changes."
    if item.new_file or item.deleted_file:
        return "This file is empty."
    return "Only the file mode changed."


def _fill_lines(
    shown: RenderedDiff,
    items: Sequence[DiffView],
    links: tuple[str, str | None],
    slots: LineSlots,
    target: DiffTarget | None,
    *,
    everything: bool,
) -> None:
    """Add the rows of the files until the page is full."""
    commented_paths = {path for path, _, _ in slots}
    lines, colored, last = 0, 0, 0
    for last, file in enumerate(shown.shown, 1):
        item, file.on_this_page = items[file.number], True
        file.images = target.images(item) if target else None
        if not file.empty_reason:
            file.collapsed = file.lines > _MAX_UNFOLDED_LINES and not everything
        if not file.empty_reason and not file.collapsed:
            file.has_bidi = (target is None or target.warns) and has_bidi_characters(item.diff)
            row_target = (
                target._replace(old_commit="", warns=True)
                if target and not (item.new_file or item.deleted_file)
                else None
            )
            key = _RowCacheKey(
                item.diff, file.new_path, file.anchor, *links, shown.split, row_target, current_language()
            )
            rows = _row_cache.get(key)
            if rows is None:
                rows, cost = _cached_rows(key, colored)
                colored += cost
            file.parts = _split_at_slots(rows, file.new_path, slots if file.new_path in commented_paths else {})
            lines += file.lines
        if last >= _FILES_PER_SCREEN or lines >= _LINES_PER_SCREEN:
            break
    shown.shown = shown.shown[:last]


def _cached_rows(key: _RowCacheKey, colored: int) -> tuple[list[DiffRow], int]:
    """Return the rows of a file and the amount highlighted; rows over the page's highlighting limit are not cached."""
    diff, path, anchor, link, same, split, target, _ = key
    if len(diff) > _MAX_INLINE_LENGTH:
        require_blocking_allowed()
    language = language_of(path) if len(diff) <= _MAX_HIGHLIGHTED_LENGTH else ""
    now = bool(language) and colored + len(diff) <= _MAX_HIGHLIGHTED_PER_PAGE
    hunks, lasting = parse_hunks(diff, language if now else "")
    around = GapContext(target.project_url, target.commit, path, anchor, split) if target else None
    rows = (split_rows if split else unified_rows)(hunks, anchor, link, around, same)
    if lasting and (now or not language):
        _row_cache.put(key, rows, getsizeof(diff) + 500 + sum(getsizeof(row.html) + _ROW_BYTES for row in rows))
    return rows, len(diff) if now else 0


def _split_at_slots(rows: list[DiffRow], path: str, slots: LineSlots) -> list[tuple[Markup, list[Any]]]:
    if not slots:
        return [(_markup([row.html for row in rows]), [])]
    parts: list[tuple[Markup, list[Any]]] = []
    html: list[str] = []
    for row in rows:
        html.append(row.html)
        content = [slots[path, *key] for key in row.keys if (path, *key) in slots]
        if content:
            parts.append((_markup(html), content))
            html = []
    return [*parts, (_markup(html), [])]


def _markup(html: list[str]) -> Markup:
    return Markup("".join(html))  # noqa: S704 - The rows are made of escaped text.


def _number(value: Any) -> int | None:
    return int(value[:9]) if isinstance(value, str) and value.isascii() and value.isdigit() else None
