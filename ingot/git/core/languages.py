"""Which programming languages a tree holds, told by the names of its files."""

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingot.git.core.library import open_repository

if TYPE_CHECKING:
    import pygit2

MAX_FILES = 20_000
MAX_FILE_BYTES = 1024 * 1024
"""What is larger was not written by a person."""
_FOLDER = 0o040000
_PLAIN_FILES = (0o100644, 0o100755, 0o100664)  # No links, and no other repositories.

# Markup, data and prose are left out, as they would drown the code.
_LANGUAGES = {
    "Ada": "adb ads",
    "Assembly": "asm s",
    "Awk": "awk",
    "Batchfile": "bat cmd",
    "C": "c h",
    "C#": "cs",
    "C++": "cc cpp cxx hh hpp hxx",
    "CMake": "cmake",
    "CSS": "css",
    "Clojure": "clj cljs cljc",
    "CoffeeScript": "coffee",
    "Common Lisp": "lisp cl",
    "Crystal": "cr",
    "Cuda": "cu cuh",
    "D": "d",
    "Dart": "dart",
    "Elixir": "ex exs",
    "Elm": "elm",
    "Emacs Lisp": "el",
    "Erlang": "erl hrl",
    "F#": "fs fsx",
    "Fortran": "f90 f95 f03 for",
    "GLSL": "glsl vert frag",
    "Go": "go",
    "Groovy": "groovy gradle",
    "HCL": "tf hcl",
    "HTML": "html htm",
    "Haskell": "hs",
    "Haxe": "hx",
    "Java": "java",
    "JavaScript": "js jsx mjs cjs",
    "Julia": "jl",
    "Jupyter Notebook": "ipynb",
    "Kotlin": "kt kts",
    "Less": "less",
    "Lua": "lua",
    "Makefile": "mk",
    "Nim": "nim",
    "Nix": "nix",
    "OCaml": "ml mli",
    "Objective-C": "m",
    "Objective-C++": "mm",
    "PHP": "php",
    "PLpgSQL": "plpgsql",
    "Pascal": "pas pp",
    "Perl": "pl pm",
    "PowerShell": "ps1 psm1",
    "Prolog": "pro",
    "Python": "py pyi pyx",
    "R": "r",
    "Ruby": "rb rake gemspec",
    "Rust": "rs",
    "SCSS": "scss",
    "SQL": "sql",
    "Scala": "scala sc",
    "Scheme": "scm ss",
    "Shell": "sh bash zsh",
    "Smalltalk": "st",
    "Solidity": "sol",
    "Svelte": "svelte",
    "Swift": "swift",
    "SystemVerilog": "sv svh",
    "Tcl": "tcl",
    "TeX": "tex sty cls",
    "TypeScript": "ts tsx mts",
    "VHDL": "vhd vhdl",
    "Verilog": "v",
    "Vim Script": "vim",
    "Visual Basic .NET": "vb",
    "Vue": "vue",
    "Zig": "zig",
}
_BY_EXTENSION = {ending: language for language, endings in _LANGUAGES.items() for ending in endings.split()}
_BY_NAME = {
    "Makefile": "Makefile",
    "GNUmakefile": "Makefile",
    "Dockerfile": "Dockerfile",
    "Rakefile": "Ruby",
    "Gemfile": "Ruby",
    "CMakeLists.txt": "CMake",
    "Jenkinsfile": "Groovy",
}
_VENDORED = frozenset(
    """
    node_modules bower_components jspm_packages vendor vendors third_party third-party thirdparty 3rdparty external
    externals deps dist build .yarn .bundle .venv venv site-packages Pods Carthage Godeps __pycache__ _vendor
    """.split()  # noqa: SIM905 - A list of words reads better so.
)
_GENERATED = (".min.js", ".min.css", ".bundle.js", ".pb.go", "_pb2.py", ".designer.cs")


def language_shares(path: Path, tip: str) -> dict[str, float]:
    """The languages below a commit, in percent of their bytes, the largest first; only so many files are counted."""
    repository = open_repository(path)
    headers = repository.odb
    sizes: dict[str, int] = {}
    for blob, language in _files(repository, tip):
        # The size comes from the header, so that no large file is ever read.
        size = headers.read_header(blob)[1]
        if size <= MAX_FILE_BYTES and not _is_binary(repository, blob):
            sizes[language] = sizes.get(language, 0) + size
    total = sum(sizes.values())
    ordered = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    return {language: round(100 * size / total, 2) for language, size in ordered if size}


def language_or_none(name: str) -> str | None:
    """The language of a file by its name."""
    if name.endswith(_GENERATED):
        return None
    return _BY_NAME.get(name) or _BY_EXTENSION.get(name.rpartition(".")[2].lower() if "." in name else "")


def _is_binary(repository: "pygit2.Repository", blob: "pygit2.Oid") -> bool:
    found: Any = repository[blob]
    return bool(found.is_binary)


def _files(repository: "pygit2.Repository", tip: str) -> Iterator[tuple["pygit2.Oid", str]]:
    """Files in a known language, the nearest to the root first, so that a bounded look is a fair one.

    Folders are bounded too: a few kilobytes can hold a tree of ten billion.
    """
    commit: Any = repository[tip]
    folders = deque([commit.tree_id])
    met = files = 0
    while folders:
        tree: Any = repository[folders.popleft()]
        for entry in tree:
            if entry.filemode == _FOLDER and entry.name not in _VENDORED:
                met += 1
                if met <= MAX_FILES:
                    folders.append(entry.id)
            elif entry.filemode in _PLAIN_FILES:
                files += 1
                if files > MAX_FILES:
                    return
                language = language_or_none(entry.name)
                if language is not None:
                    yield entry.id, language
