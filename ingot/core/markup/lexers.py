"""Lexers of the languages that are highlighted, and their output as HTML with CSS classes.

A lexer may take quadratic time on hostile code, so ``highlight_code`` runs only in a rendering process, whose time is
limited (``render_process.py``).
"""

import re
from functools import cache, lru_cache
from typing import Any

_MAX_LINE_LENGTH = 500

# The most common languages, known without loading Pygments. The tests try hostile code with each of these. All other
# lexers of Pygments are found by their aliases and file names; a slow one exceeds the time of its process.
LEXERS = {
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
# Many lexers try to match all blanks up to the next word from each blank line.
_BLANKS = re.compile(r"\s{2,}")
_MAX_BLANKS = 500
# Part of a slow rule: it backtracks over every combination of the words before a method name.
_SLOW_RULE = r"\s+)+?)"


# File extensions and names that are not names of their languages.
_ENDINGS = {"cc": "cpp", "hh": "cpp", "jsx": "js", "mjs": "js", "cjs": "js", "tsx": "ts", "htm": "html", "pyi": "py"}
_ENDINGS |= {"gemspec": "rb", "rake": "rb", "conf": "nginx", "mli": "ml", "gql": "graphql", "kts": "kt", "bats": "sh"}
_NAMES = {"gemfile": "rb", "rakefile": "rb", "cmakelists.txt": "cmake", "containerfile": "docker", ".bashrc": "sh"}
# They color nothing, or only guess.
_PLAIN_LEXERS = frozenset({"text", "output"})
# Spans without a color of their own, which are most of a lexer's output.
_UNCOLORED = re.compile(r'<span class="(?:n|p|w|o|nx|l)">([^<]*)</span>')


def language_of(path: str) -> str:
    """Return the language of a file by its name; empty if it is not highlighted."""
    name = path.rpartition("/")[2].lower()
    extension = name.rpartition(".")[2]
    language = _NAMES.get(name) or _ENDINGS.get(extension) or (extension if "." in name else name)
    if language in LEXERS:
        return language
    return _lexers_by_file_name().get(f"*.{extension}" if "." in name else name, "")


def lexer_for(language: str, code: str, max_length: int) -> str | None:
    """Return the lexer of a language; None if it is unknown or the code is too long or slow to lex."""
    lexer = LEXERS.get(language.lower()) or (_known_lexers().get(language.lower()) if language else None)
    return None if lexer is None or len(code) > max_length or _is_slow(code) else lexer


@cache
def _known_lexers() -> dict[str, str]:
    """Return the name of each lexer of Pygments by its aliases; used for languages that are not in ``LEXERS``."""
    from pygments.lexers import get_all_lexers  # type: ignore[import-untyped] # It has no types.

    return {
        alias.lower(): aliases[0]
        for _, aliases, _, _ in get_all_lexers(plugins=False)
        for alias in aliases
        if aliases[0] not in _PLAIN_LEXERS
    }


@cache
def _lexers_by_file_name() -> dict[str, str]:
    """Return the name of each lexer of Pygments by the patterns of its files, such as ``*.f90``."""
    from pygments.lexers import get_all_lexers  # It has no types.

    return {
        pattern.lower(): aliases[0]
        for _, aliases, patterns, _ in get_all_lexers(plugins=False)
        for pattern in patterns
        if aliases and aliases[0] not in _PLAIN_LEXERS
    }


def _is_slow(code: str) -> bool:
    if any(len(line) > _MAX_LINE_LENGTH for line in code.split("\n")):
        return True
    if any(blanks.end() - blanks.start() > _MAX_BLANKS for blanks in _BLANKS.finditer(code)):
        return True
    return any(code.count(start, code.rfind(end) + 1) > _MAX_UNTERMINATED for start, end in _ENDS.items())


def highlight_code(code: str, lexer: str, *, all_classes: bool = True) -> str:
    """Return code as HTML; without ``all_classes``, classes that have no color on our pages are omitted."""
    from pygments import highlight  # type: ignore[import-untyped] # It has no types.
    from pygments.formatters.html import HtmlFormatter  # type: ignore[import-untyped] # It has no types.

    html = highlight(code, _lexer_class(lexer)(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True))
    return str(html) if all_classes else _UNCOLORED.sub(r"\1", str(html))


@lru_cache(maxsize=256)
def _lexer_class(name: str) -> Any:
    from pygments.lexers import find_lexer_class_by_name

    lexer = find_lexer_class_by_name(name)
    if name != "java":
        return lexer
    fast_rules = {state: [rule for rule in rules if not _starts_slowly(rule)] for state, rules in lexer.tokens.items()}
    return type("JavaWithoutMethods", (lexer,), {"tokens": fast_rules})


def _starts_slowly(rule: Any) -> bool:
    return isinstance(rule, tuple) and isinstance(rule[0], str) and _SLOW_RULE in rule[0]
