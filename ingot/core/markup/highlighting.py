"""Syntax highlighting as HTML with CSS classes."""

import re
from functools import lru_cache
from html import escape
from typing import Any

MAX_LENGTH = 50_000
"""Longer code is not highlighted."""
MAX_TOTAL_LENGTH = 200_000
"""After this much code in one text, the rest is not highlighted."""
BLOCK_COST = 1_000
"""Additional characters counted for each block, because creating a lexer takes time."""
MAX_FILE_LENGTH = 200_000
"""Limit for a file, which is higher because the result is cached."""
_MAX_LINE_LENGTH = 500

# The most common languages. A lexer may be slow on hostile input, so the tests try each of these; the lexers for C#,
# Groovy and console sessions did not pass.
_LEXERS = {
    name: lexer
    for lexer, names in {
        "python": "py python3",
        "pycon": "",
        "ruby": "rb",
        "javascript": "js node",
        "typescript": "ts",
        "java": "",
        "kotlin": "kt",
        "scala": "",
        "c": "h",
        "cpp": "c++ cxx hpp",
        "fsharp": "f#",
        "go": "golang",
        "rust": "rs",
        "swift": "",
        "dart": "",
        "php": "",
        "perl": "pl",
        "lua": "",
        "r": "",
        "julia": "jl",
        "haskell": "hs",
        "ocaml": "ml",
        "elixir": "ex exs",
        "erlang": "erl",
        "clojure": "clj",
        "bash": "sh shell zsh",
        "powershell": "ps1 pwsh",
        "sql": "",
        "json": "",
        "yaml": "yml",
        "toml": "",
        "ini": "cfg dosini",
        "xml": "svg",
        "html": "",
        "css": "",
        "scss": "",
        "diff": "udiff patch",
        "docker": "dockerfile",
        "make": "makefile mk",
        "cmake": "",
        "terraform": "tf hcl",
        "protobuf": "proto",
        "graphql": "",
        "nginx": "",
        "nix": "",
        "zig": "",
        "tex": "latex",
        "vim": "viml",
    }.items()
    for name in (lexer, *names.split())
}


# Lexers search for the end of such a block from each of its starts, which is quadratic if there is no end.
_ENDS = {"/*": "*/", "<!--": "-->", "<?": "?>", "<![CDATA[": "]]>", "(*": "*)", "{-": "-}"}
_MAX_UNTERMINATED = 20
# Part of a slow rule: it backtracks over every combination of the words before a method name.
_SLOW_RULE = r"\s+)+?)"


# File extensions and names that are not names of their languages.
_ENDINGS = {"cc": "cpp", "hh": "cpp", "jsx": "js", "mjs": "js", "cjs": "js", "tsx": "ts", "htm": "html", "pyi": "py"}
_ENDINGS |= {"gemspec": "rb", "rake": "rb", "conf": "nginx", "mli": "ml", "gql": "graphql", "kts": "kt", "bats": "sh"}
_NAMES = {"gemfile": "rb", "rakefile": "rb", "cmakelists.txt": "cmake", "containerfile": "docker", ".bashrc": "sh"}
# Spans without a color of their own, which are most of a lexer's output.
_UNCOLORED = re.compile(r'<span class="(?:n|p|w|o|nx|l)">([^<]*)</span>')


def language_of(path: str) -> str:
    """Return the language of a file by its name; empty if it is not highlighted."""
    name = path.rpartition("/")[2].lower()
    extension = name.rpartition(".")[2]
    language = _NAMES.get(name) or _ENDINGS.get(extension) or (extension if "." in name else name)
    return language if language in _LEXERS else ""


def highlight_lines(code: str, language: str) -> list[str]:
    """Return the lines of a file as HTML, each of them well-formed."""
    lines = _UNCOLORED.sub(r"\1", highlight_code(code, language, "", MAX_FILE_LENGTH)).split("\n")
    count = code.count("\n") + 1
    if len(lines) == count + 1 and not lines[-1]:  # Pygments ends the last line with a newline.
        lines.pop()
    # A lexer may split lines differently; correct line numbers matter more than colors.
    return lines if len(lines) == count else escape(code, quote=False).split("\n")


def highlight_code(code: str, language: str, class_prefix: str, max_length: int = MAX_LENGTH) -> str:
    """Return code as HTML; without colors if the language is unknown or the code is too long or slow to lex."""
    lexer = _LEXERS.get(language.lower())
    if lexer is None or len(code) > max_length or _is_slow(code):
        return escape(code, quote=False)
    return _pygments(code, lexer, class_prefix)


def _is_slow(code: str) -> bool:
    if any(len(line) > _MAX_LINE_LENGTH for line in code.split("\n")):
        return True
    return any(code.count(start, code.rfind(end) + 1) > _MAX_UNTERMINATED for start, end in _ENDS.items())


def _pygments(code: str, lexer: str, class_prefix: str) -> str:
    from pygments import highlight  # type: ignore[import-untyped] # It has no types.
    from pygments.formatters.html import HtmlFormatter  # type: ignore[import-untyped] # It has no types.

    formatter = HtmlFormatter(nowrap=True, classprefix=class_prefix)
    return str(highlight(code, _lexer_class(lexer)(stripnl=False, ensurenl=False), formatter))


@lru_cache(maxsize=256)
def _lexer_class(name: str) -> Any:
    from pygments.lexers import find_lexer_class_by_name  # type: ignore[import-untyped] # It has no types.

    lexer = find_lexer_class_by_name(name)
    if name != "java":
        return lexer
    fast_rules = {state: [rule for rule in rules if not _starts_slowly(rule)] for state, rules in lexer.tokens.items()}
    return type("JavaWithoutMethods", (lexer,), {"tokens": fast_rules})


def _starts_slowly(rule: Any) -> bool:
    return isinstance(rule, tuple) and isinstance(rule[0], str) and _SLOW_RULE in rule[0]
