"""What a folder holds, as rows of a table, each with the commit that changed it last."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Literal, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from ingot.db.times import Timestamp
from ingot.git.commits import read_commits
from ingot.git.entries import Entry
from ingot.git.folder_commits import known_commits, last_commits
from ingot.git.remembered import Remembered
from ingot.repository.commits.views import shown_time, shown_title
from ingot.repository.trees.views import TreeEntryView, entry_view
from ingot.web.code.where import Where
from ingot.web.saying import ago, exactly

Effort = Literal["known", "short", "any"]
"""How much is done to find the commits: they are known already, it takes a moment, or it takes as long as it takes."""
_LINK = "120000"
_SHORT_SECONDS = 0.03
_UNTOLD = "<td></td><td></td>"
_told: Remembered[tuple[str, str, str, str, bytes, int], tuple[str, Markup]] = Remembered(500, 16 * 2**20)


class Entries(NamedTuple):
    """The rows of a table."""

    rows: Markup
    waiting: bool
    """Whether the commits are still to be found."""


def entry_rows(where: Where, entries: Sequence[Entry], now: Timestamp, effort: Effort) -> Entries:
    """One row for each; folders have many, so that no template loops. What they tell is kept for a minute."""
    if not entries:
        return Entries(Markup(), False)
    key = where.place.url, where.ref, where.commit, str(where.repository.path), entries[0].path, len(entries)
    kept = _told.get(key)
    if kept is not None and kept[0] == now[:16]:
        return Entries(kept[1], False)
    commits = _commits(where, entries, effort)
    cells = None if commits is None else _cells(where, entries, commits, now)
    rows = _rows([entry_view(entry) for entry in entries], where, cells)
    if cells is None:
        return Entries(rows, True)
    return Entries(_told.keep(key, (now[:16], rows), 2 * len(rows) + 500)[1], False)


def _commits(where: Where, entries: Sequence[Entry], effort: Effort) -> Mapping[bytes, str] | None:
    folder = entries[0].path.rpartition(b"/")[0]
    names = [entry.name for entry in entries]
    if effort == "known":
        return known_commits(where.repository, where.commit, folder, names)
    seconds = _SHORT_SECONDS if effort == "short" else None
    return last_commits(where.repository, where.commit, folder, names, seconds=seconds)


def _cells(where: Where, entries: Sequence[Entry], commits: Mapping[bytes, str], now: Timestamp) -> list[str]:
    """The title and the time of each entry's commit."""
    oids = list({commits[entry.name]: None for entry in entries if commits[entry.name]})
    told = {"": _UNTOLD}
    for commit in read_commits(where.repository, oids):
        time = shown_time(commit.committer)
        link = f'<a href="{escape(where.place.url)}/-/commit/{commit.oid}">{escape(shown_title(commit))}</a>'
        when = f'<time datetime="{time}" title="{exactly(time)}">{ago(time, now)}</time>'
        told[commit.oid] = f'<td class="said">{link}</td><td class="when">{when}</td>'
    return [told[commits[entry.name]] for entry in entries]


def _rows(entries: Sequence[TreeEntryView], where: Where, cells: list[str] | None) -> Markup:
    address = escape(f"{where.place.url}/-/%s/{quote(where.ref).replace('%', '%%')}/")
    folder, file = address % "tree", address % "blob"
    cells = cells or [_UNTOLD] * len(entries)
    rows = [f"<tr>{_name(entry, folder, file)}{cell}</tr>\n" for entry, cell in zip(entries, cells, strict=True)]
    return Markup("".join(rows))  # noqa: S704 - Each part is escaped.


def _name(entry: TreeEntryView, folder: str, file: str) -> str:
    name = escape(entry.name)
    if entry.type == "commit":
        said = f'<span class="hint">submodule at <span class="mono">{entry.id[:8]}</span></span>'
        return f'<td class="module">{name} {said}</td>'
    path = escape(quote(entry.path))
    if entry.type == "tree":
        return f'<td class="folder"><a href="{folder}{path}">{name}</a></td>'
    if entry.mode == _LINK:
        said = '<span class="hint">symbolic link</span>'
        return f'<td class="link"><a href="{file}{path}">{name}</a> {said}</td>'
    return f'<td class="file"><a href="{file}{path}">{name}</a></td>'
