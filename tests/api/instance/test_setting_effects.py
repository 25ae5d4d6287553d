"""Each effective setting of the instance, of groups and of projects has a test that observes its effect."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import msgspec
import pytest

from ingot.accounts.instance.all_settings import AllSettings
from ingot.collaboration.merge_requests.approval_settings.params import EditApprovalSettings
from ingot.core.api.declared_fields import default_of, metadata_of
from ingot.projects.groups.params import EditGroup
from ingot.projects.namespaces.group_options import GroupOptions
from ingot.projects.projects.options import ProjectCiOptions, ProjectOptions
from ingot.projects.projects.params import EditProject
from ingot.sites.project_pages.params import EditPages
from tests.api.instance.test_settable_attributes import FORMATTED

TESTS = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("setting_effects.txt")
"""Lines of an attribute, its kind, and the test that changes it and observes what follows."""
DECLARATIONS: dict[str, tuple[type[msgspec.Struct], ...]] = {
    "instance": (AllSettings,),
    "project": (EditProject, ProjectOptions, ProjectCiOptions, EditApprovalSettings, EditPages),
    "group": (EditGroup, GroupOptions),
}
"""Declarations of attributes; later ones state the defaults."""
_READ_BACK = re.compile(r"application/settings|\bSETTINGS\b|\bPATH\b")
_UNKNOWN = object()
"""Value that only the run of a test determines."""


class SettingTest(NamedTuple):
    """Text of a test, and the nodes of it and of what it uses in its module."""

    text: str
    nodes: list[ast.AST]


@cache
def _definitions(path: str) -> dict[str, ast.stmt]:
    """Return the functions, fixtures and constants of a module by name."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse((TESTS / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {each.id: node for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return found


def _decorators(node: ast.stmt) -> str:
    return " ".join(map(ast.unparse, node.decorator_list)) if isinstance(node, ast.FunctionDef) else ""


@cache
def _source(test: str) -> SettingTest:
    """Return a test with the functions, fixtures and constants of its module that it uses, directly or through them."""
    path, _, function = test.partition("::")
    definitions, used = _definitions(path), dict[str, ast.stmt]()
    pending = [function, *(name for name, node in definitions.items() if "autouse=True" in _decorators(node))]
    while pending:
        name = pending.pop()
        if name in used or name not in definitions:
            continue
        used[name] = definitions[name]
        for node in ast.walk(used[name]):
            if isinstance(node, ast.Name | ast.arg):
                pending += [node.id if isinstance(node, ast.Name) else node.arg]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                pending += [node.value]  # Of usefixtures.
    assert function in used, f"{test} does not exist."
    return SettingTest(ast.unparse(used[function]), [node for each in used.values() for node in ast.walk(each)])


def _values(nodes: list[ast.AST], name: str) -> Iterator[Any]:
    """Yield the values that nodes give to an attribute: as an argument, in a dictionary, or in a row of a table."""
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg == name:
            yield _value(node.value)
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (_value(value) for key, value in pairs if key is not None and _names(key, name))
        elif isinstance(node, ast.Assign | ast.Tuple | ast.List | ast.Set | ast.Call | ast.Subscript | ast.For):
            # The name is a value itself, of which a loop or a parameter composes the request.
            yield from (_UNKNOWN for each in ast.iter_child_nodes(node) if _names(each, name))


def _names(node: ast.AST, name: str) -> bool:
    """Return whether a text is the name of an attribute or of its field of a form, or composes it."""
    if isinstance(node, ast.JoinedStr):
        return any(_names(part, name) for part in node.values)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and name in re.split(r"[\[\]]", node.value)


def _value(node: ast.AST) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _UNKNOWN


def _effective() -> dict[tuple[str, str], Any]:
    """Return the default of each effective attribute."""
    return {
        (kind, field.name): default_of(field, hints[field.name])
        for kind, structs in DECLARATIONS.items()
        for struct in structs
        for hints in [get_type_hints(struct, include_extras=True)]
        for field in msgspec.structs.fields(struct)
        if any(meta.description for meta in metadata_of(hints[field.name]))
    }


@cache
def _table() -> dict[tuple[str, str], str]:
    rows = [line.split() for line in TABLE.read_text(encoding="utf-8").splitlines() if line]
    return {(kind, name): node for kind, name, node in rows}


def test_the_table_has_each_effective_attribute() -> None:
    assert sorted(_effective().keys() ^ _table().keys()) == []


@pytest.mark.parametrize(("kind", "name"), sorted(_table()))
def test_the_effect_is_observed(kind: str, name: str) -> None:
    """The test itself gives the attribute another value than the default, and asserts on something else than that."""
    source = _source(_table()[kind, name])
    composed = any(
        re.fullmatch(form, name) and _table()[kind, name].startswith(file) for form, file in FORMATTED.items()
    )
    values = list(_values(source.nodes, name))
    default = _effective()[kind, name]
    others = [value for value in values if value is _UNKNOWN or value != default]
    assert composed or others, "The test does not send another value than the default."
    asserted = [line for line in source.text.splitlines() if "assert" in line or "raises" in line]
    observed = [line for line in asserted if f"['{name}']" not in line and not _READ_BACK.search(line)]
    assert observed, "The test asserts only that the value is stored."
