"""Each effective setting of the instance, of groups and of projects has a test that observes its effect."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple, get_type_hints

import msgspec
import pytest

from ingot.accounts.instance.all_settings import AllSettings
from ingot.core.api.declared_fields import metadata_of
from ingot.projects.namespaces.group_options import INTERNAL_OPTIONS, SHOWN_ONLY_OPTIONS, GroupOptions
from ingot.projects.projects.options import INTERNAL, SHOWN_ONLY, ProjectCiOptions, ProjectOptions
from tests.api.instance.test_settable_attributes import FORMATTED

TESTS = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("setting_effects.txt")
"""Lines of an attribute, its kind, and the test that changes it and observes what follows."""
DECLARATIONS: list[tuple[str, type[msgspec.Struct], tuple[str, ...]]] = [
    ("instance", AllSettings, ()),
    ("project", ProjectOptions, (*INTERNAL, *SHOWN_ONLY)),
    ("project", ProjectCiOptions, ()),
    ("group", GroupOptions, (*INTERNAL_OPTIONS, *SHOWN_ONLY_OPTIONS)),
]
_READ_BACK = re.compile(r"application/settings|\bSETTINGS\b|\bPATH\b")


class ModuleSource(NamedTuple):
    """Text of a module of tests, and its functions by name."""

    text: str
    functions: dict[str, str]


@cache
def _module(path: str) -> ModuleSource:
    text = (TESTS / path).read_text(encoding="utf-8")
    lines, functions = text.splitlines(), {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            functions[node.name] = "\n".join(lines[first - 1 : node.end_lineno])
    return ModuleSource(text, functions)


@cache
def _table() -> dict[tuple[str, str], str]:
    rows = [line.split() for line in TABLE.read_text(encoding="utf-8").splitlines() if line]
    return {(kind, name): node for kind, name, node in rows}


def _effective() -> set[tuple[str, str]]:
    return {
        (kind, name)
        for kind, struct, internal in DECLARATIONS
        for name, hint in get_type_hints(struct, include_extras=True).items()
        if name not in internal and any(meta.description for meta in metadata_of(hint))
    }


def test_the_table_has_each_effective_attribute() -> None:
    assert sorted(_effective() ^ _table().keys()) == []


@pytest.mark.parametrize(("kind", "name"), sorted(_table()))
def test_the_effect_is_observed(kind: str, name: str) -> None:
    """The module sets the attribute, and the test asserts on something else than the value that it has set."""
    path, _, function = _table()[kind, name].partition("::")
    module = _module(path)
    assert function in module.functions, "The test does not exist."
    composed = any(re.fullmatch(form, name) and path.endswith(file) for form, file in FORMATTED.items())
    assert composed or re.search(rf"\b{name}\b", module.text), "The module does not set the attribute."
    asserted = [line for line in module.functions[function].splitlines() if "assert" in line or "raises" in line]
    others = [line for line in asserted if f'["{name}"]' not in line and not _READ_BACK.search(line)]
    assert others, "The test asserts only that the value is stored."
