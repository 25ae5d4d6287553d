"""Differences as pages show them: which files, how many lines of each, and as much of them as a screen needs."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from html import escape
from typing import Any, Literal, NamedTuple

import msgspec
from markupsafe import Markup

from ingot.git.remembered import Remembered
from ingot.inline import expect_a_wait
from ingot.markup.highlighting import language_of
from ingot.repository.commits.views import DiffView
from ingot.web.code.gaps import Around
from ingot.web.code.patches import Row, hunks_of, split_rows, unified_rows
from ingot.web.directions import turns
from ingot.web.saying import with_query

_LINES_OF_A_SCREEN = 1_000
_FILES_OF_A_SCREEN = 50
_LINES_OF_A_FILE = 800
"""A longer one is opened by whoever wants to see it."""
_LONGEST_COLORED = 30_000
_COLORED_AT_ONCE = 40_000
_LONGEST_INLINE = 4_000
_KEPT = 2_000
_KEPT_BYTES = 24 * 2**20
_rows: Remembered["_Key", list[Row]] = Remembered(_KEPT, _KEPT_BYTES)

Talk = Literal["no", "changed", "any"]
Slots = Mapping[tuple[str, int | None, int | None], Any]
"""What stands below lines, such as discussions, by the new path of the file and the line's old and new number."""


class Code(NamedTuple):
    """Where the new side of a difference is: the project's pages, and the commit."""

    place: str
    commit: str


class _Key(NamedTuple):
    diff: str
    path: str
    anchor: str
    link: str
    same: str | None
    split: bool
    code: Code | None
    """Only where the file goes on around what is shown."""


class DiffFile(msgspec.Struct):
    """One file of a difference."""

    number: int
    anchor: str
    old_path: str
    new_path: str
    added: int
    removed: int
    said: list[str]
    """What happened to it besides its lines, in words."""
    nothing: str
    """Why no lines are shown, where there are none."""
    lines: int
    whole: str
    """The address under which all of its lines are shown."""
    parts: list[tuple[Markup, list[Any]]] = []
    """Rows of the table, each time up to a line below which something stands, and that."""
    folded: bool = False
    """Whether its lines are left out because they are many."""
    here: bool = False
    """Whether it is on this screen."""
    turns: bool = False
    """Whether signs in it change the direction of writing."""

    @property
    def path(self) -> str:
        """Where it is now."""
        return self.new_path


class ShownDiff(msgspec.Struct):
    """A difference on one screen."""

    files: list[DiffFile]
    """All of them."""
    shown: list[DiffFile]
    """Those of this screen."""
    added: int
    removed: int
    split: bool
    part: bool
    """Whether only some files were asked for, so that a script wants no more than these."""
    unified_address: str
    split_address: str
    next_address: str = ""
    left: int = 0
    """How many files follow."""
    first: int = 0

    def line_at(self, name: Any) -> tuple[str, int | None, int | None] | None:
        """The line that the end of an address names, as comments know it."""
        anchor, _, numbers = str(name or "").partition("_")
        old, _, new = numbers.partition("_")
        file = next((file for file in self.files if file.anchor == anchor), None)
        if file is None or not (old or new):
            return None
        return file.new_path, _number(old), _number(new)


def shown_diff(
    items: Sequence[DiffView],
    query: dict[str, Any],
    *,
    slots: Slots | None = None,
    talk: Talk = "no",
    code: Code | None = None,
) -> ShownDiff:
    """What a page shows of these files.

    ``query`` is the page's own: ``view=split`` puts old and new beside each other, ``first`` begins with a later file,
    ``only`` shows one. With ``talk`` the number of a line leads to the page with ``at``, where one may write about it;
    some pages have comments on lines that changed alone. With ``code`` the lines around those can be had too.
    """
    asked = {name: value for name, value in query.items() if name not in ("first", "only", "at")}
    split = query.get("view") == "split"
    files = _files(items, asked)
    only, first = _number(query.get("only")), _number(query.get("first")) or 0
    shown = ShownDiff(
        files=files,
        shown=files[first:] if only is None else files[only : only + 1],
        added=sum(file.added for file in files),
        removed=sum(file.removed for file in files),
        split=split,
        part=only is not None or first > 0,
        unified_address=with_query(asked, view=None),
        split_address=with_query(asked, view="split"),
        first=first if only is None else 0,
    )
    link = "#" if talk == "no" else escape(with_query(asked, at=" ").removesuffix("+"))
    _fill(shown, items, (link, "#" if talk == "changed" else None), slots or {}, code, everything=only is not None)
    last = shown.shown[-1].number + 1 if shown.shown and only is None else len(files)
    if last < len(files):
        shown.left = len(files) - last
        shown.next_address = with_query(asked, first=last)
    return shown


def _files(items: Sequence[DiffView], query: dict[str, Any]) -> list[DiffFile]:
    files, taken = [], set()
    for number, item in enumerate(items):
        added, removed = counts_of(item.diff)
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
                said=_said(item),
                nothing=_nothing(item),
                lines=item.diff.count("\n"),
                whole=with_query(query, only=number),
            )
        )
    return files


def counts_of(diff: str) -> tuple[int, int]:
    """How many lines a patch adds and removes."""
    begins = 0 if diff.startswith("@@") else diff.find("\n@@")
    return (diff.count("\n+", begins), diff.count("\n-", begins)) if begins >= 0 else (0, 0)


def _said(item: DiffView) -> list[str]:
    said = []
    if item.new_file:
        said.append("New file")
    if item.deleted_file:
        said.append("Deleted")
    if item.renamed_file:
        said.append(f"Renamed from {item.old_path}")
    if not item.new_file and not item.deleted_file and item.a_mode != item.b_mode:
        said.append(f"Mode changed from {item.a_mode} to {item.b_mode}")
    said += [word for mode, word in _KINDS.items() if mode in (item.a_mode, item.b_mode)]
    return said


_KINDS = {"120000": "Symbolic link", "160000": "Submodule"}


def _nothing(item: DiffView) -> str:
    if item.too_large:
        return "This file is too large to show what changed in it."
    if item.collapsed:
        return "The changes before this one are so many that this one is not shown."
    if item.diff.startswith("Binary"):
        return "A binary file, whose changes cannot be shown."
    if "@@" in item.diff:
        return ""
    if item.renamed_file:
        return "Renamed, and nothing else changed."
    if item.new_file or item.deleted_file:
        return "An empty file."
    return "Only the mode changed."


def _fill(
    shown: ShownDiff,
    items: Sequence[DiffView],
    links: tuple[str, str | None],
    slots: Slots,
    code: Code | None,
    *,
    everything: bool,
) -> None:
    """Give the files their lines until the screen is full."""
    talked = {path for path, _, _ in slots}
    lines, colored, last = 0, 0, 0
    for last, file in enumerate(shown.shown, 1):
        item, file.here = items[file.number], True
        if not file.nothing:
            file.folded = file.lines > _LINES_OF_A_FILE and not everything
        if not file.nothing and not file.folded:
            file.turns = turns(item.diff)
            goes_on = code if not item.new_file and not item.deleted_file else None
            key = _Key(item.diff, file.new_path, file.anchor, *links, shown.split, goes_on)
            rows = _rows.get(key)
            if rows is None:
                rows, cost = _made(key, colored)
                colored += cost
            file.parts = _parts(rows, file.new_path, slots if file.new_path in talked else {})
            lines += file.lines
        if last >= _FILES_OF_A_SCREEN or lines >= _LINES_OF_A_SCREEN:
            break
    shown.shown = shown.shown[:last]


def _made(key: _Key, colored: int) -> tuple[list[Row], int]:
    """The rows of a file, and how much was coloured; what has colours only next time is not kept before."""
    diff, path, anchor, link, same, split, code = key
    if len(diff) > _LONGEST_INLINE:
        expect_a_wait()
    language = language_of(path) if len(diff) <= _LONGEST_COLORED else ""
    now = bool(language) and colored + len(diff) <= _COLORED_AT_ONCE
    hunks = hunks_of(diff, language if now else "")
    around = Around(code.place, code.commit, path, anchor, split) if code else None
    rows = (split_rows if split else unified_rows)(hunks, anchor, link, around, same)
    if now or not language:
        _rows.keep(key, rows, len(diff) + sum(len(row.html) + 150 for row in rows))
    return rows, len(diff) if now else 0


def _parts(rows: list[Row], path: str, slots: Slots) -> list[tuple[Markup, list[Any]]]:
    if not slots:
        return [(_markup([row.html for row in rows]), [])]
    parts: list[tuple[Markup, list[Any]]] = []
    html: list[str] = []
    for row in rows:
        html.append(row.html)
        found = [slots[path, *key] for key in row.keys if (path, *key) in slots]
        if found:
            parts.append((_markup(html), found))
            html = []
    return [*parts, (_markup(html), [])]


def _markup(html: list[str]) -> Markup:
    return Markup("".join(html))  # noqa: S704 - The rows are made of escaped text.


def _number(value: Any) -> int | None:
    return int(value[:9]) if isinstance(value, str) and value.isascii() and value.isdigit() else None
