"""Marking of bidirectional control characters, which can make code look different from what runs."""

import re
from html import escape

from markupsafe import Markup

from ingot.projects.projects.views import ProjectView

_BIDI_CHARACTERS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_ANY_BIDI = re.compile(f"[{_BIDI_CHARACTERS}]")


def has_bidi_characters(text: str) -> bool:
    """Return whether the text contains bidirectional control characters."""
    return not text.isascii() and any(character in text for character in _BIDI_CHARACTERS)


def warns_of_characters(project: ProjectView) -> bool:
    """Return whether pages of a project warn of such characters; they are marked in any case."""
    warns: bool = project.warn_about_potentially_unwanted_characters  # type: ignore[attr-defined]  # Declared as an option.
    return warns


def mark_bidi_characters(html: str) -> str:
    """Replace each bidirectional control character in escaped HTML by a visible mark."""
    return html if html.isascii() else _ANY_BIDI.sub(_mark, html)


def mark_bidi_in_text(text: str) -> Markup:
    """Escape a text and mark its bidirectional control characters, for templates."""
    return Markup(mark_bidi_characters(escape(text)))  # noqa: S704 - It has just been escaped.


def _mark(match: "re.Match[str]") -> str:
    return f'<span class="bidi" title="Bidirectional control character">U+{ord(match[0]):04X}</span>'
