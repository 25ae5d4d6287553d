"""Ports are declared in ``ports.py`` modules and filled by ``server/ports``; one page lists them."""

import re
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

from ingot.core.db.ports import PortFillers, Ports
from ingot.core.settings import Settings
from tests.conftest import Instance

ROOT = Path(__file__).parents[2]


def _declared() -> list[type]:
    paths = [path for path in sorted((ROOT / "ingot").rglob("ports.py")) if path.parent.name != "db"]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    modules = [import_module(name) for name in names]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
    ]


def test_every_declared_port_is_filled(instance: Instance) -> None:
    """An unfilled port would fail at its first use, long after startup."""
    ports = instance.app.database.ports
    declared = _declared()
    assert len(declared) >= 6
    for port in declared:
        assert isinstance(ports[port], port)


def test_the_page_of_ports_lists_all_of_them() -> None:
    text = (ROOT / "docs" / "subsystems" / "ports.md").read_text()
    listed = set(re.findall(r"^\| `(\w+)` \| `([\w/]+)` \|", text, re.MULTILINE))
    assert listed == {(port.__name__, "/".join(port.__module__.split(".")[1:-1])) for port in _declared()}


def test_a_port_is_filled_once() -> None:
    """Two implementations of one port are a mistake, be they in one module or in two."""
    first, second = PortFillers(), PortFillers()

    def port(_: Settings) -> "_Port":
        return _Port()

    first.fill(port)
    second.fill(port)
    with pytest.raises(TypeError):
        first.fill(port)
    with pytest.raises(TypeError):
        Ports(Settings(), [first, second])


class _Port:
    """Port of the test."""
