"""Validation of a merged configuration; every error names the job and the key."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ingot.ci.config.checks import Problem, attribute, entry, flatten, label
from ingot.ci.config.keywords import (
    DEFAULT_KEYWORDS,
    GLOBAL_KEYWORDS,
    IGNORED_KEYWORDS,
    JOB_ATTRIBUTES,
    JOB_ENTRIES,
    JOB_KEYWORDS,
    SUPPORTED_REPORTS,
    TRIGGER_JOB_KEYWORDS,
    TRIGGER_JOB_WHEN,
)
from ingot.ci.config.need_checks import NO_NUMBER, unexpected_kinds, upstream_project
from ingot.ci.config.plan import JobEnvironment, JobSpec, Need
from ingot.ci.config.value_checks import start_in

"""Number of jobs that one job may need, unless a setting says otherwise."""
MAX_NAME_LENGTH = 255
_EXCLUDED_BY_RULES = ("only", "except", "start_in")
_ACTIONS = ("script", "run", "trigger")


def global_errors(config: Mapping[str, Any]) -> Iterator[str]:
    """Check the keywords of the top level."""
    for key, check in GLOBAL_KEYWORDS.items():
        if config.get(key) is not None:
            yield from (message("", problem) for problem in entry(key, check, config[key]))
    default = config.get("default")
    if isinstance(default, dict):
        for key in DEFAULT_KEYWORDS:
            if default.get(key) is not None and config.get(key) is not None:
                yield f"{key} is defined in top-level and `default:` entry"


Problems = dict[tuple[str, int], list[Problem]]
"""Problems of values by keyword and identity of the value, which jobs share through ``extends``."""


def message(location: str, problem: Problem) -> str:
    """Return the text of a problem in the form of GitLab, which is in lower case, also the names of jobs."""
    path, text = problem
    return (text if path is None else f"{location}{path} {text}".removeprefix(":")).lower()


def job_errors(name: Any, job: Any, problems: Problems) -> Iterator[str]:
    """Check one job by itself; ``problems`` remembers values that were checked for other jobs."""
    if not isinstance(name, str):
        yield f"jobs:{name} name should be a symbol"
    elif not name.strip():
        yield "jobs:job name can't be blank"
    elif len(name) > MAX_NAME_LENGTH:
        yield f"jobs:{name} name is too long (maximum is {MAX_NAME_LENGTH} characters)"
    elif not isinstance(job, dict) or not any(key in job for key in (*_ACTIONS, "needs")):
        yield f"jobs {label(name)} config should implement the script:, run:, or trigger: keyword".lower()
    else:
        own = [*_own_problems(job, problems)]
        found = own or [each for key in JOB_ENTRIES for each in _entry_problems(key, job.get(key), problems)]
        found = found or [*entry("needs", _need_kinds, job)]
        yield from (message(f"jobs:{name}", problem) for problem in found)


def _need_kinds(job: Mapping[str, Any]) -> Iterator[Problem]:
    """Check that a job needs nothing that jobs of its kind cannot need."""
    is_trigger = "script" not in job and "run" not in job
    yield from unexpected_kinds(job.get("needs"), ("job", "bridge") if is_trigger else ("job", "cross_dependency"))


def _own_problems(job: Mapping[str, Any], problems: Problems) -> Iterator[Problem]:
    """Yield the problems of a job without those of its entries, which are checked only if it has none."""
    is_trigger = "script" not in job and "run" not in job
    allowed = TRIGGER_JOB_KEYWORDS if is_trigger else JOB_KEYWORDS - {"trigger"}
    unknown = [str(key) for key in job if key not in allowed and (key not in JOB_KEYWORDS or job[key] is not None)]
    if unknown:
        yield "", f"config contains unknown keys: {', '.join(unknown)}"
    actions = [key for key in _ACTIONS if key in job]
    if len(actions) > 1:
        yield "", f"config these keys cannot be used together: {', '.join(actions)}"
    if "script" in job and job["script"] in (None, "", []):
        yield "", "script can't be blank"
    yield from _trigger_problems(job) if is_trigger else _delay_problems(job)
    if job.get("rules") is not None:
        conflicting = [key for key in _EXCLUDED_BY_RULES if job.get(key) is not None]
        if conflicting:
            yield "", f"config key may not be used with `rules`: {', '.join(conflicting)}"
    for key, check in JOB_ATTRIBUTES.items():
        if job.get(key) is not None:
            identity = (f"{key} attribute", id(job[key]))
            if identity not in problems:
                problems[identity] = [*attribute(key, check, job[key])]
            yield from problems[identity]


def _entry_problems(key: str, value: Any, problems: Problems) -> list[Problem]:
    if value is None:
        return []
    identity = (key, id(value))
    if identity not in problems:
        problems[identity] = [*entry(key, JOB_ENTRIES[key], value)]
    return problems[identity]


def _delay_problems(job: Mapping[str, Any]) -> Iterator[Problem]:
    if job.get("when") == "delayed":
        yield from attribute("start_in", start_in, job.get("start_in")) if job.get("rules") is None else ()
    elif job.get("start_in") is not None:
        yield "", "start in must be blank"


def _trigger_problems(job: Mapping[str, Any]) -> Iterator[Problem]:
    """Check a job that starts a pipeline: it has no commands, and no runner executes it."""
    if job.get("when") is not None and job["when"] not in TRIGGER_JOB_WHEN:
        yield "", f"when should be one of: {', '.join(TRIGGER_JOB_WHEN)}"
    if isinstance(job.get("allow_failure"), dict):
        yield "", "allow failure should be a boolean value"
    if isinstance(job.get("parallel"), int):
        yield ":parallel", NO_NUMBER
    if job.get("trigger") is None and upstream_project(job.get("needs")) is None:
        yield "", "config should contain either a trigger or a needs:pipeline"


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
        reports = (job.get("artifacts") or {}).get("reports") or {}
        if job.get("secrets") and not job.get("id_tokens"):
            yield f"jobs:{name} uses secrets without id_tokens, so the runner cannot sign in to the provider"
        unused = [kind for kind in reports if kind not in SUPPORTED_REPORTS and reports[kind] is not None]
        if unused:
            yield f"jobs:{name}:artifacts:reports are not supported and not stored: {', '.join(unused)}"
        if job.get("type") is not None:
            yield f"jobs:{name} uses `type`, which is deprecated; use `stage`"


def _always_runs(rules: Any) -> bool:
    """Return whether the last rule adds the job to every pipeline."""
    last: dict[str, Any] = (flatten(rules or []) or [{}])[-1]
    return last.keys() == {"when"} and last["when"] != "never"


def relation_errors(specs: Sequence[JobSpec], stages: Sequence[str], max_needs: int) -> Iterator[str]:
    """Check stages, needs, dependencies and environments against the other jobs."""
    relations = _Relations(specs, stages, max_needs)
    checked: set[str] = set()
    for spec in specs:
        if spec.base_name not in checked:
            checked.add(spec.base_name)
            yield from relations.errors(spec)
    yield from cycle_errors({spec.name: spec.needs or () for spec in specs}, specs)


class _Relations:
    """Jobs by their names, with and without the suffix of ``parallel``."""

    def __init__(self, specs: Sequence[JobSpec], stages: Sequence[str], max_needs: int) -> None:
        self._jobs = {spec.name: spec for spec in specs} | {spec.base_name: spec for spec in reversed(specs)}
        self._stages = stages
        self._max_needs = max_needs
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
        counts = Counter(need.job for need in needs)
        if len(needs) > self._max_needs:
            yield (
                f"{spec.base_name}: one job can only need {self._max_needs} others, but you have listed {len(needs)}. "
                "See needs keyword documentation for more details"
            )
            return
        duplicated = sorted(name for name, count in counts.items() if count > 1)
        if duplicated:
            yield f"{spec.base_name} has the following needs duplicated: {', '.join(duplicated)}."
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
