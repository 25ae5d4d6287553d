"""Shares of programming languages in a tree, determined by file names."""

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.library import open_repository

if TYPE_CHECKING:
    import pygit2

MAX_FILES = 20_000
MAX_FILE_BYTES = 1024 * 1024
"""Larger files are usually generated."""
_FOLDER = 0o040000
_PLAIN_FILES = (0o100644, 0o100755, 0o100664)  # Neither symbolic links nor submodules.

# Markup, data and prose are excluded because they would outweigh the code.
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
    """.split()  # noqa: SIM905 - A list of words is easier to read this way.
)
_share_cache: BoundedCache[tuple[str, str], dict[str, float]] = declare_cache("languages", share=1)
_SHARES_BYTES = 2_000
_GENERATED = (".min.js", ".min.css", ".bundle.js", ".pb.go", "_pb2.py", ".designer.cs")


def language_shares(path: Path, tip: str) -> dict[str, float]:
    """Return the languages of a commit in percent of their bytes, largest first, of at most ``MAX_FILES`` files.

    Callers must not modify the result.
    """
    key = str(path), tip
    cached = _share_cache.get(key)
    return _share_cache.put(key, _compute_shares(path, tip), _SHARES_BYTES) if cached is None else cached


def _compute_shares(path: Path, tip: str) -> dict[str, float]:
    require_blocking_allowed()
    repository = open_repository(path)
    odb = repository.odb
    sizes: dict[str, int] = {}
    for blob, language in _files(repository, tip):
        # Read the size from the header, so that large files are never loaded.
        size = odb.read_header(blob)[1]
        if size <= MAX_FILE_BYTES and not _is_binary(repository, blob):
            sizes[language] = sizes.get(language, 0) + size
    total = sum(sizes.values())
    ordered = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    return {language: round(100 * size / total, 2) for language, size in ordered if size}


def language_or_none(name: str) -> str | None:
    """Return the language of a file by its name."""
    if name.endswith(_GENERATED):
        return None
    return _BY_NAME.get(name) or _BY_EXTENSION.get(name.rpartition(".")[2].lower() if "." in name else "")


def _is_binary(repository: "pygit2.Repository", blob: "pygit2.Oid") -> bool:
    found: Any = repository[blob]
    return bool(found.is_binary)


def _files(repository: "pygit2.Repository", tip: str) -> Iterator[tuple["pygit2.Oid", str]]:
    """Yield the files in a recognized language, nearest to the root first, so that the counted part is representative.

    The number of folders is limited too: a few kilobytes of objects can describe a tree of ten billion entries.
    """
    commit: Any = repository[tip]
    folders = deque([commit.tree_id])
    seen_folders = seen_files = 0
    while folders:
        tree: Any = repository[folders.popleft()]
        for entry in tree:
            if entry.filemode == _FOLDER and entry.name not in _VENDORED:
                seen_folders += 1
                if seen_folders <= MAX_FILES:
                    folders.append(entry.id)
            elif entry.filemode in _PLAIN_FILES:
                seen_files += 1
                if seen_files > MAX_FILES:
                    return
                language = language_or_none(entry.name)
                if language is not None:
                    yield entry.id, language
