"""Previews of files other than Markdown: pictures in SVG, tables in CSV, and notebooks.

All content is hostile. An SVG file is shown by an image element with a ``data:`` URL, in which browsers run no scripts
and load nothing. Cells of tables are escaped by the template. HTML in notebooks passes the sanitizer of Markdown.
"""

import base64
import csv
import io
import posixpath
import re
import secrets
from itertools import islice
from typing import Any, Literal

import msgspec
from markupsafe import Markup

from ingot.core.markup.highlighting import highlight_lines
from ingot.core.markup.links import LinkContext
from ingot.core.markup.sanitizer import MAX_TAGS, sanitize_html
from ingot.core.offload import require_blocking_allowed
from ingot.web.bidi import mark_bidi_characters
from ingot.web.code.location import CodeLocation
from ingot.web.external_images import replace_external_images
from ingot.web.texts import render_markdown_texts

PreviewKind = Literal["svg", "table", "notebook"]
MAX_SVG_BYTES = 262_144
MAX_ROWS, MAX_COLUMNS, MAX_CELL_LENGTH = 500, 50, 500
MAX_CELLS = 200
MAX_OUTPUTS = 50
MAX_OUTPUT_LENGTH = 100_000
_KINDS: dict[str, PreviewKind] = {".svg": "svg", ".csv": "table", ".tsv": "table", ".ipynb": "notebook"}
_PICTURES = ("image/png", "image/jpeg", "image/gif")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class TablePreview(msgspec.Struct):
    """First rows of a table."""

    header: list[str]
    rows: list[list[str]]
    is_cut: bool


class CellOutput(msgspec.Struct):
    """Output of a notebook cell: sanitized HTML, the URL of a picture, or text."""

    html: Markup = Markup()
    picture: str = ""
    text: str = ""


class NotebookCell(msgspec.Struct):
    """Cell of a notebook: rendered Markdown, or highlighted code with its outputs."""

    html: Markup
    is_code: bool
    number: str = ""
    outputs: list[CellOutput] = []


class FilePreview(msgspec.Struct):
    """Preview of a file; the field of its kind is set."""

    kind: PreviewKind
    picture: str = ""
    table: TablePreview | None = None
    cells: list[NotebookCell] = []
    is_cut: bool = False


def is_previewable(path: str) -> bool:
    """Return whether a file of this name may have a preview."""
    return posixpath.splitext(path.lower())[1] in _KINDS


def preview_or_none(location: CodeLocation, text: str) -> FilePreview | None:
    """Return the preview of a file; None if it has none or is malformed."""
    kind = _KINDS.get(posixpath.splitext(location.path.lower())[1])
    if kind is None or not text:
        return None
    if kind == "svg":
        content = text.encode()
        return FilePreview(kind, picture=_data_url("image/svg+xml", content)) if len(content) <= MAX_SVG_BYTES else None
    require_blocking_allowed()
    if kind == "table":
        table = read_table(text, "\t" if location.path.lower().endswith(".tsv") else ",")
        return FilePreview(kind, table=table) if table is not None else None
    return _notebook(location, text)


def read_table(text: str, delimiter: str) -> TablePreview | None:
    """Return the first rows and columns of a table; None if it is malformed."""
    try:
        lines = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), MAX_ROWS + 1))
    except csv.Error:  # A field that is too long, such as one whose quote never ends.
        return None
    if not lines:
        return None
    width = max(len(line) for line in lines)
    rows = [[_shortened(cell) for cell in line[:MAX_COLUMNS]] for line in lines]
    shown = min(width, MAX_COLUMNS)
    padded = [row + [""] * (shown - len(row)) for row in rows]
    return TablePreview(padded[0], padded[1:], is_cut=len(lines) > MAX_ROWS or width > MAX_COLUMNS)


def _shortened(cell: str) -> str:
    return cell if len(cell) <= MAX_CELL_LENGTH else f"{cell[:MAX_CELL_LENGTH]}…"


def _notebook(location: CodeLocation, text: str) -> FilePreview | None:
    try:
        notebook = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        return None
    language = _field(_field(_field(notebook, "metadata"), "kernelspec"), "language")
    language = language if isinstance(language, str) else "python"
    shown = [cell for cell in cells[:MAX_CELLS] if isinstance(cell, dict)]
    sources = [_joined(cell.get("source")) for cell in shown]
    is_code = [cell.get("cell_type") == "code" for cell in shown]
    parent, directory = location.parent, posixpath.dirname(location.path)
    texts = [source for source, code in zip(sources, is_code, strict=True) if not code]
    rendered = iter(
        render_markdown_texts(parent.visit, texts, parent.project.id, ref=location.ref, directory=directory)
    )
    codes = [source for source, code in zip(sources, is_code, strict=True) if code]
    highlighted = iter(highlight_lines(codes, language).pieces)
    previews = [
        _code_cell(location, cell, next(highlighted)) if code else NotebookCell(next(rendered), is_code=False)
        for cell, code in zip(shown, is_code, strict=True)
    ]
    return FilePreview("notebook", cells=previews, is_cut=len(cells) > MAX_CELLS)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _joined(value: Any) -> str:
    """Return a text that is written as one string or as a list of lines."""
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    return value[:MAX_OUTPUT_LENGTH] if isinstance(value, str) else ""


def _code_cell(location: CodeLocation, cell: dict[str, Any], lines: list[str]) -> NotebookCell:
    code = Markup(mark_bidi_characters("\n".join(lines)))  # noqa: S704 - The highlighter has escaped it.
    number = cell.get("execution_count")
    outputs = cell.get("outputs")
    return NotebookCell(
        code,
        is_code=True,
        number=str(number) if isinstance(number, int) else "",
        outputs=[
            _output(location, output)
            for output in (outputs[:MAX_OUTPUTS] if isinstance(outputs, list) else [])
            if isinstance(output, dict)
        ],
    )


def _output(location: CodeLocation, output: dict[str, Any]) -> CellOutput:
    """Return the richest safe form of an output."""
    data = output.get("data")
    if not isinstance(data, dict):
        text = _joined(output.get("text")) or _joined(output.get("traceback"))
        return CellOutput(text=_ANSI.sub("", text))
    for kind in _PICTURES:
        content = data.get(kind)
        if isinstance(content, list):
            content = "".join(part for part in content if isinstance(part, str))
        if isinstance(content, str) and _BASE64.fullmatch(content):
            return CellOutput(picture=f"data:{kind};base64,{''.join(content.split())}")
    if svg := _joined(data.get("image/svg+xml")):
        return CellOutput(picture=_data_url("image/svg+xml", svg.encode()))
    html = _joined(data.get("text/html"))
    if html and html.count("<") <= MAX_TAGS:
        base = location.parent.visit.request.origin.base
        context = LinkContext(base, location.parent.project.path_with_namespace)
        clean = replace_external_images(sanitize_html(html, context, secrets.token_hex(16)), base)
        return CellOutput(html=Markup(clean))  # noqa: S704 - The sanitizer has just cleaned it.
    return CellOutput(text=_joined(data.get("text/plain")))


def _data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
