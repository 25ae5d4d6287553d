"""Formulas between dollar signs: ``$a$`` and ``$$a$$`` in a text, and blocks between lines of ``$$``.

Prices and shell variables are no formulas: a single dollar sign opens only before and closes only after a character
that is no space, and has no letter or digit on its other side. A formula contains no dollar sign, except an escaped
one, so that each search ends at the next one.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

INLINE_FORMULA = re.compile(
    r"""(?<![\w$\\])
    (?:
      (?P<display>\$\$)(?P<block>(?:[^$\\`\n]|\\.|\\?+\n(?![ \t]*+\n))++)\$\$
    | \$(?![\s$])(?P<inline>(?:[^$\\`\n]|\\.)++)(?<!\s)\$
    )(?![\w$])""",
    re.VERBOSE,
)
BLOCK_DELIMITER = re.compile(r"[ \t>]*+(?:(?:[-+*]|\d{1,9}+[.)])[ \t]++)*+\$\$[ \t]*+")
"""Line that opens or closes a block, also in quotes and lists."""


def enable_formulas(markdown: "MarkdownIt") -> None:
    """Add the rules for formulas to a parser."""
    markdown.inline.ruler.before("backticks", "formula", _inline_formula)
    markdown.block.ruler.before(
        "fence", "formula", _block_formula, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )


def _inline_formula(state: "StateInline", silent: bool) -> bool:
    if state.src[state.pos] != "$":
        return False
    match = INLINE_FORMULA.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("formula", "code", 0)
        token.markup = match["display"] or "$"
        token.content = (match["block"] or match["inline"]).strip()
    state.pos = match.end()
    return True


def _block_formula(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """Parse a block as a code block of the language ``math``."""
    if state.is_code_block(start) or _line(state, start) != "$$":
        return False
    last = next((line for line in range(start + 1, end) if _line(state, line) == "$$"), None)
    if last is None or any(0 <= state.sCount[line] < state.blkIndent for line in range(start + 1, last + 1)):
        return False
    if not silent:
        token = state.push("fence", "code", 0)
        token.info, token.markup = "math", "$$"
        token.content = state.getLines(start + 1, last, state.sCount[start], True)
        token.map = [start, last + 1]
        state.line = last + 1
    return True


def _line(state: "StateBlock", line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()
