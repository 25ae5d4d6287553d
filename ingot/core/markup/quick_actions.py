"""Commands in a text: lines such as ``/close`` that say what to do rather than what to read."""

import re
from bisect import bisect_left
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ingot.core.markup.literal_spans import mask_non_prose

MAX_COMMANDS = 100
"""So many commands of a text count; the rest is taken out of it, and nothing comes of it."""
_MAX_ARGUMENT_LENGTH = 10_000
_LINE = re.compile(r"^/([A-Za-z][a-z_A-Z]{0,30}+)(?:[ \t]++(.*+))?+$", re.MULTILINE)
# Besides lines that begin with a sign, everything between two of these is a quote.
_QUOTE = re.compile(r"^>>>[ \t]*+$", re.MULTILINE)
PHRASES: Mapping[str, str] = {"shrug": "¯\\\\＿(ツ)＿/¯", "tableflip": "(╯°□°)╯︵ ┻━┻"}
"""What stands for a command that is one to say something."""


class Command(NamedTuple):
    """What to do, and with what."""

    name: str
    argument: str


class ExtractedCommands(NamedTuple):
    """What a text says besides, and what it commands, in its order."""

    text: str
    commands: tuple[Command, ...]


def extract_commands(text: str, names: Collection[str]) -> ExtractedCommands:
    """Take the commands of these names out of a text; what is code or a quote stays, and so does what is no command."""
    lines = [line for line in _LINE.finditer(text) if line[1].lower() in names or line[1].lower() in PHRASES]
    if not lines:
        return ExtractedCommands(text, ())
    prose, marks = mask_non_prose(text), [mark.start() for mark in _QUOTE.finditer(text)]
    pieces: list[str] = []
    commands: list[Command] = []
    done = 0
    for line in lines:
        start, end = line.span()
        # Behind an odd number of marks, with another one to come, one is in a quote; without an end it is none.
        before = bisect_left(marks, start)
        if prose[start] != "/" or (before % 2 and before < len(marks)):
            continue
        name, argument = line[1].lower(), (line[2] or "").strip()[:_MAX_ARGUMENT_LENGTH]
        pieces.append(text[done:start])
        done = min(end + 1, len(text))
        if name in PHRASES:
            pieces.append(f"{argument} {PHRASES[name]}".lstrip() + "\n")
        elif len(commands) < MAX_COMMANDS:
            commands.append(Command(name, argument))
    if not done:
        return ExtractedCommands(text, ())
    pieces.append(text[done:])
    return ExtractedCommands("".join(pieces).strip(), tuple(commands))
