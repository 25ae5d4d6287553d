"""Keywords of jobs, of the top level and of ``include``, with the check of each value."""

from collections.abc import Iterator
from typing import Any

from ingot.ci.config import value_checks
from ingot.ci.config.checks import (
    Check,
    Problem,
    anything,
    boolean,
    commands,
    duration,
    either,
    expect,
    flatten,
    mapping,
    one_of,
    string,
    string_or_strings,
    strings,
    variables,
)

DEFAULT_STAGES = ("build", "test", "deploy")
JOB_WHEN = ("on_success", "on_failure", "always", "manual", "delayed", "never")
_auto_cancel = mapping(
    {
        "on_new_commit": one_of("conservative", "interruptible", "none"),
        "on_job_failure": one_of("none", "all"),
    }
)
_conditions: dict[str, Check] = {
    "if": value_checks.expression,
    "changes": value_checks.changes,
    "exists": value_checks.exists,
}
_job_rule = mapping(
    {
        **_conditions,
        "when": one_of(*JOB_WHEN),
        "start_in": value_checks.start_in,
        "allow_failure": boolean,
        "variables": variables(with_options=False),
        "needs": value_checks.needs,
        "interruptible": boolean,
    }
)
_workflow_rule = mapping(
    {
        **_conditions,
        "when": one_of("always", "never"),
        "variables": variables(with_options=False),
        "auto_cancel": _auto_cancel,
    }
)


def _rules(rule: Check) -> Check:
    """Return a check of rules, which may be nested lists because of ``!reference``."""

    def check(value: Any) -> Iterator[Problem]:
        rules = flatten(value) if isinstance(value, list) else None
        if rules is None:
            yield "", "should be an array of hashes"
            return
        for each in rules:
            yield from ((f":rule{path}", problem) for path, problem in rule(each))

    return check


def _delayed_rule(value: Any) -> Iterator[Problem]:
    yield from _job_rule(value)
    if isinstance(value, dict) and value.get("when") == "delayed" and value.get("start_in") is None:
        yield ":start_in", "should be a duration"


def _are_stage_names(value: Any) -> bool:
    names = flatten(value) if isinstance(value, list) else None
    return names is not None and all(isinstance(name, str) for name in names)


include_entry = mapping(
    {
        "local": string,
        "project": string,
        "file": string_or_strings,
        "ref": string,
        "remote": string,
        "integrity": string,
        "cache": anything,
        "template": string,
        "component": string,
        "artifact": string,
        "job": string,
        "inputs": expect(lambda value: isinstance(value, dict), "should be a hash"),
        "rules": _rules(mapping({**_conditions, "when": one_of("always", "never")})),
    }
)
"""Check of one entry of ``include``."""

_MAX_TRIGGER_FILES = 3


def _trigger_files(value: Any) -> Iterator[Problem]:
    """Check the files of a child pipeline."""
    entries = value if isinstance(value, list) else [value]
    if not entries:
        yield "", "can't be blank"
    if len(entries) > _MAX_TRIGGER_FILES:
        yield "", f"is too long (maximum is {_MAX_TRIGGER_FILES})"
    for entry in entries:
        if not isinstance(entry, str):
            yield from include_entry(entry)
            if isinstance(entry, dict) and entry.get("artifact") is not None and not entry.get("job"):
                yield "", "must specify the job where to fetch the artifact from"


_trigger_options: dict[str, Check] = {
    "strategy": one_of("depend", "mirror"),
    "forward": mapping({"yaml_variables": boolean, "pipeline_variables": boolean}),
}
_child_trigger = mapping({**_trigger_options, "include": _trigger_files})
_project_trigger = mapping(
    {
        **_trigger_options,
        "project": string,
        "branch": string,
        "inputs": expect(lambda value: isinstance(value, dict), "should be a hash"),
    },
    required=("project",),
)


def _trigger_mapping(value: dict[str, Any]) -> Iterator[Problem]:
    return (_child_trigger if value.get("include") is not None else _project_trigger)(value)


trigger = either("has to be either a string or a hash", (str, anything), (dict, _trigger_mapping))


_inherit = mapping(
    {
        name: either("should be a bool or array of strings", (bool, anything), (list, strings))
        for name in ("default", "variables")
    }
)
_SHARED_KEYWORDS: dict[str, Check] = {
    "before_script": commands,
    "after_script": commands,
    "image": value_checks.image,
    "services": value_checks.services,
    "cache": value_checks.cache,
}
"""Keywords of jobs and of ``default`` that are also allowed at the top level."""
DEFAULT_KEYWORDS: dict[str, Check] = {
    **_SHARED_KEYWORDS,
    "tags": value_checks.tags,
    "artifacts": value_checks.artifacts,
    "timeout": duration,
    "retry": value_checks.retry,
    "interruptible": boolean,
    "hooks": anything,
    "id_tokens": value_checks.id_tokens,
    "identity": string,
}
"""Keywords that ``default`` gives to jobs."""
JOB_KEYWORDS: dict[str, Check] = {
    **DEFAULT_KEYWORDS,
    "script": commands,
    "run": anything,
    "stage": string,
    "type": string,
    "only": value_checks.policy,
    "except": value_checks.policy,
    "rules": _rules(_delayed_rule),
    "when": one_of(*JOB_WHEN),
    "start_in": value_checks.start_in,
    "manual_confirmation": string,
    "allow_failure": value_checks.allow_failure,
    "variables": variables(with_options=False),
    "environment": value_checks.environment,
    "dependencies": strings,
    "needs": value_checks.needs,
    "coverage": value_checks.coverage,
    "resource_group": string,
    "parallel": value_checks.parallel,
    "inherit": _inherit,
    "trigger": trigger,
    "release": value_checks.release,
    "secrets": anything,
    "pages": anything,
    "publish": string,
    "dast_configuration": anything,
}
TRIGGER_JOB_KEYWORDS = frozenset(
    {
        "trigger",
        "parallel",
        "stage",
        "only",
        "except",
        "rules",
        "variables",
        "inherit",
        "allow_failure",
        "when",
        "needs",
        "resource_group",
        "environment",
        "interruptible",
    }
)
"""Keywords of jobs that start a pipeline; no runner executes them."""
TRIGGER_JOB_WHEN = ("on_success", "on_failure", "always", "manual", "never")
IGNORED_KEYWORDS = frozenset(
    {
        "run",
        "secrets",
        "pages",
        "publish",
        "dast_configuration",
        "hooks",
        "identity",
        "manual_confirmation",
    }
)
"""Keywords that are accepted with a warning."""
SUPPORTED_REPORTS = frozenset({"junit", "dotenv", "cobertura", "coverage_report"})
"""Kinds of ``artifacts:reports`` that runners upload; others are accepted with a warning."""
GLOBAL_KEYWORDS: dict[str, Check] = {
    **_SHARED_KEYWORDS,
    "default": mapping(DEFAULT_KEYWORDS),
    "stages": expect(
        _are_stage_names, "should be an array of strings or a nested array of strings up to 10 levels deep"
    ),
    "types": strings,
    "variables": variables(with_options=True),
    "workflow": mapping({"rules": _rules(_workflow_rule), "name": string, "auto_cancel": _auto_cancel}),
    "include": anything,
    "spec": anything,
}
