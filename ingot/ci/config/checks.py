"""Building blocks of the validation: each check yields the problems of a value with their path below it."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ingot.ci.config.durations import parse_duration

Problem = tuple[str, str]
"""Path below the value, and the text of the error."""
Check = Callable[[Any], Iterator[Problem]]
MAX_NESTING = 10
MAX_VARIABLES = 1_000


def expect(test: Callable[[Any], bool], text: str) -> Check:
    """Return a check that a function decides."""

    def check(value: Any) -> Iterator[Problem]:
        if not test(value):
            yield "", text

    return check


def is_scalar(value: Any) -> bool:
    """Return whether a value is a string or a number."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


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
commands = expect(_are_nested_strings, "should be a string or a nested array of strings up to 10 levels deep")
duration = expect(lambda value: is_scalar(value) and parse_duration(value) is not None, "should be a duration")
anything = expect(lambda _: True, "")


def one_of(*values: Any) -> Check:
    """Return a check for one of some constants."""
    texts = ", ".join(str(value) for value in values)
    return expect(lambda value: any(value is each or value == each for each in values), f"should be one of: {texts}")


def either(text: str, *alternatives: tuple[type | tuple[type, ...], Check]) -> Check:
    """Return a check that is chosen by the type of the value; ``text`` is the error for all other types."""

    def check(value: Any) -> Iterator[Problem]:
        for kind, inner in alternatives:
            if isinstance(value, kind) and not (isinstance(value, bool) and kind is int):
                yield from inner(value)
                return
        yield "", text

    return check


def each(inner: Check, text: str = "should be an array") -> Check:
    """Return a check of all items of a list, which may be nested because of ``!reference``."""

    def check(value: Any) -> Iterator[Problem]:
        items = flatten(value) if isinstance(value, list) else None
        if items is None:
            yield "", text
            return
        for item in items:
            yield from inner(item)

    return check


def mapping(keys: Mapping[str, Check], *, required: Collection[str] = (), text: str = "should be a hash") -> Check:
    """Return a check of a mapping with known keys; null values count as absent."""

    def check(value: Any) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield "", text
            return
        unknown = [str(key) for key in value if key not in keys]
        if unknown:
            yield "", f"contains unknown keys: {', '.join(unknown)}"
        for key in required:
            if value.get(key) in (None, "", []):
                yield "", f"should have a value for: {key}"
        for key, inner in keys.items():
            if value.get(key) is not None:
                for path, problem in inner(value[key]):
                    yield f":{key}{path}", problem

    return check


def variables(*, with_options: bool) -> Check:
    """Return a check of ``variables``; ``with_options`` allows a description and choices."""
    keys = {"value", "expand", *(("description", "options") if with_options else ())}

    def is_variable(value: Any) -> bool:
        if not isinstance(value, dict):
            return value is None or isinstance(value, bool) or is_scalar(value)
        options = value.get("options")
        if options is not None and not (isinstance(options, list) and all(is_scalar(option) for option in options)):
            return False
        chosen = not options or value.get("value") in options
        return value.keys() <= keys and chosen and (is_scalar(value.get("value", "")) or value.get("value") is None)

    def check(value: Any) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield "", "should be a hash of key value pairs"
            return
        if len(value) > MAX_VARIABLES:
            yield "", f"has more than {MAX_VARIABLES} variables"
        wrong = [str(name) for name, each in value.items() if not is_variable(each)]
        if wrong:
            yield "", f"has invalid values for: {', '.join(wrong)}"

    return check
