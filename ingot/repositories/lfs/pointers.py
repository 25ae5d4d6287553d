"""LFS pointer files, stored in a repository in place of large files."""

import re

MAX_POINTER_BYTES = 1024
"""Clients neither write nor recognize longer ones."""
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n"
    rb"(?:ext-\d-[^\n]+\n)*"
    rb"oid sha256:([0-9a-f]{64})\n"
    rb"size \d{1,19}\n?"
)


def parse_pointer(content: bytes | None) -> str | None:
    """Return the object id in an LFS pointer, or None for any other content."""
    if content is None or len(content) > MAX_POINTER_BYTES:
        return None
    match = _POINTER.fullmatch(content)
    return match[1].decode() if match else None
