"""Checks of the values of keywords that have a structure of their own."""

import re
from collections.abc import Iterator
from datetime import datetime
from math import prod
from typing import Any, get_args

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
    is_integer,
    is_scalar,
    mapping,
    one_of,
    string,
    string_or_strings,
    strings,
    variables,
)
from ingot.ci.config.durations import parse_duration
from ingot.ci.config.expressions import InvalidExpression, parse_expression
from ingot.ci.config.patterns import is_pattern, pattern_matcher, split_project
from ingot.ci.config.plan import EnvironmentTier

MAX_PARALLEL = 200
MAX_RETRIES = 2
MAX_PATHS = 50
MAX_START_IN = 7 * 86_400
_ENVIRONMENT_NAME = re.compile(r"[\w/\\${}. -]{1,255}", re.ASCII)
_EXPOSED_NAME = re.compile(r"\w[-\w ]{0,99}")
_REPORTS = (
    "accessibility annotations api_fuzzing browser_performance cluster_applications cluster_image_scanning cobertura",
    "codequality container_scanning coverage_fuzzing cyclonedx dast dependency_scanning dotenv jacoco junit",
    "license_management license_scanning load_performance lsif metrics performance repository_xray requirements",
    "requirements_v2 sarif sast secret_detection terraform",
)
_RETRY_REASONS = frozenset(
    {
        "always",
        "unknown_failure",
        "script_failure",
        "api_failure",
        "stuck_or_timeout_failure",
        "runner_system_failure",
        "runner_unsupported",
        "stale_schedule",
        "job_execution_timeout",
        "archived_failure",
        "unmet_prerequisites",
        "scheduler_failure",
        "data_integrity_failure",
        "missing_dependency_failure",
        "forward_deployment_failure",
        "user_blocked",
        "project_deleted",
        "configuration_error",
        "image_pull_failure",
        "trace_size_exceeded",
        "ci_quota_exceeded",
        "no_matching_runner",
        "environment_creation_failure",
        "deployment_rejected",
        "job_token_expired",
        "pipeline_loop_detected",
        "builds_disabled",
        "failed_outdated_deployment_job",
        "protected_environment_failure",
        "secrets_provider_not_found",
        "ip_restriction_failure",
        "runner_interrupted",
    }
)
MAX_TAGS = 50
_TIERS = get_args(EnvironmentTier)


def expression(value: Any) -> Iterator[Problem]:
    """Check an expression of ``rules:if`` or ``only:variables``."""
    try:
        if not isinstance(value, str):
            raise InvalidExpression
        parse_expression(value)
    except InvalidExpression:
        yield "", "invalid expression syntax"


def _is_coverage(value: Any) -> bool:
    return isinstance(value, str) and is_pattern(value) and pattern_matcher(value) is not None


def _is_ref(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    ref, _ = split_project(value)
    return not ref.startswith("/") or pattern_matcher(ref) is not None


def _are_paths(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MAX_PATHS and all(is_scalar(item) for item in value)


def _is_start_in(value: Any) -> bool:
    seconds = parse_duration(value) if is_scalar(value) else None
    return seconds is not None and seconds <= MAX_START_IN


_paths = expect(_are_paths, f"should be an array of at most {MAX_PATHS} strings")
coverage = expect(_is_coverage, "must be a regular expression written between slashes, in re2 syntax")
start_in = expect(_is_start_in, "should be a duration of at most one week")
changes = either(
    "should be an array or a hash",
    (list, _paths),
    (dict, mapping({"paths": _paths, "compare_to": string}, required=("paths",))),
)
exists = either(
    "should be an array or a hash",
    (list, _paths),
    (str, anything),
    (dict, mapping({"paths": _paths, "project": string, "ref": string}, required=("paths",))),
)
_image_keys: dict[str, Check] = {
    "name": string,
    "entrypoint": commands,
    "docker": mapping({"platform": string, "user": either("should be a string", (str, anything), (int, anything))}),
    "kubernetes": mapping({"user": either("should be a string or an integer", (str, anything), (int, anything))}),
    "pull_policy": string_or_strings,
    "ports": anything,
}
image = either("should be a hash or a string", (str, anything), (dict, mapping(_image_keys, required=("name",))))
_service_keys: dict[str, Check] = {
    **_image_keys,
    "alias": string,
    "command": commands,
    "variables": variables(with_options=False),
}
_service = either("should be a hash or a string", (str, anything), (dict, mapping(_service_keys, required=("name",))))
services = each(_service, "should be an array of hashes or strings")


def _cache_key_files(value: dict[str, Any]) -> Iterator[Problem]:
    if value.get("files") is None and value.get("files_commits") is None:
        yield "", "missing required keys: files"
    yield from mapping({"files": strings, "files_commits": strings, "prefix": string})(value)


_cache_key = either(
    "should be a hash, a string or a symbol", (str, anything), (int, anything), (dict, _cache_key_files)
)
_cache_entry = mapping(
    {
        "key": _cache_key,
        "paths": strings,
        "untracked": boolean,
        "policy": string,
        "when": one_of("on_success", "on_failure", "always"),
        "unprotect": boolean,
        "fallback_keys": strings,
    }
)
cache = either("should be a hash or array of hashes", (dict, _cache_entry), (list, each(_cache_entry)))
_coverage_report = mapping(
    {"coverage_format": one_of("cobertura", "jacoco"), "path": string}, required=("coverage_format", "path")
)
_reports = mapping(
    {name: string_or_strings for line in _REPORTS for name in line.split()} | {"coverage_report": _coverage_report}
)
artifacts = mapping(
    {
        "name": string,
        "paths": strings,
        "exclude": strings,
        "untracked": boolean,
        "when": one_of("on_success", "on_failure", "always"),
        "expire_in": expect(
            lambda value: value == "never" or (is_scalar(value) and not list(duration(value))), "should be a duration"
        ),
        "expose_as": expect(
            lambda value: isinstance(value, str) and _EXPOSED_NAME.fullmatch(value) is not None,
            "can contain only letters, digits, '-', '_' and spaces, at most 100",
        ),
        "public": boolean,
        "access": one_of("all", "developer", "maintainer", "none"),
        "reports": _reports,
    }
)


def _is_environment_name(value: Any) -> bool:
    return isinstance(value, str) and _ENVIRONMENT_NAME.fullmatch(value) is not None and value.strip("/") == value


_environment_name = expect(
    _is_environment_name,
    "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, "
    "but it cannot start or end with '/'",
)
_environment_keys: dict[str, Check] = {
    "name": _environment_name,
    "url": string,
    "on_stop": string,
    "action": one_of("start", "stop", "prepare", "verify", "access"),
    "auto_stop_in": either("should be a duration", (str, anything), (int, anything)),
    "kubernetes": anything,
    "deployment_tier": expect(
        lambda value: isinstance(value, str) and value.lower() in _TIERS, f"must be one of {', '.join(_TIERS)}"
    ),
}
environment = either(
    "should be a hash or a string",
    (str, _environment_name),
    (dict, mapping(_environment_keys, required=("name",))),
)
_max_retries = expect(
    lambda value: is_integer(value) and 0 <= value <= MAX_RETRIES, f"has to be between 0 and {MAX_RETRIES}"
)


def _are_retry_reasons(value: Any) -> bool:
    reasons = [value] if isinstance(value, str) else value
    return isinstance(reasons, list) and all(isinstance(item, str) and item in _RETRY_REASONS for item in reasons)


_exit_codes = expect(
    lambda value: is_integer(value) or (isinstance(value, list) and all(map(is_integer, value))),
    "should be an array of integers or an integer",
)
retry = either(
    "has to be either an integer or a hash",
    (int, _max_retries),
    (
        dict,
        mapping(
            {
                "max": _max_retries,
                "when": expect(_are_retry_reasons, "is not a known failure reason"),
                "exit_codes": _exit_codes,
            }
        ),
    ),
)
allow_failure = either(
    "should be a hash or a boolean value", (bool, anything), (dict, mapping({"exit_codes": _exit_codes}))
)


def parallel(value: Any) -> Iterator[Problem]:
    """Check a number of copies, or a matrix."""
    if is_integer(value):
        if not 1 <= value <= MAX_PARALLEL:
            yield "", f"must be between 1 and {MAX_PARALLEL}"
    elif not isinstance(value, dict) or value.keys() != {"matrix"}:
        yield "", "should be an integer or a hash with the key matrix"
    else:
        yield from ((f":matrix{path}", problem) for path, problem in _matrix(value["matrix"]))


def _matrix(value: Any) -> Iterator[Problem]:
    if not isinstance(value, list) or not value:
        yield "", "should be an array of hashes"
        return
    if not all(isinstance(entry, dict) and entry and all(map(_is_choice, entry.values())) for entry in value):
        yield "", "should be an array of hashes with strings or arrays of strings"
        return
    count = sum(prod(len(flatten(choice) or ()) for choice in entry.values()) for entry in value)
    if count > MAX_PARALLEL:
        yield "", f"generates too many jobs (maximum is {MAX_PARALLEL})"


def _is_choice(value: Any) -> bool:
    choices = flatten(value)
    return bool(choices) and all(is_scalar(choice) or isinstance(choice, bool) for choice in choices or ())


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
                "parallel": parallel,
            }
        ),
    ),
)


def needs(value: Any) -> Iterator[Problem]:
    """Check a list of needed jobs, also nested, or one of them as a hash."""
    entries = flatten(value) if isinstance(value, list) else [value] if isinstance(value, dict) else None
    if entries is None:
        yield "", "can only be a hash or an array"
        return
    for entry in entries:
        yield from _need(entry)


def tags(value: Any) -> Iterator[Problem]:
    """Check tags of runners."""
    yield from strings(value)
    if isinstance(value, list) and len(value) > MAX_TAGS:
        yield "", f"should have at most {MAX_TAGS} tags"


_id_token = mapping({"aud": string_or_strings}, required=("aud",))


def id_tokens(value: Any) -> Iterator[Problem]:
    """Check signed tokens by the names of their variables."""
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        yield "", "should be a hash"
        return
    for name, token in value.items():
        yield from ((f":{name}{path}", problem) for path, problem in _id_token(token))


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


_asset_link = mapping(
    {"name": string, "url": string, "filepath": string, "link_type": one_of("other", "runbook", "image", "package")},
    required=("name", "url"),
)
release = mapping(
    {
        "tag_name": string,
        "tag_message": string,
        "name": string,
        "description": string,
        "ref": string,
        "released_at": expect(_is_time, "must be a valid datetime"),
        "milestones": string_or_strings,
        "assets": mapping({"links": each(_asset_link, "should be an array of hashes")}, required=("links",)),
    },
    required=("tag_name", "description"),
)


_refs = expect(
    lambda value: isinstance(value, list) and all(map(_is_ref, value)),
    "should be an array of strings or regular expressions using re2 syntax",
)
policy = either(
    "has to be either an array of conditions or a hash",
    (list, _refs),
    (str, lambda value: _refs([value])),
    (
        dict,
        mapping({"refs": _refs, "variables": each(expression), "changes": _paths, "kubernetes": one_of("active")}),
    ),
)
