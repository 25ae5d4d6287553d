"""The files of a snippet: what they may be called, and what a list of changes makes of them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ingot.errors import Invalid, too_long
from ingot.snippets.params import ChangedFile

MOST_FILES = 10
MOST_BYTES = 2**20
LONGEST_PATH = 255
# What is left of "..", " " and ".git" where a file system passes over dots and spaces at the ends.
_NO_PARTS = re.compile(r"[ .]*(\.git[ .]*)?", re.IGNORECASE)


class File(NamedTuple):
    """A file by its path."""

    path: str
    content: str


def default_path(place: int) -> str:
    """What a file is called that nobody named."""
    return f"snippetfile{place}.txt"


def check_files(files: Sequence[File]) -> None:
    """Refuse what a snippet cannot consist of."""
    if not files:
        raise Invalid(files=["can't be empty"])
    if len(files) > MOST_FILES:
        raise Invalid(files=[f"cannot be more than {MOST_FILES}"])
    if len({file.path for file in files}) < len(files):
        raise Invalid(files=["have the same path twice"])
    for file in files:
        _check(file)


def _check(file: File) -> None:
    trouble = path_trouble(file.path)
    if trouble is not None:
        raise Invalid(file_name=[trouble])
    if not file.content:
        raise Invalid(content=["can't be blank"])
    if len(file.content.encode()) > MOST_BYTES:
        raise Invalid(content=[too_long(MOST_BYTES, "bytes")])


def path_trouble(path: str) -> str | None:
    """Why no file can lie at this path, wherever somebody may unpack it; nothing where one can."""
    if len(path) > LONGEST_PATH:
        return too_long(LONGEST_PATH)
    parts = path.replace("\\", "/").split("/")
    if not path.isprintable() or any(_NO_PARTS.fullmatch(part) for part in parts):
        return "is invalid"
    return None


def changed_files(files: Sequence[File], changes: Sequence[ChangedFile]) -> list[File]:
    """The files after each change in turn."""
    now = list(files)
    for change in changes:
        _change(now, change)
    return now


def _change(files: list[File], change: ChangedFile) -> None:
    path = change.file_path or default_path(len(files) + 1)
    if change.action == "create":
        _refuse_taken(files, path)
        files.append(File(path, change.content or ""))
        return
    if not change.file_path:
        raise Invalid(files=["file_path can't be blank"])
    if change.action == "move":
        place = _place(files, change.previous_path or "")
        if change.previous_path != path:
            _refuse_taken(files, path)
        files[place] = File(path, files[place].content if change.content is None else change.content)
    elif change.action == "update":
        place = _place(files, path)
        files[place] = File(path, change.content or "")
    else:
        del files[_place(files, path)]


def _place(files: Sequence[File], path: str) -> int:
    for place, file in enumerate(files):
        if file.path == path:
            return place
    raise Invalid(files=[f"have no path {path[:LONGEST_PATH]}"])


def _refuse_taken(files: Sequence[File], path: str) -> None:
    if any(file.path == path for file in files):
        raise Invalid(files=["have the same path twice"])
