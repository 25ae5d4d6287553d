"""Signs that change the direction of writing: code with them reads as it does not run, so pages show where they are."""

import re
from html import escape

from markupsafe import Markup

_BIDI_CHARACTERS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_ANY_BIDI = re.compile(f"[{_BIDI_CHARACTERS}]")


def has_bidi_characters(text: str) -> bool:
    """Whether some of it may be shown in another order than it is written."""
    return not text.isascii() and any(sign in text for sign in _BIDI_CHARACTERS)


def mark_bidi_characters(html: str) -> str:
    """HTML whose text is escaped, with a mark that everybody sees in place of each such sign."""
    return html if html.isascii() else _ANY_BIDI.sub(_mark, html)


def mark_bidi_in_text(text: str) -> Markup:
    """The same of a text, for templates."""
    return Markup(mark_bidi_characters(escape(text)))  # noqa: S704 - It has just been escaped.


def _mark(found: "re.Match[str]") -> str:
    return f'<span class="turn" title="Changes the direction of writing">U+{ord(found[0]):04X}</span>'
