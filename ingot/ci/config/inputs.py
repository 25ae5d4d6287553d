"""``spec:inputs``: values that a file receives from the one that includes it, or from the caller of a pipeline."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.patterns import pattern_matcher
from ingot.ci.config.variables import MAX_TOTAL_LENGTH, expand_text
from ingot.ci.config.yaml_loader import YamlReference

MAX_FUNCTIONS = 3
_INPUT = re.compile(r"\$\[\[\s*inputs\.([\w-]+)\s*((?:\|[^|\]]{0,200}){0,10})\]\]")
_TRUNCATE = re.compile(r"truncate\(\s*(\d{1,6})\s*,\s*(\d{1,6})\s*\)")
_TYPES: dict[str, type | tuple[type, ...]] = {
    "array": list,
    "boolean": bool,
    "number": (int, float),
    "string": str,
}
_ARTICLES = {"array": "an"}
_MAX_MESSAGES = 3


class InputSpec(NamedTuple):
    """An input that a file declares, as a form shows it."""

    name: str
    kind: str
    """``string``, ``number``, ``boolean`` or ``array``."""
    default: Any
    required: bool
    description: str
    options: tuple[str, ...]
    regex: str

    def text(self, value: Any) -> str:
        """Return a value as the text of a form field."""
        return "" if value is None else _string(value)

    def value(self, text: str) -> Any:
        """Return the value that the text of a form field stands for."""
        return _converted(self.kind, text)


def input_specs(documents: list[Any]) -> tuple[InputSpec, ...]:
    """Return the inputs that a file declares, without those whose declaration is not valid."""
    if len(documents) < 2 or not isinstance(documents[0], dict):
        return ()
    spec = documents[0].get("spec")
    declared = spec.get("inputs") if isinstance(spec, dict) else None
    if not isinstance(declared, dict):
        return ()
    return tuple(_input_spec(str(name), rule) for name, rule in declared.items() if _kind(rule) in _TYPES)


def _input_spec(name: str, rule: Any) -> InputSpec:
    rule = rule if isinstance(rule, dict) else {}
    options = rule.get("options")
    return InputSpec(
        name,
        _kind(rule),
        rule.get("default"),
        "default" not in rule,
        _string(rule.get("description") or ""),
        tuple(map(_string, options)) if isinstance(options, list) else (),
        _string(rule.get("regex") or ""),
    )


def with_inputs(documents: list[Any], given: Mapping[str, Any], variables: Mapping[str, str]) -> Any:
    """Return the configuration of a file with its inputs inserted."""
    if not documents:
        return {}
    header = documents[0]
    spec = header.get("spec") if isinstance(header, dict) else None
    declared = (spec.get("inputs") if isinstance(spec, dict) else None) or {}
    if not isinstance(declared, dict):
        raise ConfigError("spec:inputs config should be a hash")
    has_header = len(documents) > 1 and isinstance(header, dict) and "spec" in header
    if given and not has_header:
        raise ConfigError("Given inputs not defined in the `spec` section of the included configuration file")
    if not has_header:
        return header
    errors = [error for name, rule in declared.items() for error in _errors(str(name), rule, given)]
    unknown = [str(name) for name in given if name not in declared]
    if unknown:
        errors.insert(0, f"unknown input arguments: {', '.join(unknown)}")
    if errors:
        raise ConfigError(", ".join(errors[:_MAX_MESSAGES]))
    values = {str(name): _value(str(name), rule, given) for name, rule in declared.items()}
    return _Inserter(values, variables).inserted(documents[1])


def _kind(rule: Any) -> str:
    kind = rule.get("type", "string") if isinstance(rule, dict) else "string"
    return kind if isinstance(kind, str) else ""


def _converted(kind: str, value: Any) -> Any:
    """Return a value in the type of its input; callers may send numbers, booleans and arrays as text."""
    if kind == "string":
        return value if isinstance(value, list | dict) else _string("" if value is None else value)
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value


def _value(name: str, rule: Any, given: Mapping[str, Any]) -> Any:
    value = given.get(name)
    return _converted(_kind(rule), (rule or {}).get("default") if value is None else value)


def _errors(name: str, rule: Any, given: Mapping[str, Any]) -> Iterator[str]:
    kind = _kind(rule)
    if not (rule is None or isinstance(rule, dict)) or kind not in _TYPES:
        yield f"unknown input specification for `{name}` (valid types: {', '.join(_TYPES)})"
        return
    rule, value = rule or {}, given.get(name)
    if "default" not in rule and value is None:
        yield f"`{name}` input: required value has not been provided"
        return
    if "default" in rule:
        yield from (f"`{name}` input: {text}" for text in _problems(kind, rule, rule["default"], "default"))
    if value is not None:
        yield from (f"`{name}` input: {text}" for text in _problems(kind, rule, value, "provided"))


def _problems(kind: str, rule: Mapping[str, Any], value: Any, origin: str) -> Iterator[str]:
    """Yield what is wrong with the default or the given value of an input."""
    value, expected = _converted(kind, value), _TYPES[kind]
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        yield f"{origin} value is not {_ARTICLES.get(kind, 'a')} {kind}"
        return
    options = rule.get("options")
    if options is not None and kind == "boolean":
        yield "Options can only be used with string and number inputs"
    elif isinstance(options, list) and not _are_options(kind, value, options):
        yield f"`{value}` cannot be used because it is not in the list of allowed options"
    if "regex" in rule and kind != "string":
        yield "RegEx validation can only be used with string inputs"
    elif "regex" in rule:
        matcher = pattern_matcher(f"/{rule['regex']}/") if isinstance(rule["regex"], str) else None
        if matcher is None:
            yield "invalid regular expression"
        elif not matcher(str(value)):
            yield f"{origin} value does not match required RegEx pattern"


def _are_options(kind: str, value: Any, options: list[Any]) -> bool:
    allowed = [_converted(kind, each) for each in options]
    return all(each in options for each in value) if isinstance(value, list) else value in allowed


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
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value).lower() if isinstance(value, bool) else str(value)
