"""What a file is, as far as a page has to know: text, picture, link, submodule, or something to download."""

from typing import Literal, NamedTuple

from ingot.git.commits import decoded
from ingot.git.entries import LINK, MODULE
from ingot.lfs.pointers import named_by
from ingot.projects.uploads.names import is_picture
from ingot.repository.files.queries import File

Kind = Literal["text", "picture", "link", "module", "pointer", "binary", "large"]
MARKDOWN = (".md", ".markdown", ".mkd", ".mdown")
_START_BYTES = 8_000
_LONGEST_SHOWN = 2**20


class Content(NamedTuple):
    """A file's kind, and its text where it has one."""

    kind: Kind
    text: str = ""


def content_of(file: File) -> Content:
    """What is shown of a file."""
    body, name = file.blob.body, decoded(file.entry.name)
    if file.entry.mode == MODULE:
        return Content("module", file.entry.oid)
    if is_picture(name):
        return Content("picture")
    if body is None or len(body) > _LONGEST_SHOWN:
        return Content("large")
    if file.entry.mode == LINK:
        return Content("link", decoded(body))
    if named_by(body) is not None:
        return Content("pointer", decoded(body))
    if b"\0" in body[:_START_BYTES]:
        return Content("binary")
    return Content("text", text_of(body))


def text_of(body: bytes) -> str:
    """A text without marks at its beginning and without the carriage returns at the ends of its lines."""
    return decoded(body).removeprefix("\ufeff").replace("\r\n", "\n")


def is_markdown(path: str) -> bool:
    """Whether it is shown as it is meant to look."""
    return path.lower().endswith(MARKDOWN)
