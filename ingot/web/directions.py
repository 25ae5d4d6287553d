"""Signs that change the direction of writing: code with them reads as it does not run, so pages show where they are."""

import re
from html import escape

from markupsafe import Markup

_SIGNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_ANY = re.compile(f"[{_SIGNS}]")


def turns(text: str) -> bool:
    """Whether some of it may be shown in another order than it is written."""
    return not text.isascii() and any(sign in text for sign in _SIGNS)


def with_marks(html: str) -> str:
    """HTML whose text is escaped, with a mark that everybody sees in place of each such sign."""
    return html if html.isascii() else _ANY.sub(_mark, html)


def visible(text: str) -> Markup:
    """The same of a text, for templates."""
    return Markup(with_marks(escape(text)))  # noqa: S704 - It has just been escaped.


def _mark(found: "re.Match[str]") -> str:
    return f'<span class="turn" title="Changes the direction of writing">U+{ord(found[0]):04X}</span>'
