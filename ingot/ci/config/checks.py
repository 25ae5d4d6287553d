"""Building blocks of the validation: each check yields the problems of a value with their path below it.

The texts have the form of GitLab's: an attribute is named in the text (``jobs:a:cache policy should be …``), an entry
is a part of the path (``jobs:a:cache:paths config should be …``).
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ingot.ci.config.durations import parse_duration

Problem = tuple[str | None, str]
"""Path below the value, or None if the message has none, and the text of the error with its subject."""
Check = Callable[[Any], Iterator[Problem]]
MAX_NESTING = 10
MAX_VARIABLES = 1_000
_OWN_VALUE = "config "
_BLANK: tuple[Any, ...] = (None, "", [], {})


def expect(test: Callable[[Any], bool], text: str, *, subject: str = _OWN_VALUE) -> Check:
    """Return a check that a function decides."""

    def check(value: Any) -> Iterator[Problem]:
        if not test(value):
            yield "", subject + text

    return check


def every(*checks: Check) -> Check:
    """Return a check that reports the problems of several."""

    def check(value: Any) -> Iterator[Problem]:
        for each_check in checks:
            yield from each_check(value)

    return check


def label(key: str) -> str:
    """Return a key as messages name it."""
    return key.replace("_", " ")


def attribute(key: str, check: Check, value: Any) -> Iterator[Problem]:
    """Check the value of a key that has no path of its own."""
    for path, text in check(value):
        yield path, f"{label(key)} {text.removeprefix(_OWN_VALUE)}"


def entry(key: str, check: Check, value: Any) -> Iterator[Problem]:
    """Check the value of a key that is a part of the path."""
    for path, text in check(value):
        yield None if path is None else f":{key}{path}", text


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def flatten(value: Any, depth: int = 0) -> list[Any] | None:
    """Flatten nested lists, which ``!reference`` produces; return None if they are nested too deeply."""
    if not isinstance(value, list):
        return [value]
    items: list[Any] = []
    for item in value:
        inner = flatten(item, depth + 1) if depth < MAX_NESTING else None
        if inner is None:
            return None
        items += inner
    return items


def _are_nested_strings(value: Any) -> bool:
    items = flatten(value)
    return items is not None and all(isinstance(item, str) for item in items)


string = expect(lambda value: isinstance(value, str), "should be a string")
boolean = expect(lambda value: isinstance(value, bool), "should be a boolean value")
strings = expect(_are_strings, "should be an array of strings")
string_or_strings = expect(
    lambda value: isinstance(value, str) or _are_strings(value), "should be an array of strings or a string"
)
hash_value = expect(lambda value: isinstance(value, dict), "should be a hash")
hashes = expect(
    lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value),
    "should be an array of hashes",
)
commands = expect(_are_nested_strings, "should be a string or a nested array of strings up to 10 levels deep")
anything = expect(lambda _: True, "")


def duration(value: Any, *, limit: int | None = None) -> Iterator[Problem]:
    """Check a duration, which is always a text."""
    seconds = parse_duration(value) if isinstance(value, str) else None
    if seconds is None:
        yield "", "config should be a duration"
    if limit is not None and (seconds is None or seconds > limit):
        yield "", "config should not exceed the limit"


def within(lowest: int, highest: int) -> Check:
    """Return a check of an integer between two numbers."""

    def check(value: Any) -> Iterator[Problem]:
        if not is_integer(value):
            yield "", "config must be an integer"
        elif value < lowest:
            yield "", f"config must be greater than or equal to {lowest}"
        elif value > highest:
            yield "", f"config must be less than or equal to {highest}"

    return check


def at_most(count: int, text: str) -> Check:
    """Return a check of the length of a list; ``text`` follows the subject."""
    return expect(lambda value: not isinstance(value, list) or len(value) <= count, text)


def one_of(*values: str, text: str = "") -> Check:
    """Return a check for one of some words."""
    text = text or f"should be one of: {', '.join(values)}"

    def check(value: Any) -> Iterator[Problem]:
        yield from string(value)
        if value not in values:
            yield "", f"config {text}"

    return check


def known(*values: str) -> Check:
    """Return a check for one of some words, whose message repeats the value."""

    def check(value: Any) -> Iterator[Problem]:
        if value not in values:
            yield "", f"config unknown value: {value}"

    return check


def either(text: str, *alternatives: tuple[type | tuple[type, ...], Check], subject: str = "") -> Check:
    """Return a check that is chosen by the type of the value; ``text`` is the error for all other types."""

    def check(value: Any) -> Iterator[Problem]:
        for kind, inner in alternatives:
            if isinstance(value, kind) and not (isinstance(value, bool) and kind is int):
                yield from inner(value)
                return
        yield "", subject + text

    return check


def each(name: str, inner: Check, text: str = "should be a array") -> Check:
    """Return a check of all items of a list, which may be nested because of ``!reference``."""

    def check(value: Any) -> Iterator[Problem]:
        items = flatten(value) if isinstance(value, list) else None
        if items is None:
            yield "", f"config {text}"
            return
        for item in items:
            yield from entry(name, inner, item) if name else inner(item)

    return check


def mapping(
    attributes: Mapping[str, Check] | None = None,
    entries: Mapping[str, Check] | None = None,
    *,
    required: Collection[str] = (),
    present: Collection[str] = (),
    exclusive: Collection[str] = (),
) -> Check:
    """Return a check of a mapping with known keys; null values count as absent.

    ``required`` names keys that must exist, ``present`` attributes that must have a value, ``exclusive`` keys of which
    only one may exist. The entries are checked if the mapping itself is right.
    """
    attributes, entries = attributes or {}, entries or {}

    def own_problems(value: dict[Any, Any]) -> Iterator[Problem]:
        unknown = [str(key) for key in value if key not in attributes and key not in entries]
        if unknown:
            yield "", f"config contains unknown keys: {', '.join(unknown)}"
        missing = [key for key in required if key not in value]
        if missing:
            yield "", f"config missing required keys: {', '.join(missing)}"
        together = [key for key in value if key in exclusive]
        if len(together) > 1:
            yield "", f"config these keys cannot be used together: {', '.join(together)}"
        for key, inner in attributes.items():
            if value.get(key) is not None or key in present:
                yield from attribute(key, inner, value.get(key))
            if key in present and value.get(key) in _BLANK:
                yield "", f"{label(key)} can't be blank"

    def check(value: Any) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield "", "config should be a hash"
            return
        problems = [*own_problems(value)]
        yield from problems
        if not problems:
            for key, inner in entries.items():
                if value.get(key) is not None:
                    yield from entry(key, inner, value[key])

    return check


def variables(*data: str) -> Check:
    """Return a check of ``variables``; ``data`` are the keys that a variable may have when it is a hash."""

    def own_problems(value: dict[Any, Any]) -> Iterator[Problem]:
        options = value.get("options")
        for key, inner in _VARIABLE_DATA.items():
            if value.get(key) is not None:
                yield from attribute(f"config_{key}", inner, value[key])
        if not data:
            yield "", "config must be a string"
        elif extra := [str(key) for key in value if key not in data]:
            yield "", f"config uses invalid data keys: {', '.join(extra)}"
        if isinstance(options, list) and options and value.get("value") not in options:
            yield "", "config value must be present in options"

    def one(value: Any) -> Iterator[Problem]:
        if isinstance(value, dict):
            yield from own_problems(value)
        elif not isinstance(value, str | int | float):
            yield None, "variable definition must be either a string or a hash"

    def check(value: Any) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield "", "config should be a hash"
            return
        if len(value) > MAX_VARIABLES:
            yield "", f"config has more than {MAX_VARIABLES} variables"
        for name, each_value in value.items():
            if each_value is not None:
                yield from entry(str(name), one, each_value)

    return check


_VARIABLE_DATA: dict[str, Check] = {
    "value": expect(lambda value: isinstance(value, str | int | float), "must be a scalar"),
    "description": expect(lambda value: isinstance(value, str) or is_integer(value), "must be an alphanumeric string"),
    "expand": boolean,
    "options": strings,
}
