"""Kinds of files for display: text, image, document, symbolic link, submodule or download only."""

from typing import Literal, NamedTuple

from ingot.projects.uploads.names import is_image
from ingot.repositories.browser import CodeFile, decode_text
from ingot.repositories.lfs.pointers import parse_pointer

ContentKind = Literal["text", "picture", "link", "module", "pointer", "document", "binary", "large"]
MARKDOWN = (".md", ".markdown", ".mkd", ".mdown")
DOCUMENT_ENDING = ".pdf"
_START_BYTES = 8_000
_MAX_SHOWN_BYTES = 2**20


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
    if body is None or len(body) > _MAX_SHOWN_BYTES:
        return FileContent("large")
    if file.kind == "link":
        return FileContent("link", decode_text(body))
    if parse_pointer(body) is not None:
        return FileContent("pointer", decode_text(body))
    if b"\0" in body[:_START_BYTES]:
        return FileContent("binary")
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
