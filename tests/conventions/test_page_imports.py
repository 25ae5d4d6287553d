"""Pages import views, params, errors and endpoints of other packages, and not their tables, queries or git code.

``EXCEPTIONS`` lists the modules that still do, each with its reason. The list may only shrink: a module that is not in
it fails the test, and so does an entry that is not needed any more.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

WEB = Path(__file__).parents[2] / "ingot" / "web"
ROOT = WEB.parent.parent
ACCOUNTS = "Signing in, sessions, passwords and the own account have no endpoints; pages call their services."
CODE = "Shows commits, trees and files of a repository in ways that no endpoint offers."
CHANGES = "Shows versions and diffs of merge requests in ways that no endpoint offers."
EXCEPTIONS: dict[str, str] = {
    "code/activity.py": CODE,
    "code/languages.py": CODE,
    "code/tree_rows.py": CODE,
    "component.py": ACCOUNTS,
    "merge_requests/line_discussions.py": CHANGES,
    "merge_requests/new.py": CHANGES,
    "oauth/applications.py": ACCOUNTS,
    "oauth/authorize.py": ACCOUNTS,
    "oauth/tokens.py": ACCOUNTS,
    "page_routes.py": ACCOUNTS,
    "passkeys.py": ACCOUNTS,
    "second_factor.py": ACCOUNTS,
    "sign_in/login.py": ACCOUNTS,
    "sign_in/passwords.py": ACCOUNTS,
    "sign_in/session_start.py": ACCOUNTS,
    "sign_in/sign_up.py": ACCOUNTS,
    "sign_in/single_sign_on.py": ACCOUNTS,
    "visits.py": ACCOUNTS,
}


def imported(file: Path) -> Iterator[str]:
    """Yield the modules that a file imports, at its top or within a function."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_internal(module: str) -> bool:
    """Return whether a module is a part of another package that pages do not import."""
    path = module.split(".")
    if path[0] != "ingot" or len(path) < 3 or path[1] == "web":
        return False
    is_module = (ROOT / Path(*path)).with_suffix(".py").exists()
    return path[1] == "git" or (is_module and path[-1] in ("tables", "queries"))


def test_pages_import_no_tables_queries_or_git_code() -> None:
    files = {str(file.relative_to(WEB)): file for file in WEB.rglob("*.py")}
    found = {name for name, file in files.items() if any(is_internal(module) for module in imported(file))}

    assert sorted(found - EXCEPTIONS.keys()) == []
    assert sorted(EXCEPTIONS.keys() - found) == [], "Take these out of the list."
