"""Symbols of a file, such as its classes and functions, for the list beside its lines.

They are found by the words that begin a definition, line by line: that is fast, works in an incomplete file, and needs
no parser for each language. A definition that begins in an unusual way is missing.
"""

import re
from typing import NamedTuple

from ingot.core.markup.lexers import LEXERS

MAX_SYMBOLS = 500
_MAX_LINES = 30_000
_MAX_LINE_LENGTH = 160
_MAX_DEPTH = 4
_NAME = r"([^\W\d][\w$?!]*)"


class FileSymbol(NamedTuple):
    """Definition in a file."""

    name: str
    number: int
    """Its line."""
    depth: int
    """Number of symbols around it, by their indentation."""


def _words(kinds: str, before: str = "") -> re.Pattern[str]:
    """Return the pattern of definitions by a word, with any of some modifiers before it."""
    modifiers = rf"(?:(?:{before})\s+)*" if before else ""
    return re.compile(rf"{modifiers}(?:{kinds})\s+{_NAME}")


_SCRIPT = re.compile(
    rf"(?:(?:export|default|declare|abstract|async)\s+)*(?:class|function\*?|interface|enum|namespace)\s+{_NAME}"
    rf"|(?:export\s+)?(?:type|const|let|var)\s+{_NAME}(?=\s*(?:<[^=]*>)?\s*=\s*(?:async\s*)?(?:function\b|\(|\w+\s*=>|\{{))"
)
_ACCESS = "public|private|protected|internal|static|final|abstract|sealed|partial|readonly|override|virtual|async|open"
# A function of such a language begins with its type; a line that ends with a semicolon is a call or a declaration.
_TYPED = re.compile(
    rf"(?:(?:{_ACCESS}|const|unsigned|inline|extern|synchronized|default|typedef)\s+)*"
    rf"(?:(?:class|struct|enum|union|interface|record|namespace|@interface)\s+{_NAME}(?=[^;]*$)"
    rf"|(?!(?:return|else|new|throw|case|goto|delete|using|import|package)\b)[\w:<>,\[\]?.]+[\s*&]+(?:\w+::)?~?{_NAME}"
    rf"(?=\s*\([^;]*$))"
)
_PATTERNS: dict[str, re.Pattern[str]] = {
    "python": _words("class|def", "async"),
    "ruby": re.compile(r"(?:class|module|def)\s+([\w:.]+[?!=]?)"),
    "go": re.compile(rf"(?:func\s+(?:\([^)]*\)\s*)?|type\s+){_NAME}"),
    "rust": _words("fn|struct|enum|trait|mod|union|type|macro_rules!", r"pub(?:\([^)]*\))?|async|unsafe|const|default"),
    "php": _words("class|interface|trait|enum|function", _ACCESS),
    "swift": _words("class|struct|enum|protocol|extension|func|actor", f"{_ACCESS}|mutating|fileprivate"),
    "kotlin": _words("class|interface|object|fun", f"{_ACCESS}|data|suspend|inline|enum|annotation|companion"),
    "scala": _words("class|trait|object|def|enum", f"{_ACCESS}|case|implicit|lazy"),
    "elixir": re.compile(r"(?:defmodule|defp?|defmacrop?|defprotocol)\s+([\w.]+[?!]?)"),
    "julia": _words("function|struct|module|macro|abstract type", "mutable"),
    "lua": re.compile(r"(?:local\s+)?function\s+([\w.:]+)"),
    "perl": _words("sub|package"),
    "bash": re.compile(r"(?:function\s+)?([\w-]+)\s*\(\)"),
    "zig": re.compile(
        rf"(?:(?:pub|export|inline)\s+)*(?:fn\s+{_NAME}|const\s+{_NAME}(?=\s*=\s*(?:struct|enum|union)))"
    ),
    "protobuf": _words("message|service|rpc|enum"),
    "graphql": _words("type|input|enum|interface|union|scalar"),
    "sql": re.compile(
        r"create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|trigger)\s+(?:if\s+not\s+exists\s+)?([\w.\"]+)",
        re.IGNORECASE,
    ),
    **dict.fromkeys(("javascript", "typescript"), _SCRIPT),
    **dict.fromkeys(("c", "cpp", "java", "csharp", "c#", "dart"), _TYPED),
}


def file_symbols(text: str, language: str) -> list[FileSymbol]:
    """Return the symbols of a file in their order; none if definitions of the language are not known."""
    pattern = _PATTERNS.get(LEXERS.get(language, language))
    if pattern is None:
        return []
    symbols: list[FileSymbol] = []
    indents: list[int] = []
    for number, line in enumerate(text.split("\n", _MAX_LINES)[:_MAX_LINES], 1):
        stripped = line.lstrip() if len(line) <= _MAX_LINE_LENGTH else ""
        match = pattern.match(stripped) if stripped else None
        if match is None:
            continue
        indent = len(line.expandtabs(4)) - len(stripped.expandtabs(4))
        while indents and indents[-1] >= indent:
            indents.pop()
        name = next(name for name in match.groups() if name)
        symbols.append(FileSymbol(name, number, min(len(indents), _MAX_DEPTH)))
        indents.append(indent)
        if len(symbols) == MAX_SYMBOLS:
            break
    return symbols
