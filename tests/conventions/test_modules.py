"""Project rules that can be checked automatically."""

import re
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from ingot.cli.attribute_table import attribute_table
from ingot.cli.event_table import event_table
from ingot.cli.main import COMMANDS
from ingot.cli.routes import access_text, permission_text
from ingot.core.settings import Settings
from ingot.server.api_document import operation_count
from ingot.server.registry import all_endpoints
from tests.conventions.source_files import source_files

ROOT = Path(__file__).parents[2]
FORBIDDEN_NAMES = {"utils", "helpers", "common", "lib", "misc"}
MAX_LINES = 500
PUBLIC_API = {
    ROOT / "ingot" / "testing" / "__init__.py",
    ROOT / "pytest-ingot" / "src" / "pytest_ingot" / "__init__.py",
}
"""The only packages that other programs import."""


def _sources(folder: str) -> list[Path]:
    return [path for path in sorted((ROOT / folder).rglob("*.py")) if "versions" not in path.parts]


def _code_lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def _named(paths: Iterable[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def test_modules_have_docstrings_and_specific_names() -> None:
    """Every module has a docstring, packages run no code at import, and no module has a generic name."""
    modules = {
        file.path: file.definitions[0]
        for folder in ("ingot", "pytest-ingot/src")
        for file in source_files(folder)
        if "versions" not in file.path.parts
    }
    assert _named(path for path, module in modules.items() if not module.docstring) == []
    assert _named(path for path in modules if FORBIDDEN_NAMES & set(path.relative_to(ROOT).with_suffix("").parts)) == []
    packages = {
        path: module for path, module in modules.items() if path.name == "__init__.py" and path not in PUBLIC_API
    }
    assert _named(path for path, module in packages.items() if module.statements != 1) == [], (
        "only a docstring belongs there"
    )


def test_files_are_small() -> None:
    """Test modules are limited too."""
    sources = _sources("ingot") + _sources("tests") + _sources("pytest-ingot/src")
    assert _named(path for path in sources if _code_lines(path) > MAX_LINES) == []


def test_suppressed_checks_have_a_reason() -> None:
    """A reason is required, so that a suppression can be removed later."""
    silent = []
    for path in _sources("ingot") + _sources("pytest-ingot/src"):
        for line in path.read_text().splitlines():
            silenced = re.search(r"# (noqa: [A-Z0-9, ]+|type: ignore\[[a-z, -]+\])(.*)", line)
            if ("# noqa" in line or "# type: ignore" in line) and not (silenced and len(silenced[2].strip(" -#")) > 10):
                silent.append((path.name, line))
    assert silent == []


def test_endpoints_have_docstrings() -> None:
    """The docstring is the published summary."""
    assert [endpoint.path for endpoint in all_endpoints() if not endpoint.summary.endswith(".")] == []


def test_endpoints_are_found_by_their_path() -> None:
    """One search for a path, as the specification writes it, finds its declaration."""
    text = "\n".join(path.read_text() for path in (ROOT / "ingot").rglob("*.py"))
    assert sorted({endpoint.path for endpoint in all_endpoints() if f'"{endpoint.path}"' not in text}) == []


def test_endpoints_are_tested() -> None:
    """A test other than the generated ones calls each endpoint."""
    texts = [path.read_text() for path in _sources("tests") if path.name != "test_every_route.py"]
    paths = {endpoint.path for endpoint in all_endpoints()}
    assert sorted(path for path in paths if not any(map(_callers(path).search, texts))) == []


def _callers(path: str) -> re.Pattern[str]:
    # Tests often store the prefix up to the project or group in a variable.
    written = re.sub(r"^/(projects|groups)/:id(?=/)", "", path)
    pattern = re.sub(r":\w+", r"(?:\\{[^{}]+\\}|[^/\"'\\s?]+)", written)
    return re.compile(rf"""{'["]' if written == path else ""}{pattern}[/?"']""")


def test_every_setting_is_documented() -> None:
    """The table in docs/settings.md lists all settings."""
    text = (ROOT / "docs" / "settings.md").read_text()
    for setting in fields(Settings):
        assert f"`INGOT_{setting.name.upper()}`" in text, setting.name


def test_every_command_is_documented() -> None:
    """The README names each command."""
    text = (ROOT / "README.md").read_text()
    for command in COMMANDS:
        assert f"`ingot {command}" in text, command


def test_the_readme_names_the_commands_for_development() -> None:
    """The README states near its top how to run the server and the tests."""
    beginning, heading, rest = (ROOT / "README.md").read_text().partition("\n## Develop\n")
    assert heading and len(beginning.splitlines()) < 60
    section = rest.split("\n## ")[0]
    for command in ("make run ", "make test "):
        assert f"\n{command}" in section, command


def test_the_permission_table_is_current() -> None:
    """docs/access.md matches the declarations; ``make access`` regenerates it."""
    written = (ROOT / "docs" / "access.md").read_text()
    for endpoint in all_endpoints():
        rule, scopes = access_text(endpoint)
        assert (
            f"| {endpoint.method} | `{endpoint.path}` | {rule} | {scopes} | {permission_text(endpoint)} |" in written
        ), endpoint.path


def test_the_number_of_operations_is_current() -> None:
    """README.md and docs/comparison.md state the number of operations; ``make access`` updates it."""
    for name in ("README.md", "docs/comparison.md"):
        assert f" {operation_count():,} operations" in (ROOT / name).read_text(), name


def test_the_attribute_table_is_current() -> None:
    """docs/attributes.md lists the stored attributes; ``make attributes`` writes it."""
    assert (ROOT / "docs" / "attributes.md").read_text() == attribute_table()


def test_the_event_table_is_current() -> None:
    """docs/events.md lists the subscriptions of ``app.py`` in order; ``make events`` writes it."""
    assert (ROOT / "docs" / "events.md").read_text() == event_table()
