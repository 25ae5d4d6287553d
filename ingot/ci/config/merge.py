"""Merge of configuration mappings: ``include``, ``extends`` and ``!reference``."""

from collections.abc import Mapping
from operator import is_
from typing import Any

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.yaml_loader import Budget, YamlReference

MAX_EXTENDS_DEPTH = 10
MAX_REFERENCE_DEPTH = 10
_CONTAINERS = (dict, list, YamlReference)


def deep_merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings key by key; other values, also lists, are replaced."""
    merged = dict(base)
    for key, value in over.items():
        current = merged.get(key)
        if isinstance(current, dict) and isinstance(value, dict):
            merged[key] = deep_merge(current, value)
        else:
            merged[key] = value
    return merged


def resolve_extends(config: Mapping[str, Any]) -> dict[str, Any]:
    """Merge every job with the jobs that it extends."""
    return _Extends(config).resolved()


class _Extends:
    """Resolution of ``extends`` for one configuration; every job is merged once."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config
        self._done: dict[str, Any] = {}
        self._budget = Budget()

    def resolved(self) -> dict[str, Any]:
        for name in self._config:
            self._entry(name, ())
        return {name: self._done[name] for name in self._config}

    def _entry(self, name: str, path: tuple[str, ...]) -> Any:
        if name in self._done:
            return self._done[name]
        if name in path:
            raise ConfigError(f"{name}: circular dependency detected in `extends`")
        if len(path) > MAX_EXTENDS_DEPTH:
            raise ConfigError(f"{path[0]}: nesting too deep in `extends`")
        entry = self._config[name]
        if isinstance(entry, dict) and entry.get("extends") is not None:
            entry = self._with_parents(name, entry, (*path, name))
        self._done[name] = entry
        return entry

    def _with_parents(self, name: str, entry: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for parent in self._parents(name, entry["extends"]):
            base = self._entry(parent, path)
            if not isinstance(base, dict):
                raise ConfigError(f"{name}: invalid base hashes in `extends` ({parent})")
            merged = self._merge(merged, base)
        return self._merge(merged, {key: value for key, value in entry.items() if key != "extends"})

    def _parents(self, name: str, extended: Any) -> list[str]:
        parents = [extended] if isinstance(extended, str) else extended
        if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
            raise ConfigError(f"jobs:{name}:extends config should be an array of strings or a string")
        unknown = [parent for parent in parents if parent not in self._config]
        if unknown:
            raise ConfigError(f"{name}: unknown keys in `extends` ({', '.join(unknown)})")
        return parents

    def _merge(self, base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
        self._budget.spend(len(base) + sum(len(value) for value in base.values() if isinstance(value, dict)))
        return deep_merge(base, over)


def resolve_references(config: Mapping[str, Any]) -> dict[str, Any]:
    """Replace every ``!reference`` by the value that it names; values without one remain the same objects."""
    resolver = _References(config)
    return {key: resolver.resolved(value, ()) for key, value in config.items()}


class _References:
    """Resolution of references for one configuration; values that jobs share are resolved once."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config
        self._budget = Budget()
        self._containers: dict[int, tuple[Any, int]] = {}
        """Results and sizes by the identity of the container."""

    def resolved(self, value: Any, path: tuple[YamlReference, ...]) -> Any:
        """Return a value with all references in it replaced."""
        if not isinstance(value, _CONTAINERS):
            self._budget.spend()
            return value
        known = self._containers.get(id(value))
        if known is not None:
            self._budget.spend(known[1])
            return known[0]
        before = self._budget.left
        self._budget.spend()
        result = self._replaced(value, path)
        self._containers[id(value)] = (result, before - self._budget.left)
        return result

    def _replaced(self, value: Any, path: tuple[YamlReference, ...]) -> Any:
        if isinstance(value, YamlReference):
            return self._target(value, path)
        if isinstance(value, dict):
            self._budget.spend(len(value))
            inner = {key: self.resolved(item, path) for key, item in value.items() if isinstance(item, _CONTAINERS)}
            return value if all(inner[key] is value[key] for key in inner) else {**value, **inner}
        self._budget.spend(len(value))
        items = [self.resolved(item, path) if isinstance(item, _CONTAINERS) else item for item in value]
        return value if all(map(is_, items, value)) else items

    def _target(self, reference: YamlReference, path: tuple[YamlReference, ...]) -> Any:
        if reference in path:
            raise ConfigError(f"{reference} is part of a circular chain")
        if len(path) >= MAX_REFERENCE_DEPTH:
            raise ConfigError(f"{reference} is nested too deeply")
        target: Any = self._config
        for part in reference.path:
            if not isinstance(target, dict) or part not in target:
                raise ConfigError(f"{reference} could not be found")
            target = target[part]
        return self.resolved(target, (*path, reference))
