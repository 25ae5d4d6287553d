"""Inline syntax beyond CommonMark: links between wiki pages, changed words and colors in code."""

import colorsys
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

_WIKI_LINK = re.compile(r"\[\[([^\[\]\n|]++)(?:\|([^\[\]\n|]++))?+\]\]")
_IMAGE = re.compile(r".*\.(?:png|jpe?g|gif|webp|svg|bmp|ico)", re.IGNORECASE)
_DIFF_OPENINGS = re.compile(r"[{\[](?=[+-])")
_CHANGES = {"+": "addition", "-": "deletion"}
_CLOSINGS = {"{": "}", "[": "]"}
_HEX_COLOR = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
_FUNCTION_COLOR = re.compile(
    r"(rgb|hsl)a?\( ?(\d{1,3}) ?, ?(\d{1,3})(%?) ?, ?(\d{1,3})(%?) ?(?:, ?(?:0|1|0?\.\d{1,4}|\d{1,3}%) ?)?\)",
    re.IGNORECASE,
)
_MAX_COLOR_LENGTH = 40


class ChangedWords(NamedTuple):
    """Added or deleted words at a position in a text, between their delimiters."""

    kind: str
    start: int
    end: int
    """The positions of the delimiters, which are two characters long each."""


def enable_wiki_links(markdown: "MarkdownIt") -> None:
    """Add the rule for ``[[Page]]`` and ``[[Text|Page]]`` to a parser; it applies to wiki pages only."""
    markdown.inline.ruler.before("link", "wiki_link", _wiki_link)


def _wiki_link(state: "StateInline", silent: bool) -> bool:
    if not state.env["budget"].wiki or not state.src.startswith("[[", state.pos):
        return False
    match = _WIKI_LINK.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    text, target = match[1].strip(), (match[2] or match[1]).strip()
    if not text or not target:
        return False
    if not silent:
        _push_wiki_link(state, text, target)
    state.pos = match.end()
    return True


def _push_wiki_link(state: "StateInline", text: str, target: str) -> None:
    from markdown_it.token import Token

    if _IMAGE.fullmatch(target):
        image = state.push("image", "img", 0)
        image.attrs = {"src": _destination(state, target), "alt": ""}
        image.children = [Token("text", "", 0, content=text)]
        return
    is_page = "://" not in target and not target.startswith(("#", "mailto:"))
    state.push("link_open", "a", 1).attrs = {"href": _destination(state, target.replace(" ", "-" if is_page else " "))}
    state.push("text", "", 0).content = text
    state.push("link_close", "a", -1)


def _destination(state: "StateInline", target: str) -> str:
    url = state.md.normalizeLink(target)
    return url if state.md.validateLink(url) else ""


def find_changed_words(text: str) -> Iterator[ChangedWords]:
    """Yield the parts ``{+ added +}`` and ``[- deleted -]`` of a line of text from left to right."""
    position = 0
    absent: set[str] = set()
    for match in _DIFF_OPENINGS.finditer(text):
        start = match.start()
        sign = text[start + 1]
        closing = sign + _CLOSINGS[match[0]]
        if start < position or closing in absent:
            continue
        end = text.find(closing, start + 2)
        if end < 0:  # Nor after any later opening.
            absent.add(closing)
        elif end > start + 2:
            yield ChangedWords(_CHANGES[sign], start, end)
            position = end + 2


def color_or_none(code: str) -> str | None:
    """Return the opaque color that a code names, as ``#rrggbb``; None if it is no color."""
    if len(code) > _MAX_COLOR_LENGTH:
        return None
    if _HEX_COLOR.fullmatch(code):
        digits = code[1:] if len(code) > 5 else "".join(digit * 2 for digit in code[1:])
        return f"#{digits[:6].lower()}"
    match = _FUNCTION_COLOR.fullmatch(code)
    if match is None:
        return None
    name, *values = match[1].lower(), int(match[2]), int(match[3]), int(match[5])
    percents = bool(match[4]), bool(match[6])
    if name == "rgb":
        return None if any(percents) or max(values) > 255 else "#{:02x}{:02x}{:02x}".format(*values)
    hue, saturation, lightness = values
    if not all(percents) or hue > 360 or saturation > 100 or lightness > 100:
        return None
    channels = colorsys.hls_to_rgb(hue / 360, lightness / 100, saturation / 100)
    return "#{:02x}{:02x}{:02x}".format(*(round(255 * channel) for channel in channels))
