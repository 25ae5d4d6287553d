"""Blocks beyond CommonMark: front matter, quotes between lines of ``>>>``, callouts between lines of ``:::``, alerts.

Each search for the end of a block is charged to the work budget of the text.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

ALERTS = {
    "note": "Note",
    "tip": "Tip",
    "important": "Important",
    "warning": "Warning",
    "caution": "Caution",
}
"""Titles of alerts by their kind."""
_CALLOUTS = {**{kind: kind for kind in ALERTS}, "info": "note", "danger": "caution"}
_ALERT = re.compile(r"\[!(note|tip|important|warning|caution)\](?:[ \t]++([^\n]*+))?[ \t]*+(?:\n|$)", re.IGNORECASE)
_FRONT_MATTER = {"---": "yaml", "+++": "toml", ";;;": "json"}
_CALLOUT = re.compile(r":::[ \t]*+([a-z]++)(?:[ \t]++([^\n]*+))?[ \t]*+", re.IGNORECASE)
_INTERRUPTED = ["paragraph", "reference", "blockquote", "list"]
"""The blocks that end where one of these begins."""


def enable_blocks(markdown: "MarkdownIt") -> None:
    """Add the rules for these blocks to a parser."""
    markdown.block.ruler.before("budget", "front_matter", _front_matter)
    markdown.block.ruler.before("blockquote", "fenced_quote", _fenced_quote, {"alt": _INTERRUPTED})
    markdown.block.ruler.before("blockquote", "callout", _callout, {"alt": _INTERRUPTED})
    markdown.core.ruler.before("inline", "alerts", _alerts)


def _front_matter(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """Parse the front matter of a file or wiki page as a code block."""
    if start or silent or state.level or not state.env["budget"].document:
        return False
    fence = _line(state, 0)[:3]
    language = _FRONT_MATTER.get(fence)
    if language is None or _line(state, 0) not in (fence, fence + language):
        return False
    last = _find_line(state, fence, 1, end)
    if last is None or last == 1:
        return False
    token = state.push("fence", "code", 0)
    token.info, token.markup = language, fence
    token.content = state.getLines(1, last, 0, True)
    token.map = [0, last + 1]
    state.line = last + 1
    return True


def _fenced_quote(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """Parse the lines between two lines of ``>>>`` as a quote."""
    fence = _line(state, start)
    if len(fence) < 3 or fence.strip(">") or state.is_code_block(start):
        return False
    last = _find_line(state, fence, start + 1, end)
    if last is None:
        return False
    if not silent:
        state.push("blockquote_open", "blockquote", 1).map = [start, last + 1]
        _parse_inner_lines(state, start + 1, last)
        state.push("blockquote_close", "blockquote", -1)
        state.line = last + 1
    return True


def _callout(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """Parse ``:::note Title`` and the lines up to ``:::`` as an alert."""
    line = _line(state, start)
    match = _CALLOUT.fullmatch(line) if line.startswith(":::") else None
    kind = _CALLOUTS.get(match[1].lower()) if match else None
    if match is None or kind is None or state.is_code_block(start):
        return False
    last = _find_line(state, ":::", start + 1, end)
    if last is None:
        return False
    if not silent:
        opened = state.push("alert_open", "div", 1)
        opened.meta, opened.map = {"kind": kind}, [start, last + 1]
        _push_title(state, (match[2] or "").strip() or ALERTS[kind])
        _parse_inner_lines(state, start + 1, last)
        state.push("alert_close", "div", -1)
        state.line = last + 1
    return True


def _push_title(state: "StateBlock", title: str) -> None:
    state.push("alert_title_open", "p", 1)
    inline = state.push("inline", "", 0)
    inline.content, inline.children = title, []
    state.push("alert_title_close", "p", -1)


def _parse_inner_lines(state: "StateBlock", first: int, last: int) -> None:
    parent_type, line_max = state.parentType, state.lineMax
    state.parentType, state.lineMax = "blockquote", last
    state.md.block.tokenize(state, first, last)
    state.parentType, state.lineMax = parent_type, line_max


def _find_line(state: "StateBlock", text: str, first: int, end: int) -> int | None:
    """Return the next line with exactly this text in the same container."""
    for line in range(first, end):
        state.env["budget"].spend(1)
        if state.sCount[line] < state.blkIndent and not state.isEmpty(line):
            return None
        if _line(state, line) == text:
            return line
    return None


def _line(state: "StateBlock", line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _alerts(state: "StateCore") -> None:
    """Convert quotes that begin with ``[!NOTE]`` and the like to alerts."""
    quotes: list[Token | None] = []
    tokens: list[Token] = []
    for index, token in enumerate(state.tokens):
        tokens.append(token)
        if token.type == "blockquote_open":
            quotes.append(_alert_or_none(state.tokens, index))
            if quotes[-1] is not None:
                tokens.extend(_title(quotes[-1].meta["title"], token.level + 1))
        elif token.type == "blockquote_close" and quotes and quotes.pop() is not None:
            token.type, token.tag = "alert_close", "div"
    state.tokens = [token for token in tokens if token.type != "removed"]


def _alert_or_none(tokens: "list[Token]", index: int) -> "Token | None":
    """Convert the quote at an index if its first line makes it an alert, and remove that line."""
    quote, first = tokens[index], tokens[index + 2] if len(tokens) > index + 2 else None
    if first is None or first.type != "inline" or tokens[index + 1].type != "paragraph_open":
        return None
    match = _ALERT.match(first.content)
    if match is None:
        return None
    kind = match[1].lower()
    quote.type, quote.tag = "alert_open", "div"
    quote.meta = {"kind": kind, "title": (match[2] or "").strip() or ALERTS[kind]}
    first.content = first.content[match.end() :]
    if not first.content.strip():
        for token in tokens[index + 1 : index + 4]:
            token.type = "removed"
    return quote


def _title(text: str, level: int) -> "list[Token]":
    from markdown_it.token import Token

    inline = Token("inline", "", 0, content=text, level=level + 1, children=[])
    return [Token("alert_title_open", "p", 1, level=level), inline, Token("alert_title_close", "p", -1, level=level)]
