"""Rendering of the files of a snippet."""

from hashlib import sha256
from typing import NamedTuple

from markupsafe import Markup

from ingot.core.markup.lexers import language_of
from ingot.web.bidi import has_bidi_characters
from ingot.web.code.file_kinds import decode_file_text, is_markdown
from ingot.web.code.file_lines import FileLines, file_lines
from ingot.web.page_routes import Visit
from ingot.web.texts import render_markdown


class RenderedSnippetFile(NamedTuple):
    """Snippet file, rendered as Markdown or as highlighted lines."""

    path: str
    size: int
    number: int
    markdown: bool
    html: Markup | None
    lines: FileLines | None
    has_bidi: bool
    """True if the file contains bidirectional control characters."""


def render_snippet_file(
    visit: Visit, path: str, body: bytes, number: int, project_id: int | None
) -> RenderedSnippetFile:
    """Render a file; the query ``plain`` shows Markdown source, ``all`` and ``rest`` name a file to show in full."""
    text, markdown = decode_file_text(body), is_markdown(path)
    rendered = markdown and "plain" not in visit.request.query
    html = render_markdown(visit, text, project_id) if rendered else None
    lines = None if rendered else _lines(visit, path, text, number)
    return RenderedSnippetFile(path, len(body), number, markdown, html, lines, has_bidi_characters(text))


def _lines(visit: Visit, path: str, text: str, number: int) -> FileLines | None:
    if not text:
        return None
    everything = str(number) in (visit.request.query.get("all"), visit.request.query.get("rest"))
    # Only the first file has the short anchors, since anchors must be unique on the page.
    anchor = "L" if number == 1 else f"f{number}-L"
    oid = sha256(text.encode()).hexdigest()
    return file_lines(oid, text, language_of(path), everything=everything, anchor=anchor)
