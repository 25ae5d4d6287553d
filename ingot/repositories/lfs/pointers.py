"""What stands in a repository instead of a large file: a few lines that name it."""

import re

MAX_POINTER_BYTES = 1024
"""No client writes a longer one, or takes it for one."""
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n"
    rb"(?:ext-\d-[^\n]+\n)*"
    rb"oid sha256:([0-9a-f]{64})\n"
    rb"size \d{1,19}\n?"
)


def parse_pointer(content: bytes | None) -> str | None:
    """The large file that a content stands for; nothing where it stands for itself."""
    if content is None or len(content) > MAX_POINTER_BYTES:
        return None
    found = _POINTER.fullmatch(content)
    return found[1].decode() if found else None
