"""Inclusion of other files in Markdown files: ``::include{file=path}`` on a line of its own."""

import re
from collections.abc import Callable

from ingot.core.markup.literal_spans import mask_blocks

MAX_FILES = 20
MAX_LENGTH = 1_000_000
_MARK = "::include{"
_INCLUDE = re.compile(r"::include\{file=([^{}\[\]\n]{1,1024}+)\}[ \t]*+")

FileReader = Callable[[str], str | None]
"""Returns the text of a file by its path as written; None if the reader of the page may not see it."""


def expand_includes(text: str, read: FileReader) -> str:
    """Replace the inclusions outside of code by the files, and those without a file by links to them.

    Inclusions in the files stay as they are, so that no file includes itself.
    """
    if _MARK not in text:
        return text
    files, left = 0, MAX_LENGTH - len(text)
    lines = text.split("\n")
    for number, masked in enumerate(mask_blocks(text).split("\n")):
        match = _INCLUDE.fullmatch(masked)
        if match is None:
            continue
        path = match[1].strip().strip("\"'")
        files += 1
        content = read(path) if files <= MAX_FILES else None
        if content is None or len(content) > left:
            lines[number] = f"[{path}](<{path}>)" if "<" not in path and ">" not in path else ""
            continue
        left -= len(content)
        lines[number] = content.removesuffix("\n")
    return "\n".join(lines)
