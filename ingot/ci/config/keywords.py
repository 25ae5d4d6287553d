"""Keywords of jobs, of the top level and of ``include``, with the check of each value."""

from collections.abc import Iterator
from typing import Any

from ingot.ci.config import cache_checks, need_checks, value_checks
from ingot.ci.config.checks import (
    Check,
    Problem,
    anything,
    attribute,
    boolean,
    commands,
    each,
    either,
    entry,
    every,
    expect,
    flatten,
    hash_value,
    known,
    label,
    mapping,
    one_of,
    string,
    string_or_strings,
    strings,
    variables,
)

DEFAULT_STAGES = ("build", "test", "deploy")
JOB_WHEN = ("on_success", "on_failure", "always", "manual", "delayed")
_NEW_COMMIT = ("conservative", "interruptible", "none")
_JOB_FAILURE = ("none", "all")
MAX_WORKFLOW_NAME = 255
_auto_cancel = mapping(
    {
        "on_new_commit": one_of(*_NEW_COMMIT, text=f"must be one of: {', '.join(_NEW_COMMIT)}"),
        "on_job_failure": one_of(*_JOB_FAILURE, text=f"must be one of: {', '.join(_JOB_FAILURE)}"),
    }
)
_conditions: dict[str, Check] = {"changes": value_checks.changes, "exists": value_checks.exists}


def _rule(when: tuple[str, ...], attributes: dict[str, Check], entries: dict[str, Check]) -> Check:
    """Return a check of one rule."""
    plain = mapping(
        {"if": value_checks.expression, "when": known(*when), "start_in": anything, **attributes},
        {**_conditions, **entries},
    )

    def check(value: Any) -> Iterator[Problem]:
        if value == {}:
            yield "", "config can't be blank"
        if isinstance(value, dict):
            yield from _delay_problems(value)
        yield from plain(value)

    return check


def _delay_problems(rule: dict[str, Any]) -> Iterator[Problem]:
    if rule.get("when") != "delayed":
        if "start_in" in rule:
            yield "", "config contains disallowed keys: start_in"
        return
    if not rule.get("start_in"):
        yield "", f"{label('start_in')} can't be blank"
    yield from attribute("start_in", value_checks.start_in, rule.get("start_in"))


_job_rule = _rule(
    (*JOB_WHEN, "never"),
    {"allow_failure": boolean, "interruptible": boolean},
    {"variables": variables(), "needs": need_checks.needs("job")},
)
_workflow_rule = _rule(
    ("always", "never"),
    {"allow_failure": boolean},
    {"variables": variables(), "needs": need_checks.needs("job"), "auto_cancel": _auto_cancel},
)
_include_rule = _rule(("never", "always"), {}, {})


def _are_nested_hashes(value: Any) -> bool:
    rules = flatten(value) if isinstance(value, list) else None
    return rules is not None and all(isinstance(rule, dict) for rule in rules)


_rules_type = expect(_are_nested_hashes, "should be an array containing hashes and arrays of hashes")


def _rules(rule: Check) -> Check:
    """Return a check of rules, which may be nested lists because of ``!reference``."""
    return every(expect(lambda value: value != [], "can't be blank"), each("rule", rule))


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
        "inputs": hash_value,
    },
    {"rules": _rules(_include_rule)},
)
"""Check of one entry of ``include``."""

_MAX_TRIGGER_FILES = 3


def _trigger_files(value: Any) -> Iterator[Problem]:
    """Check the files of a child pipeline."""
    if not isinstance(value, str | list):
        yield "", "config should be an array or a string"
        return
    entries = value if isinstance(value, list) else [value]
    if not entries:
        yield "", "config can't be blank"
    if len(entries) > _MAX_TRIGGER_FILES:
        yield "", f"config is too long (maximum is {_MAX_TRIGGER_FILES})"
        return
    for each_entry in entries:
        yield from entry("include", _trigger_file, each_entry)


def _trigger_file(value: Any) -> Iterator[Problem]:
    if not isinstance(value, str | dict):
        yield "", "config should be a hash or a string"
    elif isinstance(value, dict):
        yield from include_entry(value)
        if value.get("artifact") is not None and not value.get("job"):
            yield "", "config must specify the job where to fetch the artifact from"
        if value.get("project") is not None and not value.get("file"):
            yield "", "config must specify the file where to fetch the config from"


_strategy = one_of("depend", "mirror", text="should be depend or mirror")
_forward = mapping({"yaml_variables": boolean, "pipeline_variables": boolean})
_child_trigger = mapping({"strategy": _strategy}, {"include": _trigger_files, "forward": _forward})
_project_trigger = mapping(
    {"inputs": hash_value, "project": string, "branch": string, "strategy": _strategy},
    {"forward": _forward},
    present=("project",),
)


def _trigger_mapping(value: dict[str, Any]) -> Iterator[Problem]:
    return (_child_trigger if value.get("include") is not None else _project_trigger)(value)


trigger = either("has to be either a string or a hash", (str, expect(bool, "can't be blank")), (dict, _trigger_mapping))


_SHARED_KEYWORDS: dict[str, Check] = {
    "before_script": commands,
    "after_script": commands,
    "image": value_checks.image,
    "services": value_checks.services,
    "cache": cache_checks.cache,
}
"""Keywords of jobs and of ``default`` that are also allowed at the top level."""
DEFAULT_KEYWORDS: dict[str, Check] = {
    **_SHARED_KEYWORDS,
    "tags": value_checks.tags,
    "artifacts": value_checks.artifacts,
    "timeout": value_checks.timeout,
    "retry": value_checks.retry,
    "interruptible": boolean,
    "hooks": mapping(entries={"pre_get_sources_script": commands}),
    "id_tokens": value_checks.id_tokens,
    "identity": one_of("google_cloud"),
}
"""Keywords that ``default`` gives to jobs."""


def _inherited_keywords(value: list[Any]) -> Iterator[Problem]:
    unknown = [str(name) for name in value if name not in DEFAULT_KEYWORDS]
    if unknown:
        yield "", f"config contains unknown values: {', '.join(unknown)}"


_INHERITED = "should be a bool or array of strings"
_inherit = mapping(
    entries={
        "default": either(_INHERITED, (bool, anything), (list, every(strings, _inherited_keywords))),
        "variables": either(_INHERITED, (bool, anything), (list, strings)),
    }
)


def _short_vault_secret(value: str) -> Iterator[Problem]:
    """Check ``path/field`` or ``path/field@engine``."""
    path, _, field = value.partition("@")[0].rpartition("/")
    if not path or not field or value.endswith("@"):
        yield "", "config should be the path of a secret and a field, such as production/db/password@ops"


_SECRET_PROVIDERS = ("vault", "gcp_secret_manager", "azure_key_vault")
"""Providers of secrets that runners know and whose settings the server sends."""
_OTHER_PROVIDERS = ("akeyless", "aws_secrets_manager", "gitlab_secrets_manager")
_vault_secret = mapping(
    {"path": string, "field": string},
    {"engine": mapping({"name": string, "path": string}, present=("name", "path"))},
    required=("engine",),
    present=("path", "field"),
)
_named_secret = mapping({"name": string, "version": anything}, present=("name",))
_secret_keys = mapping(
    {**dict.fromkeys(_OTHER_PROVIDERS, hash_value), "file": boolean, "token": string},
    {
        "vault": either(
            "should be a hash or a string", (str, _short_vault_secret), (dict, _vault_secret), subject="config "
        ),
        "gcp_secret_manager": _named_secret,
        "azure_key_vault": _named_secret,
    },
)


def _secret(value: Any) -> Iterator[Problem]:
    """Check one secret, which comes from one provider that runners of this server can use."""
    problems = [*_secret_keys(value)]
    yield from problems
    if problems:
        return
    providers = [name for name in (*_SECRET_PROVIDERS, *_OTHER_PROVIDERS) if value.get(name) is not None]
    if len(providers) != 1:
        yield "", f"config must use exactly one of these keys: {', '.join(_SECRET_PROVIDERS)}"
    elif providers[0] in _OTHER_PROVIDERS:
        yield "", f"config uses a provider that this server does not support: {providers[0]}"


JOB_ATTRIBUTES: dict[str, Check] = {
    "when": one_of(*JOB_WHEN),
    "dependencies": strings,
    "allow_failure": value_checks.allow_failure_type,
    "manual_confirmation": string,
    "run": expect(lambda value: isinstance(value, list), "should be a array"),
    "start_in": anything,
    "rules": _rules_type,
    "resource_group": string,
    "publish": value_checks.site_folder,
}
"""Keywords of jobs whose messages have no path of their own; those of ``start_in`` depend on ``when``."""
JOB_ENTRIES: dict[str, Check] = {
    **DEFAULT_KEYWORDS,
    "script": commands,
    "stage": string,
    "type": string,
    "only": value_checks.policy,
    "except": value_checks.policy,
    "rules": _rules(_job_rule),
    "allow_failure": value_checks.allow_failure,
    "variables": variables("value", "expand"),
    "environment": value_checks.environment,
    "needs": need_checks.needs("job", "cross_dependency", "bridge"),
    "coverage": value_checks.coverage,
    "parallel": need_checks.parallel,
    "inherit": _inherit,
    "trigger": trigger,
    "release": value_checks.release,
    "secrets": value_checks.by_name(_secret),
    "pages": either(
        "should be a hash or a boolean value",
        (bool, anything),
        (
            dict,
            mapping(
                {"path_prefix": string, "expire_in": value_checks.site_expiry, "publish": value_checks.site_folder}
            ),
        ),
        subject="config ",
    ),
    "dast_configuration": mapping({"site_profile": string, "scanner_profile": string}),
}
"""Keywords of jobs that are a part of the path of their messages."""
JOB_KEYWORDS = frozenset({*JOB_ATTRIBUTES, *JOB_ENTRIES})
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
TRIGGER_JOB_WHEN = ("on_success", "on_failure", "always", "manual")
IGNORED_KEYWORDS = frozenset(
    {
        "run",
        "dast_configuration",
        "hooks",
        "identity",
        "manual_confirmation",
    }
)
"""Keywords that are accepted with a warning."""
SUPPORTED_REPORTS = frozenset({"junit", "dotenv", "cobertura", "coverage_report"})
"""Kinds of ``artifacts:reports`` that runners upload; others are accepted with a warning."""


def _workflow_name(value: Any) -> Iterator[Problem]:
    yield from string(value)
    if not str(value):
        yield "", "config is too short (minimum is 1 character)"
    if len(str(value)) > MAX_WORKFLOW_NAME:
        yield "", f"config is too long (maximum is {MAX_WORKFLOW_NAME} characters)"


GLOBAL_KEYWORDS: dict[str, Check] = {
    **_SHARED_KEYWORDS,
    "default": mapping(entries=DEFAULT_KEYWORDS),
    "stages": expect(
        _are_stage_names, "should be an array of strings or a nested array of strings up to 10 levels deep"
    ),
    "types": strings,
    "variables": variables("value", "description", "expand", "options"),
    "workflow": mapping({"name": _workflow_name}, {"rules": _rules(_workflow_rule), "auto_cancel": _auto_cancel}),
    "include": anything,
    "spec": anything,
}
