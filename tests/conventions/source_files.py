"""Definitions and exception handlers of all source files, each of which is parsed once for all tests."""

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Definition(NamedTuple):
    """Module, class or function."""

    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    """Without its body, whose nodes of all files would need too much memory."""
    name: str
    line: int
    docstring: str | None
    statements: int


class SourceFile(NamedTuple):
    """Parsed file."""

    path: Path
    definitions: list[Definition]
    """The first one is the module."""
    handlers: list[tuple[ast.ExceptHandler, list[str]]]
    """With their lines."""
    calls_in_coroutines: list[tuple[str, int]]
    """Called expression and line of each call that a coroutine makes itself."""

    @property
    def name(self) -> str:
        """Return the path from the root of the project."""
        return str(self.path.relative_to(ROOT))


@cache
def source_files(folder: str) -> list[SourceFile]:
    """Return the files of a folder, sorted by path."""
    return [_parse(path) for path in sorted((ROOT / folder).rglob("*.py"))]


def _parse(path: Path) -> SourceFile:
    text = path.read_text()
    lines = text.splitlines()
    definitions: list[Definition] = []
    handlers: list[tuple[ast.ExceptHandler, list[str]]] = []
    calls: list[tuple[str, int]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name, line = getattr(node, "name", ""), getattr(node, "lineno", 1)
            definitions.append(Definition(node, name, line, ast.get_docstring(node), len(node.body)))
            if isinstance(node, ast.AsyncFunctionDef):
                calls += _calls_of(node)
        elif isinstance(node, ast.ExceptHandler):
            handlers.append((node, lines[node.lineno - 1 : node.end_lineno]))
    for definition in definitions:
        definition.node.body = []
    return SourceFile(path, definitions, handlers, calls)


def _calls_of(coroutine: ast.AsyncFunctionDef) -> list[tuple[str, int]]:
    """Return the calls of a coroutine, without those of the functions in it, which may run in a thread."""
    calls: list[tuple[str, int]] = []
    rest: list[ast.AST] = [*coroutine.body]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.Call):
            calls.append((ast.unparse(node.func), node.lineno))
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            rest += ast.iter_child_nodes(node)
    return calls
