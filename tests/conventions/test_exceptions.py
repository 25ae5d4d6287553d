"""Exceptions are never swallowed silently: failures of components are raised, reported or logged."""

import ast
from collections.abc import Iterator

from tests.conventions.source_files import source_files

BROAD = {"Exception", "BaseException", "OSError", "ConnectionError", "RuntimeError"}
COMPONENT_ERRORS = {
    "DamagedRepository",
    "DirectoryTrouble",
    "GitError",
    "GitSaidTooMuch",
    "GitTimedOut",
    "MissingRepository",
    "Unavailable",
    "asyncssh.Error",
    "self._driver.Error",
    "self._engine.errors",
    "self.engine.errors",
    "sqlite3.Error",
    "sqlite3.OperationalError",
}


def _handlers() -> Iterator[tuple[str, ast.ExceptHandler, list[str]]]:
    for file in source_files("ingot"):
        for handler, lines in file.handlers:
            yield f"{file.name}:{handler.lineno}", handler, lines


def _types(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"BaseException"}
    return set(map(ast.unparse, handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]))


def _is_reported(handler: ast.ExceptHandler) -> bool:
    """Return whether the exception is raised again or used, for example logged."""
    inner = [node for statement in handler.body for node in ast.walk(statement)]
    used = {node.id for node in inner if isinstance(node, ast.Name)}
    return any(isinstance(node, ast.Raise) for node in inner) or handler.name in used


def test_failures_of_components_are_logged_or_explained() -> None:
    """Rejected requests and malformed values are expected; failures of git, the disk or a server are not."""
    silent = [
        where
        for where, handler, lines in _handlers()
        if _types(handler) & (BROAD | COMPONENT_ERRORS)
        and not _is_reported(handler)
        and not any("# " in line for line in lines)
    ]
    assert silent == []


def test_broad_handlers_are_never_silent() -> None:
    """Not even with a comment, except where a child of the supervisor prints the error and exits."""
    silent = [
        where
        for where, handler, _ in _handlers()
        if _types(handler) & {"Exception", "BaseException"} and not _is_reported(handler)
    ]
    assert [where for where in silent if "supervisor.py:" not in where] == []
