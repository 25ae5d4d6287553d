"""``spec:inputs``: values that a file receives from the one that includes it."""

import re
from collections.abc import Mapping
from typing import Any

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.patterns import pattern_matcher
from ingot.ci.config.variables import MAX_TOTAL_LENGTH, expand_text
from ingot.ci.config.yaml_loader import YamlReference

MAX_FUNCTIONS = 3
_INPUT = re.compile(r"\$\[\[\s*inputs\.([\w-]+)\s*((?:\|[^|\]]{0,200}){0,10})\]\]")
_TRUNCATE = re.compile(r"truncate\(\s*(\d{1,6})\s*,\s*(\d{1,6})\s*\)")
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "array": list,
}


def with_inputs(documents: list[Any], given: Mapping[str, Any], variables: Mapping[str, str]) -> Any:
    """Return the configuration of a file with its inputs inserted."""
    if not documents:
        return {}
    header = documents[0]
    spec = header.get("spec") if isinstance(header, dict) else None
    declared = (spec.get("inputs") if isinstance(spec, dict) else None) or {}
    if not isinstance(declared, dict):
        raise ConfigError("spec:inputs config should be a hash")
    unknown = [str(name) for name in given if name not in declared]
    if unknown:
        raise ConfigError(
            f"Given inputs not defined in the `spec` section of the included configuration file: {', '.join(unknown)}"
        )
    if len(documents) == 1 or not isinstance(header, dict) or "spec" not in header:
        return header
    values = {str(name): _value(str(name), rule, given) for name, rule in declared.items()}
    return _Inserter(values, variables).inserted(documents[1])


def _value(name: str, rule: Any, given: Mapping[str, Any]) -> Any:
    rule = rule if isinstance(rule, dict) else {}
    if name not in given and "default" not in rule:
        raise ConfigError(f"`{name}` input: required value has not been provided")
    value = given.get(name, rule.get("default"))
    kind = rule.get("type", "string")
    expected = _TYPES.get(kind) if isinstance(kind, str) else None
    if expected is None:
        raise ConfigError(f"`{name}` input: unknown input type `{kind}`")
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        raise ConfigError(f"`{name}` input: provided value is not a {kind}")
    options = rule.get("options")
    chosen = value if isinstance(value, list) else [value]
    if isinstance(options, list) and options and not all(each in options for each in chosen):
        raise ConfigError(f"`{name}` input: `{value}` cannot be used because it is not in the list of allowed options")
    if isinstance(rule.get("regex"), str):
        matcher = pattern_matcher(f"/{rule['regex']}/")
        if matcher is None or not matcher(str(value)):
            raise ConfigError(f"`{name}` input: provided value does not match required RegEx pattern")
    return value


class _Inserter:
    """Replaces ``$[[ inputs.name | function ]]`` in a configuration."""

    def __init__(self, values: Mapping[str, Any], variables: Mapping[str, str]) -> None:
        self._values = values
        self._variables = variables
        self._length = 0

    def inserted(self, value: Any) -> Any:
        """Return a value with all inputs inserted."""
        if isinstance(value, str):
            return self._text(value) if "$[[" in value else value
        if isinstance(value, dict):
            return {self._key(key): self.inserted(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.inserted(item) for item in value]
        if isinstance(value, YamlReference):
            return YamlReference(tuple(_string(self.inserted(part)) for part in value.path))
        return value

    def _key(self, key: Any) -> Any:
        return _string(self.inserted(key)) if isinstance(key, str) else key

    def _text(self, text: str) -> Any:
        whole = _INPUT.fullmatch(text)
        if whole is not None:
            return self._input(whole[1], whole[2])
        return _INPUT.sub(lambda match: self._counted(_string(self._input(match[1], match[2]))), text)

    def _counted(self, text: str) -> str:
        self._length += len(text)
        if self._length > MAX_TOTAL_LENGTH:
            raise ConfigError("The inputs make the configuration too big")
        return text

    def _input(self, name: str, functions: str) -> Any:
        if name not in self._values:
            raise ConfigError(f"unknown input name provided: `{name}`")
        value = self._values[name]
        names = [function.strip() for function in functions.split("|")[1:]]
        if len(names) > MAX_FUNCTIONS:
            raise ConfigError(f"`{name}` input: too many functions in interpolation block")
        for function in names:
            value = self._applied(function, _string(value))
        return value

    def _applied(self, function: str, value: str) -> str:
        if function == "expand_vars":
            return expand_text(value, self._variables, keep_unknown=True)
        if function == "posix_escape":
            return re.sub(r"([^\w@%+=:,./-])", r"\\\1", value, flags=re.ASCII) or "''"
        truncate = _TRUNCATE.fullmatch(function)
        if truncate is None:
            raise ConfigError(
                f"no function matching `{function}`: check that the function name and arguments are correct"
            )
        start = int(truncate[1])
        return value[start : start + int(truncate[2])]


def _string(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
