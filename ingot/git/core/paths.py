"""Paths within a repository: validation, and conversion to git's arguments."""

import os
import re
from collections.abc import Mapping

MAX_BYTES = 4096
LITERAL_PATHSPECS: Mapping[str, str] = {"GIT_LITERAL_PATHSPECS": "1"}
"""Environment in which ``*`` and ``:(top)`` in paths have no special meaning."""
_ESCAPE = re.compile(rb'\\([abfnrtv"\\]|[0-7]{3})')
_ESCAPED = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    b'"': b'"',
    b"\\": b"\\",
}


def path_argument(path: bytes) -> str:
    """Return a path as a command-line argument with exactly these bytes; pass it after ``--``."""
    return os.fsdecode(path)


def unquoted_path(name: bytes) -> bytes:
    """Return a path that git has written in quotes because of its characters, or as it is."""
    if not (len(name) > 1 and name.startswith(b'"') and name.endswith(b'"')):
        return name
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1]) or bytes([int(match[1], 8) & 255]), name[1:-1])


def path_error(path: str) -> str | None:
    """Return why a path is invalid, or None if it is valid."""
    if len(path.encode(errors="surrogatepass")) > MAX_BYTES:
        return "is too long"
    if "\0" in path or ".." in path.split("/"):
        return "is invalid"
    return None


def path_encodings(path: str) -> list[bytes]:
    """Return the byte sequences that a displayed path can denote: its UTF-8 encoding and possibly its Latin-1 encoding.

    File names that are not valid UTF-8 are displayed as Latin-1, and clients request them by the displayed name.
    """
    encodings = [path.encode(errors="replace")]
    try:
        as_latin1 = path.encode("latin-1")
    except UnicodeEncodeError:
        return encodings
    try:
        as_latin1.decode()
    except UnicodeDecodeError:
        encodings.append(as_latin1)
    return encodings
