"""Keywords of jobs and of the top level, with the check of each value."""

from collections.abc import Iterator
from typing import Any

from ingot.ci.config.checks import (
    Check,
    Problem,
    anything,
    boolean,
    commands,
    duration,
    each,
    either,
    expect,
    flatten,
    is_scalar,
    mapping,
    one_of,
    string,
    string_or_strings,
    strings,
    variables,
)
from ingot.ci.config.expressions import InvalidExpression, parse_expression
from ingot.ci.config.patterns import is_pattern, pattern_matcher

DEFAULT_STAGES = ("build", "test", "deploy")
JOB_WHEN = ("on_success", "on_failure", "always", "manual", "delayed", "never")
MAX_PARALLEL = 200
MAX_RETRIES = 2
MAX_NEEDS = 50
_integer = expect(lambda value: isinstance(value, int) and not isinstance(value, bool), "should be an integer")
_path_list = expect(
    lambda value: isinstance(value, list) and all(is_scalar(item) for item in value), "should be an array of strings"
)


def _expression(value: Any) -> Iterator[Problem]:
    try:
        if not isinstance(value, str):
            raise InvalidExpression
        parse_expression(value)
    except InvalidExpression:
        yield "", "invalid expression syntax"


def _is_coverage(value: Any) -> bool:
    return isinstance(value, str) and is_pattern(value) and pattern_matcher(value) is not None


def _are_refs(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(ref, str) and (not ref.startswith("/") or pattern_matcher(ref.rpartition("@")[0] or ref) is not None
                                  or pattern_matcher(ref) is not None)
        for ref in value
    )  # fmt: skip


_changes = either(
    "should be an array or a hash",
    (list, _path_list),
    (dict, mapping({"paths": _path_list, "compare_to": string}, required=("paths",))),
)
_exists = either(
    "should be an array or a hash",
    (list, _path_list),
    (str, anything),
    (dict, mapping({"paths": _path_list, "project": string, "ref": string}, required=("paths",))),
)
_image_keys: dict[str, Check] = {
    "name": string,
    "entrypoint": commands,
    "docker": anything,
    "kubernetes": anything,
    "pull_policy": string_or_strings,
    "ports": anything,
}
_image = either("should be a hash or a string", (str, anything), (dict, mapping(_image_keys, required=("name",))))
_service = either(
    "should be a hash or a string",
    (str, anything),
    (
        dict,
        mapping(
            {**_image_keys, "alias": string, "command": commands, "variables": variables(with_options=False)},
            required=("name",),
        ),
    ),
)
_services = each(_service, "should be an array of hashes or strings")
_cache_key = either(
    "should be a hash, a string or a symbol",
    (str, anything),
    (int, anything),
    (dict, mapping({"files": strings, "files_commits": strings, "prefix": string}, required=())),
)
_cache_entry = mapping(
    {
        "key": _cache_key,
        "paths": strings,
        "untracked": boolean,
        "policy": either("should be a string", (str, anything)),
        "when": one_of("on_success", "on_failure", "always"),
        "unprotect": boolean,
        "fallback_keys": strings,
    }
)
_cache = either("should be a hash or array of hashes", (dict, _cache_entry), (list, each(_cache_entry)))
_reports = mapping(
    {
        name: (anything if name == "coverage_report" else string_or_strings)
        for name in (
            "accessibility annotations api_fuzzing browser_performance cluster_applications cluster_image_scanning cobertura "
            "codequality container_scanning coverage_fuzzing coverage_report cyclonedx dast dependency_scanning dotenv jacoco "
            "junit license_management license_scanning load_performance lsif metrics performance repository_xray "
            "requirements requirements_v2 sarif sast secret_detection terraform"
        ).split()
    }
)
_artifacts = mapping(
    {
        "name": string,
        "paths": strings,
        "exclude": strings,
        "untracked": boolean,
        "when": one_of("on_success", "on_failure", "always"),
        "expire_in": expect(
            lambda value: value == "never" or (is_scalar(value) and not list(duration(value))), "should be a duration"
        ),
        "expose_as": string,
        "public": boolean,
        "access": one_of("all", "developer", "maintainer", "none"),
        "reports": _reports,
    }
)
_environment = either(
    "should be a hash or a string",
    (str, anything),
    (
        dict,
        mapping(
            {
                "name": string,
                "url": string,
                "on_stop": string,
                "action": one_of("start", "stop", "prepare", "verify", "access"),
                "auto_stop_in": either("should be a duration", (str, anything), (int, anything)),
                "kubernetes": anything,
                "deployment_tier": one_of("production", "staging", "testing", "development", "other"),
            },
            required=("name",),
        ),
    ),
)
_retry_reasons = (
    "always unknown_failure script_failure api_failure stuck_or_timeout_failure runner_system_failure runner_unsupported "
    "stale_schedule job_execution_timeout archived_failure unmet_prerequisites scheduler_failure data_integrity_failure "
    "missing_dependency_failure forward_deployment_failure"
).split()
_max_retries = expect(
    lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_RETRIES,
    f"has to be between 0 and {MAX_RETRIES}",
)
_retry_when = expect(
    lambda value: (
        (isinstance(value, str) and value in _retry_reasons)
        or (isinstance(value, list) and all(item in _retry_reasons for item in value))
    ),
    "is not a known failure reason",
)
_retry = either(
    "has to be either an integer or a hash",
    (int, _max_retries),
    (dict, mapping({"max": _max_retries, "when": _retry_when, "exit_codes": anything})),
)
_need = either(
    "can only be a hash or an array",
    (str, anything),
    (
        dict,
        mapping(
            {
                "job": string,
                "artifacts": boolean,
                "optional": boolean,
                "pipeline": string,
                "project": string,
                "ref": string,
                "parallel": anything,
            }
        ),
    ),
)
_needs = either("can only be a hash or an array", (list, each(_need)), (dict, _need), (str, anything))
_allow_failure = either(
    "should be a hash or a boolean value",
    (bool, anything),
    (
        dict,
        mapping(
            {
                "exit_codes": either(
                    "should be an array of integers or an integer", (int, anything), (list, each(_integer))
                )
            }
        ),
    ),
)
_rule_variables = variables(with_options=False)
_rule = mapping(
    {
        "if": _expression,
        "changes": _changes,
        "exists": _exists,
        "when": one_of(*JOB_WHEN),
        "start_in": duration,
        "allow_failure": _allow_failure,
        "variables": _rule_variables,
        "needs": _needs,
        "interruptible": boolean,
        "auto_cancel": anything,
    }
)
_refs = expect(_are_refs, "should be an array of strings or regular expressions using re2 syntax")
_policy = either(
    "has to be either an array of conditions or a hash",
    (
        str,
        expect(
            lambda value: _are_refs([value]), "should be an array of strings or regular expressions using re2 syntax"
        ),
    ),
    (list, _refs),
    (
        dict,
        mapping({"refs": _refs, "variables": each(_expression), "changes": _path_list, "kubernetes": anything}),
    ),
)


def _nested_rules(value: Any) -> Iterator[Problem]:
    rules = flatten(value)
    if not isinstance(value, list) or rules is None:
        yield "", "should be an array of hashes"
        return
    for rule in rules:
        for path, problem in _rule(rule):
            yield f":rule{path}", problem


def _parallel(value: Any) -> Iterator[Problem]:
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= MAX_PARALLEL:
            yield "", f"must be between 1 and {MAX_PARALLEL}"
        return
    if not isinstance(value, dict) or value.keys() != {"matrix"}:
        yield "", "should be an integer or a hash"
        return
    if not isinstance(value["matrix"], list) or not value["matrix"]:
        yield ":matrix", "should be an array of hashes"
        return
    for entry in value["matrix"]:
        if not isinstance(entry, dict) or not all(
            is_scalar(item)
            or (isinstance(item, list) and item and all(is_scalar(each_) for each_ in flatten(item) or [None]))
            for item in entry.values()
        ):
            yield ":matrix", "should be an array of hashes with strings or arrays of strings"


_inherit = mapping(
    {
        name: either("should be a bool or array of strings", (bool, anything), (list, strings))
        for name in ("default", "variables")
    }
)
DEFAULT_KEYWORDS: dict[str, Check] = {
    "before_script": commands,
    "after_script": commands,
    "image": _image,
    "services": _services,
    "cache": _cache,
    "tags": strings,
    "artifacts": _artifacts,
    "timeout": duration,
    "retry": _retry,
    "interruptible": boolean,
    "hooks": anything,
    "id_tokens": anything,
    "identity": string,
}
"""Keywords that ``default`` gives to jobs."""
JOB_KEYWORDS: dict[str, Check] = {
    **DEFAULT_KEYWORDS,
    "script": commands,
    "run": anything,
    "stage": string,
    "type": string,
    "only": _policy,
    "except": _policy,
    "rules": _nested_rules,
    "when": one_of(*JOB_WHEN),
    "start_in": duration,
    "manual_confirmation": string,
    "allow_failure": _allow_failure,
    "variables": variables(with_options=False),
    "environment": _environment,
    "dependencies": strings,
    "needs": _needs,
    "coverage": expect(_is_coverage, "must be a regular expression"),
    "resource_group": string,
    "parallel": _parallel,
    "inherit": _inherit,
    "trigger": anything,
    "release": anything,
    "secrets": anything,
    "pages": anything,
    "publish": string,
    "dast_configuration": anything,
}
IGNORED_KEYWORDS = frozenset(
    {"run", "release", "secrets", "pages", "publish", "dast_configuration", "hooks", "id_tokens", "identity", "trigger"}
)
"""Keywords that are accepted with a warning."""
_workflow_rule = mapping(
    {
        "if": _expression,
        "changes": _changes,
        "exists": _exists,
        "when": one_of("always", "never"),
        "variables": _rule_variables,
        "auto_cancel": anything,
    }
)
GLOBAL_KEYWORDS: dict[str, Check] = {
    "default": mapping(DEFAULT_KEYWORDS),
    "stages": expect(
        lambda value: (flatten(value) or [0]) == [] or _are_stage_names(value), "should be an array of strings"
    ),
    "types": strings,
    "variables": variables(with_options=True),
    "workflow": mapping(
        {
            "rules": lambda value: each(_workflow_rule, "should be an array of hashes")(flatten(value)),
            "name": string,
            "auto_cancel": mapping(
                {
                    "on_new_commit": one_of("conservative", "interruptible", "none"),
                    "on_job_failure": one_of("none", "all"),
                }
            ),
        }
    ),
    "image": _image,
    "services": _services,
    "cache": _cache,
    "before_script": commands,
    "after_script": commands,
    "include": anything,
    "spec": anything,
}


def _are_stage_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in flatten(value) or [None])
