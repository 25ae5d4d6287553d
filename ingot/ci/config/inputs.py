"""``spec:inputs``: values that a file receives from the one that includes it."""

import re
from collections.abc import Mapping
from typing import Any

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.yaml_loader import Reference

_INPUT = re.compile(r"\$\[\[\s*inputs\.([\w-]+)\s*((?:\|[^\]]*)?)\]\]")


def with_inputs(documents: list[Any], given: Mapping[str, Any]) -> Any:
    """Return the configuration of a file with its inputs inserted."""
    if not documents:
        return {}
    header = documents[0] if len(documents) > 1 else {}
    if len(documents) == 1:
        if given:
            raise ConfigError("Given inputs not defined in the `spec` section of the included configuration file")
        return documents[0]
    spec = header.get("spec") if isinstance(header, Mapping) else None
    declared = (spec.get("inputs") if isinstance(spec, Mapping) else None) or {}
    if not isinstance(declared, Mapping) or set(given) - set(declared):
        raise ConfigError("Given inputs not defined in the `spec` section of the included configuration file")
    values = {name: _value(str(name), rule, given) for name, rule in declared.items()}
    return _insert(documents[1], values)


def _value(name: str, rule: Any, given: Mapping[str, Any]) -> Any:
    rule = rule if isinstance(rule, Mapping) else {}
    if name not in given and "default" not in rule:
        raise ConfigError(f"`{name}` input: required value has not been provided")
    value = given.get(name, rule.get("default"))
    if rule.get("options") and value not in rule["options"]:
        raise ConfigError(f"`{name}` input: `{value}` cannot be used because it is not in the list of allowed options")
    return value


def _insert(value: Any, inputs: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        whole = _INPUT.fullmatch(value)
        if whole is not None and not whole[2]:
            return _input(whole[1], inputs)
        return _INPUT.sub(lambda match: _text(_input(match[1], inputs)), value)
    if isinstance(value, Mapping):
        return {_insert(key, inputs): _insert(item, inputs) for key, item in value.items()}
    if isinstance(value, list):
        return [_insert(item, inputs) for item in value]
    if isinstance(value, Reference):
        return Reference(tuple(_text(_insert(part, inputs)) for part in value.path))
    return value


def _input(name: str, inputs: Mapping[str, Any]) -> Any:
    if name not in inputs:
        raise ConfigError(f"unknown input name provided: `{name}`")
    return inputs[name]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
