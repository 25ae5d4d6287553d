"""Validation of the files of a snippet, and application of file changes."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ingot.collaboration.snippets.params import SnippetFileChange
from ingot.core.errors import Invalid, too_long_message

MAX_FILES = 10
MAX_PATH_LENGTH = 255
MAX_FILE_BYTES = 2**20
"""Upper limit of the setting: one MiB is indexed for searches in 0.3 seconds, while no other change can be written."""
# Matches "..", " " and ".git", also with trailing dots and spaces, which some file systems ignore.
_FORBIDDEN_PARTS = re.compile(r"[ .]*(\.git[ .]*)?", re.IGNORECASE)


class SnippetFileContent(NamedTuple):
    """The path and content of a file."""

    path: str
    content: str


def default_path(number: int) -> str:
    """Return the path of a file created without one; ``number`` counts from 1."""
    return f"snippetfile{number}.txt"


def check_files(files: Sequence[SnippetFileContent], max_bytes: int) -> None:
    """Raise Invalid if the files cannot form a snippet, or one is larger than the limit."""
    if not files:
        raise Invalid(files=["can't be empty"])
    if len(files) > MAX_FILES:
        raise Invalid(files=[f"cannot be more than {MAX_FILES}"])
    if len({file.path for file in files}) < len(files):
        raise Invalid(files=["have the same path twice"])
    for file in files:
        _check_file(file, min(max_bytes, MAX_FILE_BYTES))


def _check_file(file: SnippetFileContent, max_bytes: int) -> None:
    error = path_error(file.path)
    if error is not None:
        raise Invalid(file_name=[error])
    if not file.content:
        raise Invalid(content=["can't be blank"])
    if len(file.content.encode()) > max_bytes:
        raise Invalid(content=[too_long_message(max_bytes, "bytes")])


def path_error(path: str) -> str | None:
    """Return why a path is invalid or unsafe to unpack on any file system; None if it is valid."""
    if len(path) > MAX_PATH_LENGTH:
        return too_long_message(MAX_PATH_LENGTH)
    parts = path.replace("\\", "/").split("/")
    if not path.isprintable() or any(_FORBIDDEN_PARTS.fullmatch(part) for part in parts):
        return "is invalid"
    return None


def apply_changes(
    files: Sequence[SnippetFileContent], changes: Sequence[SnippetFileChange]
) -> list[SnippetFileContent]:
    """Return the files after applying each change in order; raise Invalid for more than replace all files."""
    if len(changes) > 2 * MAX_FILES:
        raise Invalid(files=[f"cannot have more than {2 * MAX_FILES} changes"])
    result = list(files)
    for change in changes:
        _apply_change(result, change)
    return result


def _apply_change(files: list[SnippetFileContent], change: SnippetFileChange) -> None:
    path = change.file_path or default_path(len(files) + 1)
    if change.action == "create":
        _require_available_path(files, path)
        files.append(SnippetFileContent(path, change.content or ""))
        return
    if not change.file_path:
        raise Invalid(files=["file_path can't be blank"])
    if change.action == "move":
        index = _index_of(files, change.previous_path or "")
        if change.previous_path != path:
            _require_available_path(files, path)
        files[index] = SnippetFileContent(path, files[index].content if change.content is None else change.content)
    elif change.action == "update":
        index = _index_of(files, path)
        files[index] = SnippetFileContent(path, change.content or "")
    else:
        del files[_index_of(files, path)]


def _index_of(files: Sequence[SnippetFileContent], path: str) -> int:
    for index, file in enumerate(files):
        if file.path == path:
            return index
    raise Invalid(files=[f"have no path {path[:MAX_PATH_LENGTH]}"])


def _require_available_path(files: Sequence[SnippetFileContent], path: str) -> None:
    if any(file.path == path for file in files):
        raise Invalid(files=["have the same path twice"])
