"""Checks of the values of keywords that have a structure of their own."""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any, get_args

from ingot.ci.config.checks import (
    Check,
    Problem,
    anything,
    at_most,
    attribute,
    boolean,
    duration,
    each,
    either,
    every,
    expect,
    hash_value,
    hashes,
    is_integer,
    known,
    mapping,
    one_of,
    string,
    string_or_strings,
    strings,
    variables,
    within,
)
from ingot.ci.config.durations import parse_duration
from ingot.ci.config.expressions import InvalidExpression, parse_expression
from ingot.ci.config.patterns import is_pattern, pattern_matcher, split_project
from ingot.ci.config.plan import EnvironmentTier, is_site_folder

MAX_RETRIES = 2
MAX_PATHS = 50
MAX_START_IN = 7 * 86_400
MAX_TIMEOUT = 30 * 86_400
MAX_URL_LENGTH = 255
_ENVIRONMENT_NAME = re.compile(r"[\w/${}. -]{1,255}", re.ASCII)
_EXPOSED_NAME = re.compile(r"\w[-\w ]*", re.ASCII)
_MAX_EXPOSED_NAME = 100
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
_PULL_POLICIES = ("always", "never", "if-not-present")
_ENVIRONMENT_ACTIONS = ("start", "stop", "prepare", "verify", "access")


def expression(value: Any) -> Iterator[Problem]:
    """Check an expression of ``rules:if`` or ``only:variables``."""
    try:
        if not isinstance(value, str):
            raise InvalidExpression
        parse_expression(value)
    except InvalidExpression:
        yield "", "config invalid expression syntax"


def _is_coverage(value: Any) -> bool:
    return isinstance(value, str) and is_pattern(value) and pattern_matcher(value) is not None


def _is_ref(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    ref, _ = split_project(value)
    return not ref.startswith("/") or pattern_matcher(ref) is not None


_paths = every(strings, at_most(MAX_PATHS, f"has too many entries (maximum {MAX_PATHS})"))
coverage = expect(_is_coverage, "must be a regular expression with re2 syntax")
start_in = partial(duration, limit=MAX_START_IN)
timeout = partial(duration, limit=MAX_TIMEOUT)
changes = either(
    "should be an array or a hash",
    (list, _paths),
    (dict, mapping({"paths": _paths, "compare_to": string}, required=("paths",))),
)


def _exists_elsewhere(value: dict[str, Any]) -> Iterator[Problem]:
    required = ("paths",) if value.get("ref") is None else ("paths", "project")
    yield from mapping({"paths": _paths, "project": string, "ref": string}, required=required)(value)


exists = either("should be an array of strings or a hash", (list, _paths), (dict, _exists_elsewhere))
_pull_policy = either(
    "should be an array of strings or a string",
    (str, expect(lambda value: value in _PULL_POLICIES, "is not included in the list")),
    (list, every(strings, lambda value: _unknown_items(value, _PULL_POLICIES))),
    subject="config ",
)
_port = either(
    "should be a hash or an integer",
    (int, anything),
    (dict, mapping({"number": expect(is_integer, "should be a integer"), "protocol": string, "name": string})),
    subject="config ",
)
_user = either("should be a string or an integer", (str, anything), (int, anything), subject="config ")
_image_attributes: dict[str, Check] = {"name": string, "entrypoint": strings}
_image_entries: dict[str, Check] = {
    "docker": mapping({"platform": string, "user": string}),
    "kubernetes": mapping({"user": _user}),
    "pull_policy": _pull_policy,
    "ports": each("port", _port),
}


def _imageable(value_check: Check) -> Check:
    return either("should be a hash or a string", (str, anything), (dict, value_check), subject="config ")


image = _imageable(mapping(_image_attributes, _image_entries, present=("name",)))
_service = _imageable(
    mapping(
        {**_image_attributes, "alias": string, "command": strings},
        {**_image_entries, "variables": variables()},
        present=("name",),
    )
)
services = each("service", _service)


def _unknown_items(value: list[Any], allowed: tuple[str, ...] | frozenset[str]) -> Iterator[Problem]:
    unknown = [str(item) for item in value if item not in allowed]
    if unknown:
        yield "", f"config contains unknown values: {', '.join(unknown)}"


_coverage_report = mapping(
    {
        "coverage_format": one_of("cobertura", "jacoco", text="must be one of supported formats: cobertura, jacoco."),
        "path": string,
    },
    present=("coverage_format", "path"),
)
_reports = mapping(
    {name: string_or_strings for line in _REPORTS for name in line.split()}, {"coverage_report": _coverage_report}
)


def _expose_as(value: Any) -> Iterator[Problem]:
    yield from string(value)
    text = str(value)
    if len(text) > _MAX_EXPOSED_NAME:
        yield "", f"config is too long (maximum is {_MAX_EXPOSED_NAME} characters)"
    if not _EXPOSED_NAME.fullmatch(text):
        yield "", "config can contain only letters, digits, '-', '_' and spaces"


def _expiry(value: Any) -> Iterator[Problem]:
    if value != "never":
        yield from duration(value)


def site_expiry(value: Any) -> Iterator[Problem]:
    """Check the lifetime of a site, which may contain variables; a site that ends at once would be no site."""
    if not isinstance(value, str) or "$" not in value:
        yield from _expiry(value)
        if parse_duration(str(value)) == 0:
            yield "", "config should be a duration"


def site_folder(value: Any) -> Iterator[Problem]:
    """Check the folder of a site, which is in the artifacts."""
    yield from string(value)
    if not is_site_folder(str(value)):
        yield "", "config must be a folder of the artifacts"


_artifacts = mapping(
    {
        "name": string,
        "public": boolean,
        "untracked": boolean,
        "paths": strings,
        "expose_as": _expose_as,
        "exclude": strings,
        "reports": hash_value,
        "when": one_of("on_success", "on_failure", "always"),
        "expire_in": _expiry,
        "access": one_of("none", "developer", "maintainer", "all"),
    },
    {"reports": _reports},
    exclusive=("access", "public"),
)


def artifacts(value: Any) -> Iterator[Problem]:
    """Check artifacts; those with a name in merge requests need plain paths."""
    yield from _artifacts(value)
    if isinstance(value, dict) and value.get("expose_as") is not None:
        paths = value.get("paths")
        if not paths:
            yield "", "paths can't be blank"
        elif isinstance(paths, list) and any("*" in str(path) for path in paths):
            yield "", "paths can't contain '*' when used with 'expose_as'"


def _environment_name(value: Any) -> Iterator[Problem]:
    is_name = isinstance(value, str) and _ENVIRONMENT_NAME.fullmatch(value) is not None and value.strip("/") == value
    if not is_name:
        yield (
            "",
            "config can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, "
            "but it cannot start or end with '/'",
        )


def _url(value: Any) -> Iterator[Problem]:
    yield from string(value)
    if len(str(value)) > MAX_URL_LENGTH:
        yield "", f"config is too long (maximum is {MAX_URL_LENGTH} characters)"


environment = either(
    "should be a hash or a string",
    (str, lambda value: attribute("name", _environment_name, value)),
    (
        dict,
        mapping(
            {
                "name": _environment_name,
                "url": _url,
                "action": one_of(*_ENVIRONMENT_ACTIONS, text="should be start, stop, prepare, verify, or access"),
                "deployment_tier": one_of(*_TIERS, text=f"must be one of {', '.join(_TIERS)}"),
                "on_stop": string,
                "kubernetes": hash_value,
                "auto_stop_in": string,
            },
            present=("name",),
        ),
    ),
    subject="config ",
)
_exit_codes = expect(
    lambda value: is_integer(value) or (isinstance(value, list) and all(map(is_integer, value))),
    "should be an array of integers or an integer",
)
_retry_reasons = either(
    "should be an array of strings or a string",
    (str, expect(lambda value: value in _RETRY_REASONS, "is not included in the list")),
    (list, every(string_or_strings, lambda value: _unknown_items(value, _RETRY_REASONS))),
    subject="config ",
)
_retry = either(
    "has to be either an integer or a hash",
    (int, within(0, MAX_RETRIES)),
    (dict, mapping({"max": within(0, MAX_RETRIES), "when": _retry_reasons, "exit_codes": _exit_codes})),
    subject="config ",
)


def retry(value: Any) -> Iterator[Problem]:
    """Check retries; their messages do not name the job."""
    for _, text in _retry(value):
        yield None, f"retry {text}"


allow_failure_type = expect(lambda value: isinstance(value, bool | dict), "should be a hash or a boolean value")
allow_failure = either("", (bool, anything), (dict, mapping({"exit_codes": _exit_codes})))


def tags(value: Any) -> Iterator[Problem]:
    """Check tags of runners."""
    yield from strings(value)
    if isinstance(value, list) and len(value) >= MAX_TAGS:
        yield "", f"config must be less than the limit of {MAX_TAGS} tags"


def by_name(inner: Check) -> Check:
    """Return a check of values by names that the author chooses."""

    def check(value: Any) -> Iterator[Problem]:
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            yield "", "config should be a hash"
            return
        for name, item in value.items():
            yield from ((f":{name}{path}", text) for path, text in inner(item))

    return check


id_tokens = by_name(mapping({"aud": string_or_strings}, required=("aud",)))


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


_asset_link = mapping(
    {"name": string, "url": string, "filepath": string, "link_type": one_of("runbook", "package", "image", "other")},
    present=("name", "url"),
)
release = mapping(
    {
        "tag_name": string,
        "tag_message": string,
        "name": string,
        "description": string,
        "milestones": string_or_strings,
        "released_at": expect(_is_time, "must be a valid datetime"),
        "ref": string,
    },
    {"assets": mapping({"links": hashes}, {"links": each("link", _asset_link)}, present=("links",))},
    present=("tag_name", "description"),
)
_refs = expect(
    lambda value: isinstance(value, list) and all(map(_is_ref, value)),
    "should be an array of strings or regular expressions using re2 syntax",
)
_blank = expect(bool, "can't be blank")
policy = either(
    "has to be either an array of conditions or a hash",
    (list, _refs),
    (
        dict,
        every(
            _blank,
            mapping(
                {
                    "refs": _refs,
                    "kubernetes": known("active"),
                    "variables": each("", expression, "should be an array of strings"),
                    "changes": strings,
                },
            ),
        ),
    ),
)
