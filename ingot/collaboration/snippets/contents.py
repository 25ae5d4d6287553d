"""The files of a snippet: what they may be called, and what a list of changes makes of them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ingot.collaboration.snippets.params import SnippetFileChange
from ingot.errors import Invalid, too_long_message

MAX_FILES = 10
MAX_BYTES = 2**20
MAX_PATH_LENGTH = 255
# What is left of "..", " " and ".git" where a file system passes over dots and spaces at the ends.
_FORBIDDEN_PARTS = re.compile(r"[ .]*(\.git[ .]*)?", re.IGNORECASE)


class SnippetFileContent(NamedTuple):
    """A file by its path."""

    path: str
    content: str


def default_path(place: int) -> str:
    """What a file is called that nobody named."""
    return f"snippetfile{place}.txt"


def check_files(files: Sequence[SnippetFileContent]) -> None:
    """Refuse what a snippet cannot consist of."""
    if not files:
        raise Invalid(files=["can't be empty"])
    if len(files) > MAX_FILES:
        raise Invalid(files=[f"cannot be more than {MAX_FILES}"])
    if len({file.path for file in files}) < len(files):
        raise Invalid(files=["have the same path twice"])
    for file in files:
        _check_file(file)


def _check_file(file: SnippetFileContent) -> None:
    trouble = path_error(file.path)
    if trouble is not None:
        raise Invalid(file_name=[trouble])
    if not file.content:
        raise Invalid(content=["can't be blank"])
    if len(file.content.encode()) > MAX_BYTES:
        raise Invalid(content=[too_long_message(MAX_BYTES, "bytes")])


def path_error(path: str) -> str | None:
    """Why no file can lie at this path, wherever somebody may unpack it; nothing where one can."""
    if len(path) > MAX_PATH_LENGTH:
        return too_long_message(MAX_PATH_LENGTH)
    parts = path.replace("\\", "/").split("/")
    if not path.isprintable() or any(_FORBIDDEN_PARTS.fullmatch(part) for part in parts):
        return "is invalid"
    return None


def apply_changes(
    files: Sequence[SnippetFileContent], changes: Sequence[SnippetFileChange]
) -> list[SnippetFileContent]:
    """The files after each change in turn."""
    now = list(files)
    for change in changes:
        _apply_change(now, change)
    return now


def _apply_change(files: list[SnippetFileContent], change: SnippetFileChange) -> None:
    path = change.file_path or default_path(len(files) + 1)
    if change.action == "create":
        _require_available_path(files, path)
        files.append(SnippetFileContent(path, change.content or ""))
        return
    if not change.file_path:
        raise Invalid(files=["file_path can't be blank"])
    if change.action == "move":
        place = _index_of(files, change.previous_path or "")
        if change.previous_path != path:
            _require_available_path(files, path)
        files[place] = SnippetFileContent(path, files[place].content if change.content is None else change.content)
    elif change.action == "update":
        place = _index_of(files, path)
        files[place] = SnippetFileContent(path, change.content or "")
    else:
        del files[_index_of(files, path)]


def _index_of(files: Sequence[SnippetFileContent], path: str) -> int:
    for place, file in enumerate(files):
        if file.path == path:
            return place
    raise Invalid(files=[f"have no path {path[:MAX_PATH_LENGTH]}"])


def _require_available_path(files: Sequence[SnippetFileContent], path: str) -> None:
    if any(file.path == path for file in files):
        raise Invalid(files=["have the same path twice"])
