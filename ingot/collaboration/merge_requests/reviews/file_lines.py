"""Lines of text files in commits."""

import re
import stat

from ingot.git.core.paths import path_encodings
from ingot.git.core.repository import Repository
from ingot.git.trees.blobs import read_blob
from ingot.git.trees.entries import entry_or_none

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def lines_at(repository: Repository, commit: str, path: str) -> list[str] | None:
    """Return the lines of a file with their line endings, or None if it is missing, large or not UTF-8 text."""
    for raw in path_encodings(path):
        entry = entry_or_none(repository, commit, raw)
        if entry is None or not stat.S_ISREG(entry.mode):
            continue
        body = read_blob(repository, entry.oid).body
        return None if body is None else split_lines(body)
    return None


def split_lines(body: bytes) -> list[str] | None:
    """Return the lines of a text with their line endings, or None if it is not UTF-8 text."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else _LINE.findall(text)
