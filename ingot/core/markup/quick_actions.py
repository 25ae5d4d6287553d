"""Extraction of quick actions, lines such as ``/close``, from a text."""

import re
from bisect import bisect_left
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ingot.core.markup.literal_spans import mask_non_prose
from ingot.core.markup.text_scans import text_scan

MAX_COMMANDS = 100
"""Limit of executed commands per text; further commands are removed from the text and ignored."""
_MAX_ARGUMENT_LENGTH = 10_000
_LINE = re.compile(r"^/([A-Za-z][a-z_A-Z]{0,30}+)(?:[ \t]++(.*+))?+$", re.MULTILINE)
# Delimiter of a multi-line block quote.
_QUOTE = re.compile(r"^>>>[ \t]*+$", re.MULTILINE)
PHRASES: Mapping[str, str] = {"shrug": "¯\\\\＿(ツ)＿/¯", "tableflip": "(╯°□°)╯︵ ┻━┻"}
"""Commands that are replaced by a text instead of being executed."""


class Command(NamedTuple):
    """A quick action and its argument."""

    name: str
    argument: str


class ExtractedCommands(NamedTuple):
    """The text without its commands, and the commands in order."""

    text: str
    commands: tuple[Command, ...]


@text_scan
def extract_commands(text: str, names: Collection[str]) -> ExtractedCommands:
    """Extract the commands with these names from a text; code, quotes and unknown commands are kept."""
    lines = [line for line in _LINE.finditer(text) if line[1].lower() in names or line[1].lower() in PHRASES]
    if not lines:
        return ExtractedCommands(text, ())
    prose, delimiters = mask_non_prose(text), [delimiter.start() for delimiter in _QUOTE.finditer(text)]
    pieces: list[str] = []
    commands: list[Command] = []
    position = 0
    for line in lines:
        start, end = line.span()
        # After an odd number of delimiters the line is inside a quote, provided that a closing delimiter follows.
        preceding = bisect_left(delimiters, start)
        if prose[start] != "/" or (preceding % 2 and preceding < len(delimiters)):
            continue
        name, argument = line[1].lower(), (line[2] or "").strip()[:_MAX_ARGUMENT_LENGTH]
        pieces.append(text[position:start])
        position = min(end + 1, len(text))
        if name in PHRASES:
            pieces.append(f"{argument} {PHRASES[name]}".lstrip() + "\n")
        elif len(commands) < MAX_COMMANDS:
            commands.append(Command(name, argument))
    if not position:
        return ExtractedCommands(text, ())
    pieces.append(text[position:])
    return ExtractedCommands("".join(pieces).strip(), tuple(commands))
