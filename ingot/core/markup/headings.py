"""Anchors of headings, and tables of contents that link to them."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.rules_core import StateCore

CONTENTS_MARKERS = frozenset({"[[_TOC_]]", "[_TOC_]", "[TOC]", "[[TOC]]"})
_MAX_ID_LENGTH = 100
_NOT_IN_ID = re.compile(r"[^\w\s-]")


class HeadingIds:
    """The ids of the headings of one text, each of which is unique."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, text: str) -> str:
        """Return the id of a heading with this text."""
        slug = _NOT_IN_ID.sub("", text[: 4 * _MAX_ID_LENGTH].lower()).strip()
        slug = "-".join(slug.split())[:_MAX_ID_LENGTH] or "heading"
        count = self._counts[slug] = self._counts.get(slug, -1) + 1
        return f"{slug}-{count}" if count else slug


def find_contents(state: "StateCore") -> None:
    """Convert the first paragraph that is ``[[_TOC_]]`` or ``[TOC]`` to a table of contents; a rule of the parser."""
    for index, token in enumerate(state.tokens):
        if token.type == "inline" and token.content in CONTENTS_MARKERS:
            paragraph = state.tokens[index - 1]
            if paragraph.type == "paragraph_open":
                paragraph.type, paragraph.nesting = "contents", 0
                del state.tokens[index : index + 2]
                return


def contents_list(headings: Sequence[tuple[int, str, str]], attributes: str) -> str:
    """Return nested lists of links to headings, given by level, id and text; empty without headings."""
    return "".join(_pieces(headings, attributes))


def _pieces(headings: Sequence[tuple[int, str, str]], attributes: str) -> Iterator[str]:
    levels: list[int] = []
    for level, slug, text in headings:
        while len(levels) > 1 and level <= levels[-2]:
            levels.pop()
            yield "</li>\n</ul>\n"
        if not levels or level > levels[-1]:
            yield "<ul>\n" if levels else f"<ul{attributes}>\n"
            levels.append(level)
        else:
            levels[-1] = level
            yield "</li>\n"
        yield f'<li><a href="#{escape(slug)}">{escape(text, quote=False)}</a>'
    yield "</li>\n</ul>\n" * len(levels)
