"""Conversion of terminal output to HTML: colors and styles become classes, other control sequences are removed."""

import re
from html import escape
from typing import NamedTuple

from ingot.web.bidi import mark_bidi_characters

MAX_LINE_LENGTH = 16_384
"""Longer lines are truncated; the raw log has the rest."""
_MAX_STYLES = 500
"""Changes of the style in one line; later ones have no effect."""
_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
# Other CSI sequences, OSC sequences such as titles and links, other escapes, and control characters except tabs.
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-ln-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-Z\\^-~]?"
    r"|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]"
)
_FLAGS = {1: "bold", 2: "faint", 3: "italic", 4: "underline", 7: "inverse", 9: "strike"}
_ENDS = {21: ("bold",), 22: ("bold", "faint"), 23: ("italic",), 24: ("underline",), 27: ("inverse",), 29: ("strike",)}
_STATE = re.compile(
    r"(?:f\d{1,2}|b\d{1,2}|bold|faint|italic|underline|inverse|strike)(?: (?:f\d{1,2}|b\d{1,2}|[a-z]+))*"
)
_CUBE_STEPS = (0, 95, 135, 175, 215, 255)
_PALETTE = (
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
)
"""The 16 colors that the style sheet defines; all others are mapped to the nearest of them."""


class TextStyle(NamedTuple):
    """Colors (0 to 15) and flags of a text."""

    foreground: int | None = None
    background: int | None = None
    flags: frozenset[str] = frozenset()

    @property
    def classes(self) -> str:
        """Return the CSS classes, which also serve as the state between two parts of a log."""
        colors = [f"{letter}{value}" for letter, value in zip("fb", self[:2], strict=True) if value is not None]
        return " ".join([*colors, *sorted(self.flags)])


PLAIN = TextStyle()


def style_of_classes(text: str) -> TextStyle:
    """Return the style with these classes; the plain one for invalid text, as it comes from a URL."""
    if not _STATE.fullmatch(text) or len(text) > 100:
        return PLAIN
    style, flags = {"f": None, "b": None}, set()
    for name in text.split():
        if name in _FLAGS.values():
            flags.add(name)
        elif name[1:].isdigit() and int(name[1:]) < len(_PALETTE):
            style[name[0]] = int(name[1:])  # type: ignore[assignment]  # The values are numbers or None.
    return TextStyle(style["f"], style["b"], frozenset(flags))


def render_line(line: str, style: TextStyle) -> tuple[str, TextStyle]:
    """Return a line as HTML and the style at its end; text before a carriage return is overwritten by what follows."""
    if "\x1b" not in line and "\r" not in line:
        return _span(line[:MAX_LINE_LENGTH], style) + _omission(line), style
    parts: list[str] = []
    changes = 0
    for position, segment in enumerate(segments := line.rstrip("\r").split("\r")):
        if any(_visible(later) for later in segments[position + 1 :]):
            style, changes = _final_style(segment, style, changes)
            continue
        pieces = _SGR.split(segment[:MAX_LINE_LENGTH])
        for index, piece in enumerate(pieces):
            if index % 2 == 0:
                parts.append(_span(_CONTROL.sub("", piece), style))
            elif changes < _MAX_STYLES:
                style, changes = _changed(style, piece), changes + 1
        parts.append(_omission(segment))
    return "".join(parts), style


def plain_text(line: str) -> str:
    """Return a line without control sequences."""
    return _CONTROL.sub("", _SGR.sub("", line.rstrip("\r").rpartition("\r")[2]))


def _visible(segment: str) -> bool:
    return bool(_CONTROL.sub("", _SGR.sub("", segment[:MAX_LINE_LENGTH])))


def _final_style(segment: str, style: TextStyle, changes: int) -> tuple[TextStyle, int]:
    for codes in _SGR.findall(segment):
        if changes >= _MAX_STYLES:
            break
        style, changes = _changed(style, codes), changes + 1
    return style, changes


def _span(text: str, style: TextStyle) -> str:
    if not text:
        return ""
    html = mark_bidi_characters(escape(_CONTROL.sub("", text)))
    return f'<span class="{style.classes}">{html}</span>' if style != PLAIN else html


def _omission(line: str) -> str:
    left = len(line) - MAX_LINE_LENGTH
    return f'<span class="faint"> … {left:,} more characters</span>' if left > 0 else ""


def _changed(style: TextStyle, codes: str) -> TextStyle:
    """Return the style after an SGR sequence."""
    numbers = [int(code) if code.isdigit() and len(code) < 6 else 0 for code in re.split("[;:]", codes)]
    position = 0
    while position < len(numbers):
        code = numbers[position]
        if code in (38, 48):
            color, used = _extended_color(numbers[position + 1 :])
            style = style._replace(foreground=color) if code == 38 else style._replace(background=color)
            position += used
        else:
            style = _with_code(style, code)
        position += 1
    return style


def _with_code(style: TextStyle, code: int) -> TextStyle:
    if code == 0:
        return PLAIN
    if code in _FLAGS:
        return style._replace(flags=style.flags | {_FLAGS[code]})
    if code in _ENDS:
        return style._replace(flags=style.flags - set(_ENDS[code]))
    if 30 <= code <= 37 or 90 <= code <= 97:
        return style._replace(foreground=code - 30 if code < 90 else code - 82)
    if 40 <= code <= 47 or 100 <= code <= 107:
        return style._replace(background=code - 40 if code < 100 else code - 92)
    if code in (39, 49):
        return style._replace(foreground=None) if code == 39 else style._replace(background=None)
    return style


def _extended_color(numbers: list[int]) -> tuple[int | None, int]:
    """Return the color of a 256-color or RGB code, and how many numbers it takes."""
    if numbers[:1] == [5] and len(numbers) >= 2:
        return _nearest(_rgb_of_256(min(numbers[1], 255))), 2
    if numbers[:1] == [2] and len(numbers) >= 4:
        red, green, blue = numbers[1:4]
        return _nearest((red, green, blue)), 4
    return None, len(numbers)


def _rgb_of_256(number: int) -> tuple[int, int, int]:
    if number < len(_PALETTE):
        return _PALETTE[number]
    if number >= 232:
        return (8 + 10 * (number - 232),) * 3
    number -= 16
    return _CUBE_STEPS[number // 36], _CUBE_STEPS[number // 6 % 6], _CUBE_STEPS[number % 6]


def _nearest(color: tuple[int, int, int]) -> int:
    distances = [sum((one - other) ** 2 for one, other in zip(color, each, strict=True)) for each in _PALETTE]
    return distances.index(min(distances))
