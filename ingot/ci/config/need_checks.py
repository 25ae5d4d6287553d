"""Checks of ``needs`` and ``parallel``."""

from collections import Counter
from collections.abc import Collection, Iterator
from math import prod
from typing import Any

from ingot.ci.config.checks import (
    Check,
    Problem,
    boolean,
    either,
    entry,
    expect,
    flatten,
    hashes,
    is_integer,
    mapping,
    string,
    within,
)

MAX_PARALLEL = 200
MAX_CROSS_NEEDS = 5
"""Number of needed jobs of other pipelines, and of other projects."""
NO_NUMBER = 'config cannot use "parallel: <number>".'


def _matrix(value: Any) -> Iterator[Problem]:
    problems = [*hashes(value)] or [("", "config should be an array of hashes")] * (not value)
    if problems:
        yield from problems
        return
    for variables in value:
        problems += entry("variables", _matrix_variables, variables)
    yield from problems
    if not problems:
        count = sum(prod(len(flatten(choice) or ()) for choice in variables.values()) for variables in value)
        if count > MAX_PARALLEL:
            yield "", f"config generates too many jobs (maximum is {MAX_PARALLEL})"


def _matrix_variables(value: dict[Any, Any]) -> Iterator[Problem]:
    if not all(map(_is_choice, value.values())):
        yield "", "config should be a hash of key value pairs, value can be an array"
    if not value:
        yield "", "config requires at least 1 items"


def _is_choice(value: Any) -> bool:
    choices = flatten(value)
    return bool(choices) and all(isinstance(choice, str) or is_integer(choice) for choice in choices or ())


_copies = mapping(entries={"matrix": _matrix}, required=("matrix",))
parallel = either("should be an integer or a hash", ((int, float), within(1, MAX_PARALLEL)), (dict, _copies))
_need_attributes = {"job": string, "artifacts": boolean}
_same_pipeline = mapping({**_need_attributes, "optional": boolean}, {"parallel": parallel}, present=("job",))
_other_pipeline = mapping({"pipeline": string, **_need_attributes}, {"parallel": parallel}, present=("pipeline", "job"))
_other_project = mapping(
    {"project": string, "ref": string, **_need_attributes}, {"parallel": parallel}, present=("project", "ref", "job")
)
_status_of_pipeline = mapping({"pipeline": string}, present=("pipeline",))


def _need_mapping(value: dict[Any, Any]) -> Iterator[Problem]:
    """Check one need; its keys decide which kind it is."""
    if "project" in value:
        yield from _other_project(value)
    elif "job" in value and "pipeline" in value:
        yield from _other_pipeline(value)
    elif "job" in value and "ref" not in value:
        yield from _same_pipeline(value)
    elif value.keys() == {"pipeline"}:
        yield from _status_of_pipeline(value)
    else:
        yield "", "has an unsupported type"


_need = either("has an unsupported type", (str, expect(bool, "can't be blank")), (dict, _need_mapping))


def _kind(value: Any) -> str:
    """Return the kind of a need, by GitLab's name for it."""
    if not isinstance(value, dict) or not ("project" in value or "pipeline" in value):
        return "job"
    return "bridge" if value.keys() == {"pipeline"} else "cross_dependency"


def upstream_project(value: Any) -> str | None:
    """Return the project whose latest pipeline gives a job its status, if the needs of the job name one."""
    for each in flatten(value if isinstance(value, list) else [value]) or ():
        if isinstance(each, dict) and _kind(each) == "bridge" and each["pipeline"]:
            return str(each["pipeline"])
    return None


def needs(*kinds: str) -> Check:
    """Return a check of a list of needed jobs, also nested and with nulls, or one of them as a hash."""

    def check(value: Any) -> Iterator[Problem]:
        problems = [*_needs(value)]
        yield from problems
        if not problems:
            yield from unexpected_kinds(value, kinds)

    return check


def unexpected_kinds(value: Any, kinds: Collection[str]) -> Iterator[Problem]:
    """Check that a valid list of needs has needs of these kinds only."""
    entries = flatten(value if isinstance(value, list) else [value]) or ()
    refused = [kind for kind in dict.fromkeys(map(_kind, filter(None, entries))) if kind not in kinds]
    if refused:
        yield "", f"config uses invalid types: {', '.join(refused)}"


def _needs(value: Any) -> Iterator[Problem]:
    entries = flatten(value) if isinstance(value, list) else [value] if isinstance(value, dict) else None
    if entries is None:
        yield "", "config can only be a hash or an array"
        return
    if value == {}:
        yield "", "config can not be an empty hash"
    mappings = [each for each in entries if isinstance(each, dict)]
    if any(is_integer(each.get("parallel")) for each in mappings):
        yield "", NO_NUMBER
    elif value != {}:
        for each in entries:
            if each is not None:
                yield from entry("need", _need, each)
    counts = Counter("project" if "project" in each else "pipeline" for each in mappings if _kind(each) != "job")
    if any(count > MAX_CROSS_NEEDS for count in counts.values()):
        yield "", f"config must be less than or equal to {MAX_CROSS_NEEDS}"
