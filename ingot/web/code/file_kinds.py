"""Kinds of files for display: text, image, document, symbolic link, submodule or download only."""

from typing import Literal, NamedTuple

from ingot.projects.uploads.names import is_image
from ingot.repositories.browser import CodeFile, decode_text
from ingot.repositories.lfs.pointers import parse_pointer
from ingot.web.code.file_lines import FIRST_LINES

ContentKind = Literal["text", "picture", "link", "module", "pointer", "document", "binary", "large"]
RESTRUCTURED_TEXT = (".rst", ".rest")
MARKDOWN = (".md", ".markdown", ".mkd", ".mdown")
DOCUMENT_ENDING = ".pdf"
_START_BYTES = 8_000
MAX_SHOWN_BYTES = 4 * 2**20
"""Pages show the first lines of a long file, and the rest on request."""
MAX_WHOLE_BYTES = 2**20
"""Longer files are not rendered, and not shown if their first lines are longer."""


class FileContent(NamedTuple):
    """Kind of a file, and its text if it has one."""

    kind: ContentKind
    text: str = ""


def file_content(file: CodeFile) -> FileContent:
    """Return the kind of a file and its displayable content."""
    body = file.body
    if file.kind == "module":
        return FileContent("module", file.oid)
    if is_image(file.name):
        return FileContent("picture")
    if file.kind != "link" and _is_document(file):
        return FileContent("document")
    if body is None or len(body) > MAX_SHOWN_BYTES:
        return FileContent("large")
    if file.kind == "link":
        return FileContent("link", decode_text(body))
    if parse_pointer(body) is not None:
        return FileContent("pointer", decode_text(body))
    if b"\0" in body[:_START_BYTES]:
        return FileContent("binary")
    if len(body) > MAX_WHOLE_BYTES and body.count(b"\n", 0, MAX_WHOLE_BYTES) < FIRST_LINES:
        return FileContent("large")
    return FileContent("text", decode_file_text(body))


def _is_document(file: CodeFile) -> bool:
    """Return whether a file is a PDF document; the content of a large one has not been read."""
    return file.name.lower().endswith(DOCUMENT_ENDING) and (file.body is None or file.body.startswith(b"%PDF-"))


def decode_file_text(body: bytes) -> str:
    """Decode a text without its byte order mark and without carriage returns at line ends."""
    return decode_text(body).removeprefix("\ufeff").replace("\r\n", "\n")


def is_markdown(path: str) -> bool:
    """Return whether the file is rendered as Markdown."""
    return path.lower().endswith(MARKDOWN)


def is_restructured_text(path: str) -> bool:
    """Return whether the file is rendered as reStructuredText."""
    return path.lower().endswith(RESTRUCTURED_TEXT)


def is_prose(path: str) -> bool:
    """Return whether the file is a text with markup, which is rendered."""
    return is_markdown(path) or is_restructured_text(path)
