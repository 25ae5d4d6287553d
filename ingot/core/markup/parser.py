"""Markdown parser with a limit on the work per text.

The parser is created at its first use, so that a process that renders no markdown does not pay for it.
"""

import re
from collections.abc import MutableMapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ingot.core.markup.blocks import enable_blocks
from ingot.core.markup.emoji import replace_shortcodes
from ingot.core.markup.headings import find_contents
from ingot.core.markup.inlines import enable_wiki_links, find_changed_words
from ingot.core.markup.math import enable_formulas
from ingot.core.markup.references import (
    MAX_REFERENCES,
    PlainUrl,
    Reference,
    reference_from_url,
    scan_references,
    trim_url,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MAX_STEPS = 400_000
"""Work limit of one text; a page of prose takes a few hundred steps."""
MAX_INLINE_LENGTH = 20_000
"""A longer paragraph is treated as plain text, because each delimiter in it may scan all of it."""
_STEPS_PER_LINE = 5
_STEPS_PER_CHARACTER = {**dict.fromkeys("]!*_~<`", 4), "[": 12}
_STEPS_PER_PARAGRAPH = 4
_MAX_NESTING = 40
_MAX_BLOCK_NESTING = _MAX_NESTING - 2
"""Blocks in deeper ones are shown as text; the parser drops blocks at its own limit, which a list exceeds by two."""

_URL = re.compile(r"https?://[^\s<>\"`\[\]]++")
_BOX = re.compile(r"\[([ xX])\][ \t]")


class TooMuchWork(Exception):
    """The text exceeds the work limit."""


class WorkBudget:
    """The remaining work of a text, its number of references and the parsing options."""

    def __init__(self, base_url: str | None, gfm: bool, *, document: bool = False, wiki: bool = False) -> None:
        self.base_url = base_url
        self.gfm = gfm
        self.document = document
        """Whether the text is a file or a wiki page, which may begin with front matter."""
        self.wiki = wiki
        self.references = 0
        self._left = MAX_STEPS

    def spend(self, steps: int) -> None:
        """Subtract steps; raise TooMuchWork when none are left."""
        self._left -= steps
        if self._left < 0:
            raise TooMuchWork

    @property
    def spent(self) -> int:
        """The steps spent so far."""
        return MAX_STEPS - self._left


def parse(text: str, budget: WorkBudget) -> "list[Token]":
    """Return the tokens of a text; a reference is a token with a ``Reference`` in its ``meta``."""
    env: MutableMapping[str, Any] = {"budget": budget}
    try:
        return parser().parse(text, env)
    except RecursionError as deep:
        raise TooMuchWork from deep


@cache
def parser() -> "MarkdownIt":
    """Return the parser of this process."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    markdown = MarkdownIt("commonmark", {"html": True, "maxNesting": _MAX_NESTING}).enable(["table", "strikethrough"])
    footnote_plugin(markdown, inline=False)
    deflist_plugin(markdown)
    enable_formulas(markdown)
    enable_wiki_links(markdown)
    markdown.inline.ruler.before("text", "budget", _count_inline)
    markdown.inline.ruler.after("text", "address", _address)
    markdown.block.ruler.before(
        "table", "budget", _count_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    markdown.block.ruler.before("budget", "deep_text", _deep_text)
    enable_blocks(markdown)
    markdown.core.ruler.before("inline", "contents", find_contents)
    markdown.core.ruler.at("inline", _inline)
    markdown.core.ruler.before("text_join", "tasks", _tasks)
    markdown.core.ruler.before("text_join", "references", _references)
    # Compile the rule chains now: that happens at the first use and is not thread-safe.
    markdown.parse("first *use*", {"budget": WorkBudget(None, False)})
    return markdown


def _count_inline(state: "StateInline", silent: bool) -> bool:  # noqa: ARG001 - The signature of a rule.
    state.env["budget"].spend(_STEPS_PER_CHARACTER.get(state.src[state.pos], 1))
    return False


def _count_block(state: "StateBlock", start: int, end: int, silent: bool) -> bool:  # noqa: ARG001 - The signature of a rule.
    state.env["budget"].spend(_STEPS_PER_LINE)
    return False


def _deep_text(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """Parse the rest of a block that is nested too deeply as one paragraph."""
    if silent or state.level < _MAX_BLOCK_NESTING:
        return False
    following = start + 1
    while following < end and (state.isEmpty(following) or state.sCount[following] >= state.blkIndent):
        following += 1
    state.line = following
    state.push("paragraph_open", "p", 1)
    text = state.push("inline", "", 0)
    lines = state.getLines(start, following, state.blkIndent, False).split("\n")
    text.content = "\n".join(line.strip() for line in lines).strip()
    text.map, text.children = [start, following], []
    state.push("paragraph_close", "p", -1)
    return True


def _inline(state: "StateCore") -> None:
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        state.env["budget"].spend(_STEPS_PER_PARAGRAPH)
        if len(token.content) > MAX_INLINE_LENGTH:
            token.children.append(_token("text", token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _address(state: "StateInline", silent: bool) -> bool:
    """Parse a bare URL before its characters are taken for emphasis."""
    if silent or state.linkLevel > 0 or not state.src.startswith("://", state.pos):
        return False
    scheme = next((candidate for candidate in ("https", "http") if state.src.endswith(candidate, 0, state.pos)), None)
    if scheme is None or not state.pending.endswith(scheme):
        return False
    start = state.pos - len(scheme)
    match = _URL.match(state.src, start)
    if match is None or (start and (state.src[start - 1].isalnum() or state.src[start - 1] == "_")):
        return False
    url = trim_url(match[0])
    if len(url) <= len(scheme) + 3:
        return False
    state.pending = state.pending[: -len(scheme)]
    for token in _link(url, state.env["budget"].base_url):
        state.tokens.append(_flushed(state, token))
    state.pos = start + len(url)
    return True


def _flushed(state: "StateInline", token: "Token") -> "Token":
    if state.pending:
        state.pushPending()
    token.level = state.level
    return token


def _tasks(state: "StateCore") -> None:
    """Convert task list markers at the start of list items to checkbox tokens."""
    tokens = state.tokens
    lists: list[Token] = []
    for index, token in enumerate(tokens):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            lists.append(token)
        elif token.type in ("bullet_list_close", "ordered_list_close") and lists:
            lists.pop()
        elif token.type == "inline" and index > 1 and tokens[index - 2].type == "list_item_open":
            first = token.children[0] if token.children else None
            box = _BOX.match(token.content)
            if box is None or first is None or first.type != "text" or not first.content.startswith(box[0][:3]):
                continue
            first.content = first.content[3:]
            assert token.children is not None  # noqa: S101 - ``first`` is one of them.
            token.children.insert(0, _token("task_box", box[1].strip()))
            tokens[index - 2].meta["class"] = "task-list-item"
            if lists:
                lists[-1].meta["class"] = "task-list"


def _references(state: "StateCore") -> None:
    budget: WorkBudget = state.env["budget"]
    for token in state.tokens:
        if token.type == "inline" and token.children:
            token.children = _with_references(token.children, budget)


def _with_references(children: "list[Token]", budget: WorkBudget) -> "list[Token]":
    tokens: list[Token] = []
    link_depth = 0
    for child in children:
        opened = child.type == "link_open" or (child.type == "html_inline" and _opens_link(child.content))
        closed = child.type == "link_close" or (child.type == "html_inline" and child.content[:3].lower() == "</a")
        link_depth += opened - closed
        if child.type == "text" and link_depth <= 0:
            tokens.extend(_changes_and_pieces(child.content, budget))
        elif child.type == "link_close" and child.markup == "autolink":
            tokens.append(child)
            _replace_autolink(tokens, budget)
        else:
            tokens.append(child)
    return tokens


def _opens_link(html: str) -> bool:
    return html[:2].lower() == "<a" and html[2:3] in (" ", "\t", "\n", ">", "/")


def _replace_autolink(tokens: "list[Token]", budget: WorkBudget) -> None:
    """Replace an autolink in angle brackets by the reference that its URL names."""
    href = str(tokens[-3].attrs.get("href", "")) if len(tokens) > 2 and tokens[-3].type == "link_open" else ""
    reference = reference_from_url(href, budget.base_url) if budget.gfm else None
    if reference is not None and budget.references < MAX_REFERENCES:
        budget.references += 1
        tokens[-3:] = [_token("reference", href, reference)]


def _changes_and_pieces(text: str, budget: WorkBudget) -> "list[Token]":
    """Split a text into added and deleted words and the text between them, and each of these into pieces."""
    tokens: list[Token] = []
    position = 0
    for change in find_changed_words(text):
        tokens.extend(_pieces(text[position : change.start], budget))
        tokens.append(_token("change_open", change.kind))
        tokens.extend(_pieces(text[change.start + 2 : change.end], budget))
        tokens.append(_token("change_close", ""))
        position = change.end + 2
    return tokens + _pieces(text[position:], budget)


def _pieces(text: str, budget: WorkBudget) -> "list[Token]":
    """Split a text into references, URLs and the text between them."""
    pieces: list[Token] = []
    position = 0
    for match in scan_references(text, budget.base_url):
        if isinstance(match, Reference) and (not budget.gfm or budget.references >= MAX_REFERENCES):
            continue
        pieces.append(_token("text", replace_shortcodes(text[position : match.start])))
        if isinstance(match, PlainUrl):
            pieces.extend(_link(match.url, None))
        else:
            budget.references += 1
            pieces.append(_token("reference", text[match.start : match.end], match))
        position = match.end
    pieces.append(_token("text", replace_shortcodes(text[position:])))
    return pieces


def _link(url: str, base_url: str | None) -> "list[Token]":
    """Return the tokens of a link whose text is its URL."""
    opened, closed = _token("link_open", ""), _token("link_close", "")
    opened.tag = closed.tag = "a"
    opened.nesting, closed.nesting = 1, -1
    opened.attrs = {"href": url}
    # URLs of other servers cannot be references, so only those of this server are checked again.
    opened.markup = closed.markup = "autolink" if base_url and url.startswith(base_url) else "linkify"
    return [opened, _token("text", url), closed]


def _token(kind: str, content: str, meaning: Reference | None = None) -> "Token":
    from markdown_it.token import Token

    token = Token(kind, "", 0, content=content)
    if meaning is not None:
        token.meta = {"reference": meaning}
    return token
