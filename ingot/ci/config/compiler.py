"""From the text of a file to a validated configuration, and from there to the plan of a pipeline."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ingot.ci.config.checks import flatten
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.evaluation import RuleContext, first_match, is_selected
from ingot.ci.config.includes import FileSource, Includes
from ingot.ci.config.job_specs import config_rules, config_variables, job_specs
from ingot.ci.config.keywords import (
    DEFAULT_KEYWORDS,
    DEFAULT_STAGES,
    GLOBAL_KEYWORDS,
    IGNORED_KEYWORDS,
    JOB_KEYWORDS,
    MAX_NEEDS,
)
from ingot.ci.config.merging import resolve_extends, resolve_references
from ingot.ci.config.plan import (
    ConfigVariable,
    JobSpec,
    Need,
    PipelineConfig,
    PipelinePlan,
    PlannedJob,
    Rule,
    WorkflowSpec,
)

FIRST_STAGE, LAST_STAGE = ".pre", ".post"
MAX_JOBS = 2_000
MAX_ERRORS = 50
_EXCLUDED_BY_RULES = ("only", "except")


def read_config(text: str, source: FileSource, context: RuleContext) -> PipelineConfig:
    """Read, merge and validate a file; raise ConfigError with all errors that were found."""
    includes = Includes(context)
    merged = includes.load(text, source)
    resolved = resolve_references(resolve_extends(merged))
    jobs = {name: job for name, job in resolved.items() if name not in GLOBAL_KEYWORDS and not _is_hidden(name)}
    errors = [*_global_errors(resolved), *(error for name, job in jobs.items() for error in _job_errors(name, job))]
    if not jobs:
        errors.append("jobs config should contain at least one visible job")
    if errors:
        raise ConfigError(*errors[:MAX_ERRORS])
    return _validated(resolved, jobs, [*includes.warnings, *_warnings(jobs)])


def _is_hidden(name: Any) -> bool:
    return isinstance(name, str) and name.startswith(".")


def _global_errors(config: Mapping[str, Any]) -> Iterator[str]:
    for key, check in GLOBAL_KEYWORDS.items():
        if config.get(key) is not None:
            for path, problem in check(config[key]):
                yield f"{key}{path} config {problem}"


def _job_errors(name: Any, job: Any) -> Iterator[str]:
    if not isinstance(name, str) or not name.strip():
        yield "jobs config should contain valid job names"
        return
    if not isinstance(job, Mapping):
        yield f"jobs:{name} config should be a hash"
        return
    unknown = [str(key) for key in job if key not in JOB_KEYWORDS]
    if unknown:
        yield f"jobs:{name} config contains unknown keys: {', '.join(unknown)}"
    for key, value in job.items():
        if value is not None and key in JOB_KEYWORDS:
            for path, problem in JOB_KEYWORDS[key](value):
                yield f"jobs:{name}:{key}{path} config {problem}"
    if not any(job.get(key) not in (None, "", []) for key in ("script", "run", "trigger")):
        yield f"jobs:{name} config should implement the script:, run:, or trigger: keyword"
    conflicting = [key for key in _EXCLUDED_BY_RULES if job.get("rules") is not None and job.get(key) is not None]
    if conflicting:
        yield f"jobs:{name} config key may not be used with `rules`: {', '.join(conflicting)}"
    if job.get("when") == "delayed" and job.get("start_in") is None:
        yield f"jobs:{name} start in should be a duration"
    if job.get("start_in") is not None and job.get("when") != "delayed" and job.get("rules") is None:
        yield f"jobs:{name} start in must be blank"


def _warnings(jobs: Mapping[str, Any]) -> Iterator[str]:
    for name, job in jobs.items():
        ignored = [key for key in job if key in IGNORED_KEYWORDS]
        if "trigger" in ignored:
            yield f"jobs:{name} uses `trigger`, which is not supported; the job is not created"
        elif ignored:
            yield f"jobs:{name} uses keywords that are not supported and have no effect: {', '.join(ignored)}"


def _validated(config: Mapping[str, Any], jobs: Mapping[str, Any], warnings: list[str]) -> PipelineConfig:
    named = config.get("stages") or config.get("types")
    inner = tuple(flatten(named) or ()) if named is not None else DEFAULT_STAGES
    stages = (
        FIRST_STAGE,
        *(stage for stage in dict.fromkeys(inner) if stage not in (FIRST_STAGE, LAST_STAGE)),
        LAST_STAGE,
    )
    defaults = {key: config[key] for key in DEFAULT_KEYWORDS if config.get(key) is not None} | (
        config.get("default") or {}
    )
    variables = config_variables(config.get("variables"))
    specs = tuple(
        spec
        for name, job in jobs.items()
        if job.get("trigger") is None
        for spec in job_specs(name, job, defaults, variables)
    )
    if len(specs) > MAX_JOBS:
        raise ConfigError(f"The configuration has more than {MAX_JOBS} jobs")
    errors = list(
        _dependency_errors(specs, stages, {name for name, job in jobs.items() if job.get("trigger") is not None})
    )
    if errors:
        raise ConfigError(*errors[:MAX_ERRORS])
    return PipelineConfig(stages, specs, variables, _workflow(config.get("workflow")), tuple(warnings), dict(config))


def _workflow(value: Any) -> WorkflowSpec:
    if not value:
        return WorkflowSpec()
    return WorkflowSpec(
        config_rules(value.get("rules")), value.get("name"), (value.get("auto_cancel") or {}).get("on_new_commit")
    )


def _dependency_errors(specs: Sequence[JobSpec], stages: Sequence[str], ignored: set[str]) -> Iterator[str]:
    """Check stages, needs, dependencies and environments against the other jobs."""
    order = {stage: index for index, stage in enumerate(stages)}
    stage_of = {spec.name: spec.stage for spec in specs} | {spec.base_name: spec.stage for spec in specs}
    for spec in specs:
        name = spec.base_name
        if spec.stage not in order:
            yield f"{name} job: chosen stage {spec.stage} does not exist; available stages are {', '.join(stages)}"
            continue
        needs = [*(spec.needs or ()), *(need for rule in spec.rules or () for need in rule.needs or ())]
        if len(needs) > MAX_NEEDS:
            yield f"{name} job: one job can only need {MAX_NEEDS} others, but you have listed {len(needs)}"
        for kind, needed, optional in [
            *(("need", need.job, need.optional) for need in needs),
            *(("dependency", other, False) for other in spec.dependencies or ()),
        ]:
            if needed not in stage_of:
                if not optional and needed not in ignored:
                    yield f"{name} job: undefined {kind}: {needed}"
            elif order.get(stage_of[needed], -1) > order[spec.stage]:
                yield f"{name} job: {kind} {needed} is not defined in current or prior stages"
        stopper = spec.environment.on_stop if spec.environment else None
        if stopper is not None and stopper not in stage_of:
            yield f"{name} job: on_stop job {stopper} is not defined"
    yield from _cycles(specs)


def _cycles(specs: Sequence[JobSpec]) -> Iterator[str]:
    waiting = {spec.base_name: {need.job for need in spec.needs or ()} for spec in specs}
    while free := [name for name, needs in waiting.items() if not needs & waiting.keys()]:
        for name in free:
            del waiting[name]
    if waiting:
        yield f"The pipeline has circular dependencies: {', '.join(sorted(waiting))}"


def plan_pipeline(config: PipelineConfig, context: RuleContext) -> PipelinePlan | None:
    """Choose the jobs of a pipeline; return None if ``workflow:rules`` exclude it. The plan may have no jobs."""
    variables = dict(config.variables)
    rules = config.workflow.rules
    if rules is not None:
        match = first_match(rules, context)
        if match is None or match.when == "never":
            return None
        variables |= match.variables
    jobs = tuple(job for spec in config.jobs if (job := _planned(spec, context)) is not None)
    expanded = tuple(_with_copies(jobs))
    used = {job.spec.stage for job in expanded}
    stages = tuple(stage for stage in config.stages if stage in used)
    return PipelinePlan(stages, expanded, variables, config.workflow.name, config.workflow.on_new_commit)


def _planned(spec: JobSpec, context: RuleContext) -> PlannedJob | None:
    scoped = _JobContext(context, spec.variables)
    if spec.rules is None:
        if not is_selected(spec.only, spec.excluded, scoped) or spec.when == "never":
            return None
        failure = spec.when == "manual" if spec.allow_failure is None else spec.allow_failure
        return PlannedJob(spec, spec.when, failure, spec.start_in, spec.variables, spec.needs, spec.interruptible)
    rule = first_match(spec.rules, scoped)
    if rule is None:
        return None
    return _by_rule(spec, rule)


def _by_rule(spec: JobSpec, rule: Rule) -> PlannedJob | None:
    when = rule.when or spec.when
    if when == "never":
        return None
    failure = rule.allow_failure if rule.allow_failure is not None else bool(spec.allow_failure)
    return PlannedJob(
        spec,
        when,
        failure,
        (rule.start_in or spec.start_in) if when == "delayed" else None,
        {**spec.variables, **rule.variables},
        spec.needs if rule.needs is None else rule.needs,
        spec.interruptible if rule.interruptible is None else rule.interruptible,
    )


def _with_copies(jobs: Iterable[PlannedJob]) -> Iterator[PlannedJob]:
    """Replace needs of a parallel job by needs of its copies, and check that needed jobs exist."""
    jobs = list(jobs)
    names = {job.spec.name for job in jobs}
    copies: dict[str, list[str]] = {}
    for job in jobs:
        copies.setdefault(job.spec.base_name, []).append(job.spec.name)
    for job in jobs:
        if job.needs is None:
            yield job
            continue
        needs: list[Need] = []
        for need in job.needs:
            found = [need.job] if need.job in names else copies.get(need.job, [])
            if not found and not need.optional:
                raise ConfigError(
                    f"'{job.spec.name}' job needs '{need.job}' job, but '{need.job}' does not exist in the pipeline. "
                    "This might be because of the only, except, or rules keywords. To need a job that sometimes does not "
                    "exist in the pipeline, use needs:optional."
                )
            needs += [Need(name, need.artifacts, need.optional) for name in found]
        yield msgspec.structs.replace(job, needs=tuple(needs))


class _JobContext:
    """The context with the variables of a job, which its rules may use."""

    def __init__(self, context: RuleContext, variables: Mapping[str, ConfigVariable]) -> None:
        self._context = context
        self.ref = context.ref
        self.is_tag = context.is_tag
        self.source = context.source
        self.project_path = context.project_path
        self.variables = {**{name: variable.value for name, variable in variables.items()}, **context.variables}
        self.changed_paths = context.changed_paths
        self.file_paths = context.file_paths
