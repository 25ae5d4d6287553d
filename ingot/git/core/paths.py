"""Paths within a repository, as callers write them and as git takes them."""

import os
from collections.abc import Mapping

MAX_BYTES = 4096
LITERAL_PATHSPECS: Mapping[str, str] = {"GIT_LITERAL_PATHSPECS": "1"}
"""An environment in which ``*`` and ``:(top)`` are the names of files and nothing else."""


def path_argument(path: bytes) -> str:
    """A path as an argument, which stands behind ``--``: its bytes, whatever they are."""
    return os.fsdecode(path)


def path_error(path: str) -> str | None:
    """Why nothing in a repository can lie at a path, or nothing where something may."""
    if len(path.encode(errors="surrogatepass")) > MAX_BYTES:
        return "is too long"
    if "\0" in path or ".." in path.split("/"):
        return "is invalid"
    return None


def path_encodings(path: str) -> list[bytes]:
    """The bytes that a path may stand for: those of its text, and those that are only shown as this text.

    Names that are no UTF-8 are shown as if they were Latin-1, and can be asked for as they are shown.
    """
    found = [path.encode(errors="replace")]
    try:
        shown = path.encode("latin-1")
    except UnicodeEncodeError:
        return found
    try:
        shown.decode()
    except UnicodeDecodeError:
        found.append(shown)
    return found
