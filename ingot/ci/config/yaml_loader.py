"""YAML loader for CI files, with limits that refuse a file before it is expanded.

Values are built from the parser's events instead of by the library's composer, which overflows the stack of the process
on deeply nested files. As in GitLab's parser, ``<<`` replaces keys that are above it in the same mapping, and tags that
it does not know have no effect.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import yaml

from ingot.ci.config.errors import ConfigError

MAX_BYTES = 2 * 2**20
MAX_DEPTH = 100
MAX_NODES = 300_000
"""Maximum number of values of all files of a configuration, with aliases expanded."""
MAX_DOCUMENTS = 2
MAX_NUMBER_LENGTH = 64
"""Length from which a plain scalar is always text; the conversion of long numbers takes quadratic time."""
_PREFIX = "tag:yaml.org,2002:"
_REFERENCE = "!reference"
_CLASS_TAG = "!ruby/"
"""Beginning of tags that name a class of Ruby, which GitLab refuses to load."""
_PLAIN_TAGS = frozenset(_PREFIX + name for name in ("bool", "int", "float", "null"))
_KEY_TYPES = (str, int, float, type(None))
_SYMBOL = re.compile(r":[A-Za-z_][\w.-]*")
_constructor = yaml.constructor.SafeConstructor()


class YamlReference(msgspec.Struct, frozen=True):
    """A ``!reference [job, key, …]`` tag, resolved after ``extends``."""

    path: tuple[str, ...]

    def __str__(self) -> str:
        return f"!reference {msgspec.json.encode(self.path).decode()}"


class ConfigLimits(NamedTuple):
    """Limits of a configuration that administrators can lower."""

    needs: int = 50
    """Jobs that one job may need."""
    file_bytes: int = MAX_BYTES
    total_bytes: int = 300 * 2**20
    depth: int = MAX_DEPTH
    includes: int = 150


class Budget:
    """Number of values and bytes that a configuration may still contain."""

    def __init__(self, left: int = MAX_NODES, limits: ConfigLimits | None = None) -> None:
        self.left = left
        self.limits = limits or ConfigLimits()
        self._bytes_left = self.limits.total_bytes

    def read(self, size: int) -> None:
        """Count the bytes of a file; raise ConfigError beyond a limit."""
        if size > self.limits.file_bytes:
            raise ConfigError(f"The file is larger than {_size(self.limits.file_bytes)}")
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise ConfigError(f"The files of the configuration are larger than {_size(self.limits.total_bytes)}")

    def spend(self, count: int = 1) -> None:
        """Count values; raise ConfigError beyond the limit."""
        self.check(count)
        self.left -= count

    def check(self, count: int) -> None:
        """Raise ConfigError if this many values are beyond the limit."""
        if count > self.left:
            raise ConfigError("The configuration is too big: it contains too many values")


def load_documents(text: str | bytes, budget: Budget | None = None) -> list[Any]:
    """Parse a file with one document, or with a header and one document; raise ConfigError if it is refused."""
    budget = budget or Budget()
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
        budget.read(len(decoded.encode()) if len(text) <= budget.limits.file_bytes else len(text))
        return list(_documents(decoded, budget))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1} column {mark.column + 1}" if mark else ""
        raise ConfigError(f"Invalid configuration format: {error.problem}{where}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError("Invalid configuration format") from error


def _size(size: int) -> str:
    return f"{size // 2**20} MiB" if size % 2**20 == 0 else f"{size} bytes"


def _documents(text: str, budget: Budget) -> Iterator[Any]:
    loader = yaml.CSafeLoader(text)
    try:
        for number in range(MAX_DOCUMENTS + 1):
            if loader.check_event(yaml.StreamStartEvent):
                loader.get_event()
            if not loader.check_event(yaml.DocumentStartEvent):
                return
            if number == MAX_DOCUMENTS:
                raise ConfigError("The file contains more than two YAML documents")
            loader.get_event()
            yield _Builder(loader, budget).document()
            loader.get_event()
    finally:
        loader.dispose()


class _Builder:
    """Builds the values of one document from events; every value comes with its size, aliases expanded."""

    def __init__(self, loader: yaml.CSafeLoader, budget: Budget) -> None:
        self._next: Callable[[], Any] = loader.get_event  # The stubs do not tell that an event follows here.
        self._budget = budget
        self._anchors: dict[str, tuple[Any, int] | None] = {}

    def document(self) -> Any:
        """Return the value of the document."""
        return self._value(self._next(), 0)[0]

    def _value(self, event: Any, depth: int) -> tuple[Any, int]:
        """Return the value that starts with an event, and its size."""
        kind = type(event)
        if kind is yaml.ScalarEvent and event.anchor is None:
            return _scalar(event), 1
        if kind is yaml.AliasEvent:
            return self._aliased(event)
        if depth >= self._budget.limits.depth:
            raise ConfigError("The YAML is nested too deeply")
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if kind is yaml.ScalarEvent:
            built = (_scalar(event), 1)
        else:
            built = self._mapping(event, depth) if kind is yaml.MappingStartEvent else self._sequence(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = built
        return built

    def _aliased(self, event: yaml.AliasEvent) -> tuple[Any, int]:
        if event.anchor not in self._anchors:
            raise _error(f"found undefined alias {event.anchor}", event)
        known = self._anchors[event.anchor]
        if known is None:
            raise _error(f"the alias {event.anchor} contains itself", event)
        self._budget.spend(known[1])
        return known

    def _sequence(self, start: Any, depth: int) -> tuple[Any, int]:
        items: list[Any] = []
        total = 1
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            item, size = self._value(event, depth + 1)
            items.append(item)
            total += size
            self._budget.check(len(items))
        self._budget.spend(len(items) + 1)
        if start.tag == _REFERENCE:
            if not items or not all(isinstance(item, str) for item in items):
                raise _error("!reference config should be an array of strings", start)
            return YamlReference(tuple(items)), total
        _refuse_tag(start)
        return items, total

    def _mapping(self, start: yaml.MappingStartEvent, depth: int) -> tuple[Any, int]:
        _refuse_tag(start)
        pairs: dict[Any, Any] = {}
        total = 1
        while type(event := self._next()) is not yaml.MappingEndEvent:
            key, _ = self._value(event, depth + 1)
            value, size = self._value(self._next(), depth + 1)
            total += size + 1
            self._budget.check(len(pairs))
            if key == "<<" and type(event) is yaml.ScalarEvent and _is_merge(event):
                pairs.update(_merged(value, event))
            elif isinstance(key, _KEY_TYPES):
                pairs[_without_symbol(key, event)] = value
            else:
                raise _error("found a key that is not a scalar", event)
        self._budget.spend(2 * len(pairs) + 1)
        return pairs, total


def _without_symbol(key: Any, event: Any) -> Any:
    """Return the name of a key; Ruby, for which these files were designed, reads ``:name`` as the symbol of a name."""
    is_plain = type(event) is yaml.ScalarEvent and event.implicit[0] and event.tag is None
    return key[1:] if is_plain and isinstance(key, str) and _SYMBOL.fullmatch(key) else key


def _error(problem: str, event: yaml.Event) -> ConfigError:
    mark = event.start_mark
    where = f" at line {mark.line + 1} column {mark.column + 1}" if mark else ""
    return ConfigError(f"Invalid configuration format: {problem}{where}")


def _refuse_tag(event: Any) -> None:
    """Raise ConfigError for a tag that would change the meaning of its value; others are ignored."""
    if event.tag == _REFERENCE:
        raise _error("!reference config should be an array of strings", event)
    if event.tag is not None and event.tag.startswith(_CLASS_TAG):
        raise _error(f"Tried to load unspecified class: {event.tag.removeprefix(_CLASS_TAG)}", event)


def _is_merge(event: yaml.ScalarEvent) -> bool:
    return bool(event.implicit[0]) or event.tag == _PREFIX + "merge"


def _merged(value: Any, event: yaml.Event) -> dict[Any, Any]:
    """Return the keys that ``<<`` adds; of several mappings, the first has precedence."""
    merged: dict[Any, Any] = {}
    for mapping in reversed(value) if isinstance(value, list) else [value]:
        if not isinstance(mapping, dict):
            raise _error("expected a mapping or list of mappings for merging", event)
        merged.update(mapping)
    return merged


def _scalar(event: yaml.ScalarEvent) -> Any:
    if "\0" in event.value:
        # PostgreSQL cannot store it.
        raise _error("found a NUL character", event)
    _refuse_tag(event)
    if event.tag is None or event.tag == "!":
        return _plain(event.value) if event.implicit[0] and event.tag is None else event.value
    if event.tag in (_PREFIX + "str", _PREFIX + "merge"):
        return event.value
    if event.tag == _PREFIX + "binary":
        return b64decode(event.value).decode(errors="replace")
    if event.tag not in _PLAIN_TAGS:
        return event.value if event.style else _plain(event.value)
    if len(event.value) > MAX_NUMBER_LENGTH:
        raise _error(f"found a number of more than {MAX_NUMBER_LENGTH} characters", event)
    return _converted(event.tag, event.value)


@lru_cache(maxsize=4096)
def _plain(text: str) -> Any:
    """Convert a scalar without quotes and tag; dates remain text."""
    if len(text) <= MAX_NUMBER_LENGTH:
        for tag, pattern in yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], ()):
            if tag in _PLAIN_TAGS and pattern.match(text):
                return _converted(tag, text)
    return text


def _converted(tag: str, text: str) -> Any:
    node = yaml.ScalarNode(tag, text)
    try:
        match tag.removeprefix(_PREFIX):
            case "bool":
                return _constructor.construct_yaml_bool(node)
            case "int":
                return _constructor.construct_yaml_int(node)
            case "float":
                return _constructor.construct_yaml_float(node)
        return None
    except (ValueError, KeyError, OverflowError) as error:
        raise ConfigError(f"Invalid configuration format: {text} is not a valid value") from error
