"""What a folder holds, as rows of a table."""

from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from markupsafe import Markup

from ingot.repository.trees.views import TreeEntryView

_LINK = "120000"


def entry_rows(entries: Sequence[TreeEntryView], url: str, ref: str) -> Markup:
    """One row for each; ``url`` is where the project's pages begin. Folders have many, so that no template loops."""
    where = escape(f"{url}/-/%s/{quote(ref).replace('%', '%%')}/")
    folder, file = where % "tree", where % "blob"
    return Markup("".join([_row(entry, folder, file) for entry in entries]))  # noqa: S704 - Each part is escaped.


def _row(entry: TreeEntryView, folder: str, file: str) -> str:
    name = escape(entry.name)
    if entry.type == "commit":
        said = f'<span class="hint">submodule at <span class="mono">{entry.id[:8]}</span></span>'
        return f'<tr><td class="module">{name} {said}</td></tr>\n'
    path = escape(quote(entry.path))
    if entry.type == "tree":
        return f'<tr><td class="folder"><a href="{folder}{path}">{name}</a></td></tr>\n'
    if entry.mode == _LINK:
        said = '<span class="hint">symbolic link</span>'
        return f'<tr><td class="link"><a href="{file}{path}">{name}</a> {said}</td></tr>\n'
    return f'<tr><td class="file"><a href="{file}{path}">{name}</a></td></tr>\n'
