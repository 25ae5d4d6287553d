"""Code and emoji in titles of issues and merge requests."""

import re

from markupsafe import Markup, escape

from ingot.core.markup.emoji import replace_shortcodes

_CODE = re.compile(r"(?<!`)(`{1,3}+)(?!`)([^`]++)\1(?!`)")


def title_as_html(title: str) -> str:
    """Return a title with code between backticks as elements and shortcodes as emoji; nothing else is markup."""
    if "`" not in title:
        return replace_shortcodes(title)
    pieces: list[str] = []
    position = 0
    for match in _CODE.finditer(title):
        pieces.append(escape(replace_shortcodes(title[position : match.start()])))
        pieces.append(f"<code>{escape(match[2])}</code>")
        position = match.end()
    pieces.append(escape(replace_shortcodes(title[position:])))
    return Markup("".join(pieces))  # noqa: S704 - Every piece is escaped.
