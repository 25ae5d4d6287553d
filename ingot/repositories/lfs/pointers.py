"""LFS pointer files, stored in a repository in place of large files."""

import re
from typing import NamedTuple

MAX_POINTER_BYTES = 1024
"""Clients neither write nor recognize longer ones."""
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n"
    rb"(?:ext-\d-[^\n]+\n)*"
    rb"oid sha256:([0-9a-f]{64})\n"
    rb"size (\d{1,19})\n?"
)


class LfsPointer(NamedTuple):
    """Id and size of the object that a pointer stands for."""

    oid: str
    size: int


def parse_pointer(content: bytes | None) -> str | None:
    """Return the object id in an LFS pointer, or None for any other content."""
    pointer = pointer_or_none(content)
    return pointer.oid if pointer else None


def pointer_or_none(content: bytes | None) -> LfsPointer | None:
    """Return an LFS pointer, or None for any other content."""
    if content is None or len(content) > MAX_POINTER_BYTES:
        return None
    match = _POINTER.fullmatch(content)
    return LfsPointer(match[1].decode(), int(match[2])) if match else None
