"""Code that documents and docstrings name: files, modules, functions, settings and targets of make must exist."""

import re
from dataclasses import fields
from functools import cache

from ingot.core.settings import Settings
from tests.conventions.labels import ROOT
from tests.conventions.source_files import source_files

DOCUMENTS = (
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *(path for path in ROOT.glob("docs/*/*.md") if path.parent.name not in ("changes", "generated")),
)
DEVELOPER_DOCUMENTS = (
    "CONTRIBUTING.md",
    "docs/architecture.md",
    "docs/internals.md",
    "docs/glossary.md",
    *(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/subsystems/*.md")),
)
SUBSYSTEMS = {path.stem for path in ROOT.glob("docs/subsystems/*.md")} - {"README"}
CREATED_BY_USERS = {"ingot.toml", "lab.toml", "lib/a.py"}
_QUOTED = re.compile(r"``?([^`\n]+)``?")
_FILE = re.compile(r"[\w./-]*\w\.(?:py|sh|toml|txt|sql)")
_MODULE = re.compile(r"ingot(?:\.\w+)+")
_FOLDER = re.compile(r"[a-z_]+(?:/[a-z_]+)+")
_SETTING = re.compile(r"INGOT_[A-Z0-9_]+")
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_TARGET = re.compile(r"make ([a-z][a-z-]*)")
_NAME = re.compile(r"(?:\w+\.)*([a-z]\w*_\w+|_\w+|[A-Z][a-z]+[A-Z]\w+)(?:\(\))?")


@cache
def _quoted_texts() -> list[tuple[str, str]]:
    """Return what documents and docstrings quote as code, each with its place; the changelog tells of former states."""
    texts = [(path.relative_to(ROOT).as_posix(), path.read_text()) for path in DOCUMENTS if path.stem != "CHANGELOG"]
    for file in (file for folder in ("ingot", "tests", "bench") for file in source_files(folder)):
        texts += [(file.name, definition.docstring or "") for definition in file.definitions]
    return [(place, quoted) for place, text in texts for quoted in _QUOTED.findall(text)]


@cache
def _words() -> frozenset[str]:
    """Return the words of all source files."""
    paths = [path for name in ("ingot", "tests", "bench") for path in (ROOT / name).rglob("*.py")]
    return frozenset(word for path in paths for word in re.findall(r"\w+", path.read_text()))


def test_files_exist() -> None:
    paths = [f"/{path.relative_to(ROOT).as_posix()}" for path in ROOT.rglob("*") if ".venv" not in path.parts]
    names = {(place, quoted.partition("::")[0].removeprefix("./")) for place, quoted in _quoted_texts()}
    named = {(place, name) for place, name in names if _FILE.fullmatch(name) and name not in CREATED_BY_USERS}
    assert {(place, name) for place, name in named if not any(path.endswith(f"/{name}") for path in paths)} == set()


def test_folders_in_documents_for_developers_exist() -> None:
    """A path names a file or folder from the root, from the package or, on a page about one package, from there."""
    paths = [f"/{path.relative_to(ROOT).as_posix()}" for path in ROOT.rglob("*") if ".venv" not in path.parts]
    named = {
        (place, quoted)
        for place, quoted in _quoted_texts()
        if place in DEVELOPER_DOCUMENTS and _FOLDER.fullmatch(quoted)
    }
    assert {each for each in named if not any(re.search(f"/{each[1]}(\\.py)?$", path) for path in paths)} == set()


def test_linked_documents_exist() -> None:
    links = [(path, link) for path in DOCUMENTS for link in _LINK.findall(path.read_text())]
    assert {(path.name, link) for path, link in links if not (path.parent / link).exists()} == set()


def test_settings_exist() -> None:
    texts = [(path.name, path.read_text()) for path in DOCUMENTS if path.stem != "CHANGELOG"]
    named = {(place, name) for place, text in texts for name in _SETTING.findall(text)}
    known = _words() | {f"INGOT_{field.name.upper()}" for field in fields(Settings)}
    assert {(place, name) for place, name in named if name not in known} == set()


def test_code_links_to_the_page_of_its_subsystem() -> None:
    """A mechanism with a page names it in a docstring, where a reader of the code begins."""
    docstrings = "\n".join(file.definitions[0].docstring or "" for file in source_files("ingot"))
    assert {*re.findall(r"docs/subsystems/([\w-]+)\.md", docstrings)} == SUBSYSTEMS


def test_modules_exist() -> None:
    missing = set()
    for place, quoted in _quoted_texts():
        if _MODULE.fullmatch(quoted) and quoted not in CREATED_BY_USERS:
            parts = quoted.split(".")
            # The last parts may name a class and its method.
            modules = [ROOT.joinpath(*parts[:end]) for end in range(len(parts), len(parts) - 3, -1)]
            if (
                not any(path.is_dir() or path.with_suffix(".py").exists() for path in modules)
                or not {*parts} <= _words()
            ):
                missing.add((place, quoted))
    assert missing == set()


def test_targets_of_make_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = [(place, quoted) for place, quoted in _quoted_texts() if quoted.startswith("make ")]
    assert {(place, name) for place, text in commands for name in _TARGET.findall(text) if name not in targets} == set()


def test_names_in_documents_for_developers_exist() -> None:
    quoted_names = [
        (place, found[1])
        for place, quoted in _quoted_texts()
        if place in DEVELOPER_DOCUMENTS and (found := _NAME.fullmatch(quoted))
    ]
    assert {(place, name) for place, name in quoted_names if name not in _words()} == set()
