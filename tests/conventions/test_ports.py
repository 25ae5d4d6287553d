"""Ports are declared in ``ports.py`` modules, and ``app.py`` fills all of them."""

from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

from ingot.core.db.ports import Ports
from ingot.late_imports import Deferred
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


def test_a_port_is_filled_once() -> None:
    """Two implementations of one port are a mistake."""
    with pytest.raises(TypeError):
        Ports(Deferred("ingot.example.ports:Port"), Deferred("ingot.example.ports:Port"))
