"""Trailers of commit messages, such as ``Signed-off-by``."""

import re

_TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]{0,99})[ \t]*:[ \t]*(\S.*)")
_MAX_LENGTH = 20_000
"""Longer last paragraphs are not searched."""


def message_trailers(message: str) -> dict[str, list[str]]:
    """Return the values of the trailers by name: the lines of the last paragraph, if all of them are trailers.

    A line that begins with a space continues the one before it.
    """
    before, _, last = message.replace("\r\n", "\n").rstrip().rpartition("\n\n")
    if not before or ":" not in last or len(last) > _MAX_LENGTH:
        return {}
    trailers: dict[str, list[str]] = {}
    values: list[str] = []
    for line in last.splitlines():
        match = _TRAILER.fullmatch(line)
        if match is not None:
            values = trailers.setdefault(match[1], [])
            values.append(match[2].rstrip())
        elif line[:1] in (" ", "\t") and values:
            values[-1] = f"{values[-1]} {line.strip()}"
        else:
            return {}
    return trailers
