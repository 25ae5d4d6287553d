"""The rules of the house that a machine can check."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from ingot.api.routes import Endpoint
from ingot.app import all_endpoints
from ingot.cli.main import COMMANDS
from ingot.cli.routes import access_of
from ingot.settings import Settings

ROOT = Path(__file__).parents[2]
DUMPING_GROUNDS = {"utils", "helpers", "common", "lib", "misc"}
LONGEST = 500


def _sources(folder: str) -> list[Path]:
    return [path for path in sorted((ROOT / folder).rglob("*.py")) if "versions" not in path.parts]


def _lines_that_count(path: Path) -> int:
    return len(path.read_text().splitlines())


@pytest.mark.parametrize("path", _sources("ingot"), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_what_lives_there_and_stays_small(path: Path) -> None:
    """Every module opens with a docstring, no package runs code at its import, none is a dumping ground."""
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), "a module opens with one line on what lives there"
    assert _lines_that_count(path) <= LONGEST
    assert not DUMPING_GROUNDS & set(path.relative_to(ROOT).with_suffix("").parts)
    if path.name == "__init__.py":
        assert len(tree.body) == 1, "a package's __init__ holds a docstring and no code"


@pytest.mark.parametrize("path", _sources("tests"), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_test_file_stays_small(path: Path) -> None:
    """Tests are read too."""
    assert _lines_that_count(path) <= LONGEST


@pytest.mark.parametrize("path", _sources("ingot"), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_silenced_check_says_why(path: Path) -> None:
    """Otherwise nobody dares to remove it."""
    for line in path.read_text().splitlines():
        silenced = re.search(r"# (noqa: [A-Z0-9, ]+|type: ignore\[[a-z, -]+\])(.*)", line)
        if "# noqa" in line or "# type: ignore" in line:
            assert silenced and len(silenced[2].strip(" -#")) > 10, line


@pytest.mark.parametrize("endpoint", all_endpoints(), ids=lambda endpoint: f"{endpoint.method} {endpoint.path}")
def test_an_endpoint_says_what_it_does_and_is_tested(endpoint: Endpoint) -> None:
    """Its docstring is its published summary, and a test other than the generator calls it."""
    assert endpoint.summary.endswith(".")
    # Tests often keep the beginning in a name, up to the project or group that they ask about.
    written = re.sub(r"^/(projects|groups)/:id(?=/)", "", endpoint.path)
    pattern = re.sub(r":\w+", r"(?:\\{[^{}]+\\}|[^/\"'\\s?]+)", written)
    called = re.compile(rf"""{'["]' if written == endpoint.path else ""}{pattern}[/?"']""")
    assert any(called.search(text) for text in _test_texts()), "no test calls it"


def _test_texts() -> Iterator[str]:
    for path in _sources("tests"):
        if path.name != "test_every_route.py":
            yield path.read_text()


def test_every_setting_is_documented() -> None:
    """The table in docs/settings.md has all settings, with the default that the code has."""
    text = (ROOT / "docs" / "settings.md").read_text()
    for setting in fields(Settings):
        assert f"`INGOT_{setting.name.upper()}`" in text, setting.name


def test_every_command_is_documented() -> None:
    """README or docs name each command."""
    text = (ROOT / "README.md").read_text()
    for command in COMMANDS:
        assert f"`ingot {command}" in text, command


def test_the_table_of_who_may_what_is_current() -> None:
    """docs/access.md is what the declarations say; ``make access`` writes it."""
    written = (ROOT / "docs" / "access.md").read_text()
    for endpoint in all_endpoints():
        rule, scopes = access_of(endpoint)
        assert f"| {endpoint.method} | `{endpoint.path}` | {rule} | {scopes} |" in written, endpoint.path
