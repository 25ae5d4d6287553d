"""Merge of configuration mappings: ``include``, ``extends`` and ``!reference``."""

from collections.abc import Mapping
from typing import Any

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.yaml_loader import MAX_NODES, Reference

MAX_EXTENDS_DEPTH = 10
MAX_REFERENCE_DEPTH = 10


def deep_merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings key by key; other values, also lists, are replaced."""
    merged = dict(base)
    for key, value in over.items():
        current = merged.get(key)
        both = isinstance(current, Mapping) and isinstance(value, Mapping)
        merged[key] = deep_merge(current, value) if both else value
    return merged


def resolve_extends(config: Mapping[str, Any]) -> dict[str, Any]:
    """Merge every job with the jobs that it extends."""
    done: dict[str, Any] = {}
    for name in config:
        _extend(config, name, done, ())
    return done


def _extend(config: Mapping[str, Any], name: str, done: dict[str, Any], path: tuple[str, ...]) -> Any:
    if name in done:
        return done[name]
    if name in path:
        raise ConfigError(f"{name}: circular dependency detected in `extends`")
    if len(path) > MAX_EXTENDS_DEPTH:
        raise ConfigError(f"{path[0]}: nesting too deep in `extends`")
    entry = config[name]
    if isinstance(entry, Mapping) and entry.get("extends") is not None:
        entry = _merge_parents(config, name, entry, done, (*path, name))
    done[name] = entry
    return entry


def _merge_parents(
    config: Mapping[str, Any], name: str, entry: Mapping[str, Any], done: dict[str, Any], path: tuple[str, ...]
) -> dict[str, Any]:
    extended = entry["extends"]
    parents = [extended] if isinstance(extended, str) else extended
    if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
        raise ConfigError(f"jobs:{name}:extends config should be an array of strings or a string")
    unknown = [parent for parent in parents if parent not in config]
    if unknown:
        raise ConfigError(f"{name}: unknown keys in `extends` ({', '.join(unknown)})")
    merged: dict[str, Any] = {}
    for parent in parents:
        base = _extend(config, parent, done, path)
        if not isinstance(base, Mapping):
            raise ConfigError(f"{name}: invalid base hashes in `extends` ({parent})")
        merged = deep_merge(merged, base)
    return deep_merge(merged, {key: value for key, value in entry.items() if key != "extends"})


def resolve_references(config: Mapping[str, Any]) -> dict[str, Any]:
    """Replace every ``!reference`` by the value that it names."""
    budget = [MAX_NODES]
    return {key: _resolve(config, value, (), budget) for key, value in config.items()}


def _resolve(config: Mapping[str, Any], value: Any, path: tuple[Reference, ...], budget: list[int]) -> Any:
    budget[0] -= 1
    if budget[0] < 0:
        raise ConfigError("The merged configuration is too big")
    if isinstance(value, Reference):
        if value in path:
            raise ConfigError(f"{value} is part of a circular chain")
        if len(path) >= MAX_REFERENCE_DEPTH:
            raise ConfigError(f"{value} is nested too deeply")
        return _resolve(config, _value_at(config, value), (*path, value), budget)
    if isinstance(value, Mapping):
        return {key: _resolve(config, item, path, budget) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolve(config, item, path, budget) for item in value]
    return value


def _value_at(config: Mapping[str, Any], reference: Reference) -> Any:
    value: Any = config
    for part in reference.path:
        if not isinstance(value, Mapping) or part not in value:
            raise ConfigError(f"{reference} could not be found")
        value = value[part]
    return value
