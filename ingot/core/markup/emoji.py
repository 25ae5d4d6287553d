"""Emoji by the names that people type between colons."""

import re
from functools import cache
from pathlib import Path

_SHORTCODE = re.compile(r":([a-z0-9_+-]{1,64}):")
# A sign behind many of them, which asks for the coloured picture and which keyboards leave out as they like.
_SKIN_TONED = "\ufe0f"


@cache
def emoji_by_name() -> dict[str, str]:
    """Every emoji that has a name; some have several."""
    lines = (Path(__file__).parent / "emojione" / "names.txt").read_text("utf-8").splitlines()
    return {name: emoji for emoji, *names in map(str.split, lines) for name in names}


@cache
def _canonical_names() -> dict[str, str]:
    """Every name of an emoji, and itself, with the name that stands for all of them."""
    lines = (Path(__file__).parent / "emojione" / "names.txt").read_text("utf-8").splitlines()
    found = {name: names[0] for _, *names in map(str.split, lines) for name in names}
    for sign, name, *_ in map(str.split, lines):
        found.setdefault(sign.replace(_SKIN_TONED, ""), name)
    return found


def canonical_name(typed: str) -> str | None:
    """The name under which an emoji is kept, whichever of its names was typed, or the emoji itself."""
    return _canonical_names().get(typed.strip().strip(":").replace(_SKIN_TONED, ""))


@cache
def _by_canonical_name() -> dict[str, tuple[str, str]]:
    """The sign of every emoji, with all its names in one text to search in."""
    lines = (Path(__file__).parent / "emojione" / "names.txt").read_text("utf-8").splitlines()
    return {names[0]: (sign, " ".join(names)) for sign, *names in map(str.split, lines)}


def search_emoji(search: str, most: int) -> list[tuple[str, str]]:
    """Names and signs of emoji that have all words somewhere in their names; those that begin so come first."""
    words = search.lower().replace(":", " ").replace("_", " ").split()
    if not words:
        return []
    found = [
        (not names.startswith(words[0]), len(name), name, sign)
        for name, (sign, names) in _by_canonical_name().items()
        if all(word in names for word in words)
    ]
    return [(name, sign) for _, _, name, sign in sorted(found)[:most]]


def replace_shortcodes(text: str) -> str:
    """The text with its shortcodes replaced by what they stand for."""
    if ":" not in text:
        return text
    known = emoji_by_name()
    return _SHORTCODE.sub(lambda found: known.get(found[1], found[0]), text)
