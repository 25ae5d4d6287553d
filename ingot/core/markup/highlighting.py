"""Code with its syntax in colours, by classes that a style sheet knows."""

import re
from functools import lru_cache
from html import escape
from typing import Any

MAX_LENGTH = 50_000
"""Longer code is shown plainly."""
MAX_TOTAL_LENGTH = 200_000
"""So is what comes after so much of it in one text."""
BLOCK_COST = 1_000
"""Each block counts as so many characters more, since a lexer is made for it."""
MAX_FILE_LENGTH = 200_000
"""A file by itself may be longer, since each is kept when it has been done once."""
_MAX_LINE_LENGTH = 500

# Those that people write most. Any of several hundred lexers may be slow on what was made to be so: each of these is
# tried in the tests, and the ones for C#, Groovy and console sessions did not pass.
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


# What goes on until its end is looked for anew from each of its beginnings.
_ENDS = {"/*": "*/", "<!--": "-->", "<?": "?>", "<![CDATA[": "]]>", "(*": "*)", "{-": "-}"}
_MAX_UNTERMINATED = 20
# Words in front of a method's name, of which a rule that begins with them tries every part.
_SLOW_RULE = r"\s+)+?)"


# What files are called besides the names of their languages.
_ENDINGS = {"cc": "cpp", "hh": "cpp", "jsx": "js", "mjs": "js", "cjs": "js", "tsx": "ts", "htm": "html", "pyi": "py"}
_ENDINGS |= {"gemspec": "rb", "rake": "rb", "conf": "nginx", "mli": "ml", "gql": "graphql", "kts": "kt", "bats": "sh"}
_NAMES = {"gemfile": "rb", "rakefile": "rb", "cmakelists.txt": "cmake", "containerfile": "docker", ".bashrc": "sh"}
# These say nothing by themselves, and are most of what a lexer finds.
_UNCOLORED = re.compile(r'<span class="(?:n|p|w|o|nx|l)">([^<]*)</span>')


def language_of(path: str) -> str:
    """The language of a file by its name; empty where we would not colour it."""
    name = path.rpartition("/")[2].lower()
    ending = name.rpartition(".")[2]
    found = _NAMES.get(name) or _ENDINGS.get(ending) or (ending if "." in name else name)
    return found if found in _LEXERS else ""


def highlight_lines(code: str, language: str) -> list[str]:
    """The lines of a file as HTML, each whole by itself."""
    lines = _UNCOLORED.sub(r"\1", highlight_code(code, language, "", MAX_FILE_LENGTH)).split("\n")
    number = code.count("\n") + 1
    if len(lines) == number + 1 and not lines[-1]:  # A line that is coloured is always ended.
        lines.pop()
    # A lexer may have another idea of what ends a line; then their numbers are worth more than colours.
    return lines if len(lines) == number else escape(code, quote=False).split("\n")


def highlight_code(code: str, language: str, class_prefix: str, max_length: int = MAX_LENGTH) -> str:
    """The code as HTML; where we do not know the language, or it is too much, without colours."""
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

    known = find_lexer_class_by_name(name)
    if name != "java":
        return known
    kept = {state: [rule for rule in rules if not _starts_slowly(rule)] for state, rules in known.tokens.items()}
    return type("JavaWithoutMethods", (known,), {"tokens": kept})


def _starts_slowly(rule: Any) -> bool:
    return isinstance(rule, tuple) and isinstance(rule[0], str) and _SLOW_RULE in rule[0]
