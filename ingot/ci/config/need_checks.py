"""Checks of ``needs`` and ``parallel``."""

from collections.abc import Iterator
from math import prod
from typing import Any

from ingot.ci.config.checks import (
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
MAX_PIPELINE_NEEDS = 5
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


def needs(value: Any) -> Iterator[Problem]:
    """Check a list of needed jobs, also nested and with nulls, or one of them as a hash."""
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
    if sum("pipeline" in each and "job" in each for each in mappings) > MAX_PIPELINE_NEEDS:
        yield "", f"config must be less than or equal to {MAX_PIPELINE_NEEDS}"
