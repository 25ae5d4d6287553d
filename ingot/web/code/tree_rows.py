"""Entries of a folder as table rows, each with its last commit."""

from collections.abc import Mapping, Sequence
from html import escape
from sys import getsizeof
from typing import Literal, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.db.times import Timestamp
from ingot.git.history.commits import read_commits
from ingot.git.history.folder_commits import cached_last_commits, last_commits
from ingot.git.trees.entries import TreeEntry
from ingot.repositories.commits.views import signature_time, truncated_title
from ingot.repositories.trees.views import TreeEntryView, entry_view
from ingot.web.code.location import CodeLocation
from ingot.web.display_zone import current_locale, time_element

CommitLookup = Literal["cached", "short", "any"]
"""Effort for finding the last commits: only cached ones, a short search, or a search without a time limit."""
_LINK = "120000"
_SHORT_SECONDS = 0.03
_EMPTY_CELLS = "<td></td><td></td>"
_Key = tuple[str, str, str, str, bytes, int, str]
_folder_cache: BoundedCache[_Key, tuple[str, Markup]] = declare_cache("folder-rows", share=4)


class EntryRows(NamedTuple):
    """Table rows of a folder."""

    rows: Markup
    waiting: bool
    """True if the last commits are still to be loaded."""


def entry_rows(location: CodeLocation, entries: Sequence[TreeEntry], now: Timestamp, effort: CommitLookup) -> EntryRows:
    """Render one row for each entry, without a template loop since folders can be large. Cached for a minute."""
    if not entries:
        return EntryRows(Markup(), False)
    key = (
        location.parent.url,
        location.ref,
        location.commit,
        str(location.repository.path),
        entries[0].path,
        len(entries),
        current_locale(),
    )
    cached = _folder_cache.get(key)
    if cached is not None and cached[0] == now[:16]:
        return EntryRows(cached[1], False)
    commits = _last_commits(location, entries, effort)
    cells = None if commits is None else _cells(location, entries, commits, now)
    rows = _rows([entry_view(entry) for entry in entries], location, cells)
    if cells is None:
        return EntryRows(rows, True)
    return EntryRows(_folder_cache.put(key, (now[:16], rows), getsizeof(rows) + 700)[1], False)


def _last_commits(
    location: CodeLocation, entries: Sequence[TreeEntry], effort: CommitLookup
) -> Mapping[bytes, str] | None:
    folder = entries[0].path.rpartition(b"/")[0]
    names = [entry.name for entry in entries]
    if effort == "cached":
        return cached_last_commits(location.repository, location.commit, folder, names)
    seconds = _SHORT_SECONDS if effort == "short" else None
    return last_commits(location.repository, location.commit, folder, names, seconds=seconds)


def _cells(
    location: CodeLocation, entries: Sequence[TreeEntry], commits: Mapping[bytes, str], now: Timestamp
) -> list[str]:
    """Render the title and the time of each entry's last commit."""
    oids = list({commits[entry.name]: None for entry in entries if commits[entry.name]})
    cells_by_commit = {"": _EMPTY_CELLS}
    for commit in read_commits(location.repository, oids):
        time = signature_time(commit.committer)
        link = f'<a href="{escape(location.parent.url)}/-/commit/{commit.oid}">{escape(truncated_title(commit))}</a>'
        when = time_element(time, now)
        cells_by_commit[commit.oid] = f'<td class="commit">{link}</td><td class="time">{when}</td>'
    return [cells_by_commit[commits[entry.name]] for entry in entries]


def _rows(entries: Sequence[TreeEntryView], location: CodeLocation, cells: list[str] | None) -> Markup:
    address = escape(f"{location.parent.url}/-/%s/{quote(location.ref).replace('%', '%%')}/")
    folder, file = address % "tree", address % "blob"
    cells = cells or [_EMPTY_CELLS] * len(entries)
    rows = [f"<tr>{_name(entry, folder, file)}{cell}</tr>\n" for entry, cell in zip(entries, cells, strict=True)]
    return Markup("".join(rows))  # noqa: S704 - Each part is escaped.


def _name(entry: TreeEntryView, folder: str, file: str) -> str:
    name = escape(entry.name)
    if entry.type == "commit":
        hint = f'<span class="hint">submodule at <span class="mono">{entry.id[:8]}</span></span>'
        return f'<td class="module">{name} {hint}</td>'
    path = escape(quote(entry.path))
    if entry.type == "tree":
        return f'<td class="folder"><a href="{folder}{path}">{name}</a></td>'
    if entry.mode == _LINK:
        hint = '<span class="hint">symbolic link</span>'
        return f'<td class="link"><a href="{file}{path}">{name}</a> {hint}</td>'
    return f'<td class="file"><a href="{file}{path}">{name}</a></td>'
