"""Emoji names and shortcodes."""

import re
from functools import cache
from pathlib import Path

_SHORTCODE = re.compile(r":([a-z0-9_+-]{1,64}):")
# Follows many emoji to request the colored glyph; keyboards do not always add it.
_VARIATION_SELECTOR = "\ufe0f"


@cache
def emoji_by_name() -> dict[str, str]:
    """Map every emoji name to its emoji; some emoji have several names."""
    lines = (Path(__file__).parent / "emojione" / "names.txt").read_text("utf-8").splitlines()
    return {name: emoji for emoji, *names in map(str.split, lines) for name in names}


@cache
def _canonical_names() -> dict[str, str]:
    """Map every name of an emoji, and the emoji itself, to its canonical name."""
    lines = (Path(__file__).parent / "emojione" / "names.txt").read_text("utf-8").splitlines()
    names_by_key = {name: names[0] for _, *names in map(str.split, lines) for name in names}
    for emoji, name, *_ in map(str.split, lines):
        names_by_key.setdefault(emoji.replace(_VARIATION_SELECTOR, ""), name)
    return names_by_key


def canonical_name(typed: str) -> str | None:
    """Return the canonical name of an emoji given by any of its names or as itself; None if unknown."""
    return _canonical_names().get(typed.strip().strip(":").replace(_VARIATION_SELECTOR, ""))


@cache
def _by_canonical_name() -> dict[str, tuple[str, str]]:
    """Map canonical names to the emoji and all its names in one searchable text."""
    lines = (Path(__file__).parent / "emojione" / "names.txt").read_text("utf-8").splitlines()
    return {names[0]: (emoji, " ".join(names)) for emoji, *names in map(str.split, lines)}


def search_emoji(search: str, most: int) -> list[tuple[str, str]]:
    """List names and emoji whose names contain all words; names that begin with the first word come first."""
    words = search.lower().replace(":", " ").replace("_", " ").split()
    if not words:
        return []
    matches = [
        (not names.startswith(words[0]), len(name), name, emoji)
        for name, (emoji, names) in _by_canonical_name().items()
        if all(word in names for word in words)
    ]
    return [(name, emoji) for _, _, name, emoji in sorted(matches)[:most]]


def replace_shortcodes(text: str) -> str:
    """Replace ``:shortcodes:`` in a text by emoji."""
    if ":" not in text:
        return text
    emojis = emoji_by_name()
    return _SHORTCODE.sub(lambda match: emojis.get(match[1], match[0]), text)
