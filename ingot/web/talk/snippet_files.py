"""The files of a snippet, shown as those of a repository are."""

from hashlib import sha256
from typing import NamedTuple

from markupsafe import Markup

from ingot.markup.highlighting import language_of
from ingot.web.code.lines import Lines, lines_of
from ingot.web.code.reading import is_markdown, text_of
from ingot.web.directions import turns
from ingot.web.pages import Visit
from ingot.web.texts import html_of


class SnippetFile(NamedTuple):
    """A file and how it looks: as text, or line by line."""

    path: str
    size: int
    number: int
    markdown: bool
    html: Markup | None
    lines: Lines | None
    turned: bool
    """Whether some of it may be shown in another order than it is written."""


def shown_file(visit: Visit, path: str, body: bytes, number: int, project_id: int | None) -> SnippetFile:
    """One of them; ``plain`` shows markdown as it was written, and ``all`` and ``rest`` name the file to show whole."""
    text, markdown = text_of(body), is_markdown(path)
    rendered = markdown and "plain" not in visit.query
    html = html_of(visit, text, project_id) if rendered else None
    lines = None if rendered else _lines(visit, path, text, number)
    return SnippetFile(path, len(body), number, markdown, html, lines, turns(text))


def _lines(visit: Visit, path: str, text: str, number: int) -> Lines | None:
    if not text:
        return None
    everything = str(number) in (visit.query.get("all"), visit.query.get("rest"))
    # Of several files only the first has the short addresses, which are those that people know.
    anchor = "L" if number == 1 else f"f{number}-L"
    oid = sha256(text.encode()).hexdigest()
    return lines_of(oid, text, language_of(path), everything=everything, anchor=anchor)
