"""Validation of a merged configuration; every error names the job and the key."""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ingot.ci.config.checks import flatten
from ingot.ci.config.keywords import (
    DEFAULT_KEYWORDS,
    GLOBAL_KEYWORDS,
    IGNORED_KEYWORDS,
    JOB_KEYWORDS,
    SUPPORTED_REPORTS,
    TRIGGER_JOB_KEYWORDS,
    TRIGGER_JOB_WHEN,
)
from ingot.ci.config.plan import JobEnvironment, JobSpec, Need

MAX_NEEDS = 50
MAX_NAME_LENGTH = 255
_EXCLUDED_BY_RULES = ("only", "except", "start_in")
_ACTIONS = ("script", "run", "trigger")


def global_errors(config: Mapping[str, Any]) -> Iterator[str]:
    """Check the keywords of the top level."""
    for key, check in GLOBAL_KEYWORDS.items():
        if config.get(key) is not None:
            for path, problem in check(config[key]):
                yield f"{key}{path} config {problem}"
    default = config.get("default")
    if isinstance(default, dict):
        for key in DEFAULT_KEYWORDS:
            if default.get(key) is not None and config.get(key) is not None:
                yield f"{key} is defined in top-level and `default:` entry"


Problems = dict[tuple[str, int], list[tuple[str, str]]]
"""Problems of values by keyword and identity of the value, which jobs share through ``extends``."""


def job_errors(name: Any, job: Any, problems: Problems) -> Iterator[str]:
    """Check one job by itself; ``problems`` remembers values that were checked for other jobs."""
    if not isinstance(name, str):
        yield f"jobs:{name} name should be a string"
    elif not name.strip():
        yield "jobs:job name can't be blank"
    elif len(name) > MAX_NAME_LENGTH:
        yield f"jobs:{name} name is too long (maximum is {MAX_NAME_LENGTH} characters)"
    elif not isinstance(job, dict):
        yield f"jobs:{name} config should be a hash"
    else:
        yield from _key_errors(name, job, problems)
        yield from _combination_errors(name, job)


def _key_errors(name: str, job: Mapping[str, Any], problems: Problems) -> Iterator[str]:
    unknown = [str(key) for key in job if key not in JOB_KEYWORDS]
    if unknown:
        yield f"jobs:{name} config contains unknown keys: {', '.join(unknown)}"
    for key, value in job.items():
        if value is not None and key in JOB_KEYWORDS:
            identity = (key, id(value))
            if identity not in problems:
                problems[identity] = list(JOB_KEYWORDS[key](value))
            for path, problem in problems[identity]:
                yield f"jobs:{name}:{key}{path} config {problem}"


def _combination_errors(name: str, job: Mapping[str, Any]) -> Iterator[str]:
    """Check keywords that require or exclude each other."""
    actions = [key for key in _ACTIONS if job.get(key) not in (None, "", [])]
    if not actions:
        yield f"jobs {name} config should implement the script:, run:, or trigger: keyword"
    elif len(actions) > 1:
        yield f"jobs:{name} config these keys cannot be used together: {', '.join(actions)}"
    elif actions == ["trigger"]:
        yield from _trigger_job_errors(name, job)
    if job.get("rules") is not None:
        conflicting = [key for key in _EXCLUDED_BY_RULES if job.get(key) is not None]
        if conflicting:
            yield f"jobs:{name} config key may not be used with `rules`: {', '.join(conflicting)}"
    elif job.get("when") == "delayed" and job.get("start_in") is None:
        yield f"jobs:{name} start in should be a duration"
    elif job.get("start_in") is not None and job.get("when") != "delayed":
        yield f"jobs:{name} start in must be blank"


def _trigger_job_errors(name: str, job: Mapping[str, Any]) -> Iterator[str]:
    """Check a job that starts a pipeline: it has no commands, and no runner executes it."""
    unknown = [key for key in job if key in JOB_KEYWORDS and key not in TRIGGER_JOB_KEYWORDS and job[key] is not None]
    if unknown:
        yield f"jobs:{name} config contains unknown keys: {', '.join(unknown)}"
    if job.get("when") not in (None, *TRIGGER_JOB_WHEN):
        yield f"jobs:{name}:when config should be one of: {', '.join(TRIGGER_JOB_WHEN)}"
    if isinstance(job.get("parallel"), int):
        yield f"jobs:{name}:parallel config should be a hash"
    if isinstance(job.get("allow_failure"), dict):
        yield f"jobs:{name}:allow_failure config should be a boolean value"


def job_warnings(jobs: Mapping[str, Any], *, has_workflow_rules: bool) -> Iterator[str]:
    """Yield warnings about keywords without effect, and about jobs that run twice for a push to a merge request."""
    for name, job in jobs.items():
        if not has_workflow_rules and _always_runs(job.get("rules")):
            yield (
                f"jobs:{name} may allow multiple pipelines to run for a single action due to `rules:when` clause "
                "with no `workflow:rules`"
            )
        ignored = [key for key in job if key in IGNORED_KEYWORDS and job[key] is not None]
        if ignored:
            yield f"jobs:{name} uses keywords that are not supported and have no effect: {', '.join(ignored)}"
        if any(_is_unsupported_need(entry) for entry in flatten(job.get("needs")) or ()):
            yield f"jobs:{name}:needs uses a pipeline or artifacts of another project, which is not supported"
        reports = (job.get("artifacts") or {}).get("reports") or {}
        unused = [kind for kind in reports if kind not in SUPPORTED_REPORTS and reports[kind] is not None]
        if unused:
            yield f"jobs:{name}:artifacts:reports are not supported and not stored: {', '.join(unused)}"
        if job.get("type") is not None:
            yield f"jobs:{name} uses `type`, which is deprecated; use `stage`"


def _always_runs(rules: Any) -> bool:
    """Return whether the last rule adds the job to every pipeline."""
    last: dict[str, Any] = (flatten(rules or []) or [{}])[-1]
    return last.keys() == {"when"} and last["when"] != "never"


def _is_unsupported_need(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    return entry.get("project") is not None or (entry.get("pipeline") is not None and entry.get("job") is None)


def relation_errors(specs: Sequence[JobSpec], stages: Sequence[str]) -> Iterator[str]:
    """Check stages, needs, dependencies and environments against the other jobs."""
    relations = _Relations(specs, stages)
    checked: set[str] = set()
    for spec in specs:
        if spec.base_name not in checked:
            checked.add(spec.base_name)
            yield from relations.errors(spec)
    yield from cycle_errors({spec.name: spec.needs or () for spec in specs}, specs)


class _Relations:
    """Jobs by their names, with and without the suffix of ``parallel``."""

    def __init__(self, specs: Sequence[JobSpec], stages: Sequence[str]) -> None:
        self._jobs = {spec.name: spec for spec in specs} | {spec.base_name: spec for spec in reversed(specs)}
        self._stages = stages
        self._order = {stage: index for index, stage in enumerate(stages)}

    def errors(self, spec: JobSpec) -> Iterator[str]:
        name, stages = spec.base_name, self._stages
        if spec.stage not in self._order:
            yield f"{name} job: chosen stage {spec.stage} does not exist; available stages are {', '.join(stages)}"
            return
        yield from self._needs_errors(spec, spec.needs or ())
        for rule in spec.rules or ():
            yield from self._needs_errors(spec, rule.needs or ())
        for dependency in spec.dependencies or ():
            yield from self._position_errors(spec, "dependency", dependency)
        needed = {need.job for need in spec.needs or ()}
        if needed and spec.dependencies:
            missing = [each for each in spec.dependencies if each not in needed]
            if missing:
                yield f"jobs:{name} dependencies the {', '.join(missing)} should be part of needs"
        if spec.environment is not None and spec.environment.on_stop is not None:
            yield from self._stop_errors(spec, spec.environment, spec.environment.on_stop)

    def _needs_errors(self, spec: JobSpec, needs: Sequence[Need]) -> Iterator[str]:
        names = [need.job for need in needs]
        duplicated = sorted({name for name in names if names.count(name) > 1}) if len(names) <= MAX_NEEDS else []
        if duplicated:
            yield f"{spec.base_name} has the following needs duplicated: {', '.join(duplicated)}."
        if len(names) > MAX_NEEDS:
            yield f"{spec.base_name} job: one job can only need {MAX_NEEDS} others, but you have listed {len(names)}"
            return
        for need in needs:
            if not (need.optional and need.job not in self._jobs):
                yield from self._position_errors(spec, "need", need.job)

    def _position_errors(self, spec: JobSpec, kind: str, other: str) -> Iterator[str]:
        if other not in self._jobs:
            yield f"{spec.base_name} job: undefined {kind}: {other}"
        elif self._order.get(self._jobs[other].stage, -1) > self._order[spec.stage]:
            yield f"{spec.base_name} job: {kind} {other} is not defined in current or prior stages"

    def _stop_errors(self, spec: JobSpec, environment: JobEnvironment, stopper: str) -> Iterator[str]:
        prefix = f"{spec.base_name} job: on_stop job {stopper}"
        if stopper not in self._jobs:
            yield f"{prefix} is not defined"
            return
        stopped = self._jobs[stopper].environment
        if stopped is None:
            yield f"{prefix} does not have environment defined"
        elif stopped.name != environment.name:
            yield f"{prefix} have different environment name"
        elif stopped.action != "stop":
            yield f"{prefix} needs to have action stop defined"


def cycle_errors(needs: Mapping[str, Sequence[Need]], specs: Sequence[JobSpec]) -> Iterator[str]:
    """Check that no job needs itself, directly or through others."""
    base_names = {spec.name: spec.base_name for spec in specs}
    graph: dict[str, set[str]] = {}
    for name, needed in needs.items():
        names = graph.setdefault(base_names[name], set())
        names |= {base_names.get(need.job, need.job) for need in needed}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"The pipeline has circular dependencies: {', '.join(dict.fromkeys(error.args[1]))}"
