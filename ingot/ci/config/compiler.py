"""From the text of a file to a validated configuration, and from there to the plan of a pipeline."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ingot.ci.config.checks import flatten
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.evaluation import RuleContext, RuleScope
from ingot.ci.config.includes import FileSource, Includes
from ingot.ci.config.job_specs import config_rules, config_variables, job_specs
from ingot.ci.config.keywords import DEFAULT_KEYWORDS, DEFAULT_STAGES, GLOBAL_KEYWORDS
from ingot.ci.config.merge import resolve_extends, resolve_references
from ingot.ci.config.plan import (
    FIRST_STAGE,
    LAST_STAGE,
    ConfigVariable,
    JobSpec,
    Need,
    PipelineConfig,
    PipelinePlan,
    PlannedJob,
    RefPolicy,
    Rule,
    WorkflowSpec,
)
from ingot.ci.config.validation import (
    Problems,
    cycle_errors,
    global_errors,
    job_errors,
    job_warnings,
    relation_errors,
)
from ingot.ci.config.yaml_loader import ConfigLimits

MAX_JOBS = 10_000
"""Jobs of a file with the copies of ``parallel``; large projects have thousands, of which rules choose a few."""
MAX_PIPELINE_JOBS = 2_000
MAX_ERRORS = 50


def read_config(
    text: str | bytes,
    source: FileSource,
    context: RuleContext,
    inputs: Mapping[str, Any] | None = None,
    *,
    limits: ConfigLimits | None = None,
) -> PipelineConfig:
    """Read, merge and validate a file; raise ConfigError with all errors that were found."""
    limits = limits or ConfigLimits()
    includes = Includes(context, limits)
    merged = includes.load(text, source, inputs)
    resolved = resolve_references(resolve_extends(merged))
    jobs = {name: job for name, job in resolved.items() if name not in GLOBAL_KEYWORDS and not _is_hidden(name)}
    _raise_all(_errors(resolved, jobs))
    has_workflow_rules = (resolved.get("workflow") or {}).get("rules") is not None
    warnings = (*dict.fromkeys(includes.warnings), *job_warnings(jobs, has_workflow_rules=has_workflow_rules))
    return _validated(resolved, jobs, warnings, limits.needs)


def _is_hidden(name: Any) -> bool:
    return isinstance(name, str) and name.startswith(".")


def _errors(config: Mapping[str, Any], jobs: Mapping[Any, Any]) -> Iterator[str]:
    yield from global_errors(config)
    problems: Problems = {}
    for name, job in jobs.items():
        yield from job_errors(name, job, problems)
    if not jobs:
        yield "jobs config should contain at least one visible job"


def _raise_all(errors: Iterator[str]) -> None:
    found = [error for error, _ in zip(errors, range(MAX_ERRORS), strict=False)]
    if found:
        raise ConfigError(*found)


def _validated(
    config: Mapping[str, Any], jobs: Mapping[str, Any], warnings: tuple[str, ...], max_needs: int
) -> PipelineConfig:
    stages = _stages(config)
    variables = config_variables(config.get("variables"))
    specs = tuple(_specs(config, jobs, variables))
    _raise_all(relation_errors(specs, stages, max_needs))
    return PipelineConfig(stages, specs, variables, _workflow(config.get("workflow")), warnings, dict(config))


def _stages(config: Mapping[str, Any]) -> tuple[str, ...]:
    named = config.get("stages") or config.get("types")
    inner = DEFAULT_STAGES if named is None else tuple(flatten(named) or ())
    return (FIRST_STAGE, *(name for name in dict.fromkeys(inner) if name not in (FIRST_STAGE, LAST_STAGE)), LAST_STAGE)


def _specs(
    config: Mapping[str, Any], jobs: Mapping[str, Any], variables: dict[str, ConfigVariable]
) -> Iterator[JobSpec]:
    """Yield the jobs with their defaults and copies."""
    defaults = {key: config[key] for key in DEFAULT_KEYWORDS if config.get(key) is not None}
    defaults |= config.get("default") or {}
    count = 0
    for name, job in jobs.items():
        for spec in job_specs(name, job, defaults, variables):
            count += 1
            if count > MAX_JOBS:
                raise ConfigError(f"The configuration has more than {MAX_JOBS} jobs")
            yield spec


def _workflow(value: Any) -> WorkflowSpec:
    if not value:
        return WorkflowSpec()
    auto_cancel = value.get("auto_cancel") or {}
    return WorkflowSpec(
        config_rules(value.get("rules")),
        value.get("name"),
        auto_cancel.get("on_new_commit"),
        auto_cancel.get("on_job_failure"),
    )


def plan_pipeline(config: PipelineConfig, context: RuleContext) -> PipelinePlan | None:
    """Choose the jobs of a pipeline; return None if ``workflow:rules`` exclude it. The plan may have no jobs."""
    scope = RuleScope(context, config.variables)
    rule = Rule()
    if config.workflow.rules is not None:
        match = scope.first_match(config.workflow.rules)
        if match is None or match.when == "never":
            return None
        rule = match
    has_workflow_rules = config.workflow.rules is not None
    planned = (_planned(spec, scope, rule.variables, has_workflow_rules) for spec in config.jobs)
    chosen = [job for job in planned if job is not None]
    if len(chosen) > MAX_PIPELINE_JOBS:
        raise ConfigError(f"The pipeline has more than {MAX_PIPELINE_JOBS} jobs")
    jobs = _with_copies(chosen)
    used = {job.spec.stage for job in jobs}
    return PipelinePlan(
        tuple(stage for stage in config.stages if stage in used),
        jobs,
        {**config.variables, **rule.variables},
        config.workflow.name,
        rule.on_new_commit or config.workflow.on_new_commit,
        rule.on_job_failure or config.workflow.on_job_failure,
    )


def _planned(
    spec: JobSpec, scope: RuleScope, workflow_variables: Mapping[str, ConfigVariable], has_workflow_rules: bool
) -> PlannedJob | None:
    variables = _with_workflow_variables(spec, workflow_variables)
    scoped = scope.with_variables(variables)
    if spec.rules is not None:
        rule = scoped.first_match(spec.rules)
        return None if rule is None else _by_rule(spec, rule, variables)
    only = spec.only
    if only is None and not has_workflow_rules:
        only = RefPolicy()
    if not scoped.is_selected(only, spec.excluded):
        return None
    return _by_rule(spec, Rule(), variables)


def _with_workflow_variables(
    spec: JobSpec, workflow_variables: Mapping[str, ConfigVariable]
) -> dict[str, ConfigVariable]:
    """Return the variables of a job; those of the workflow replace top-level ones, and the job's own replace both."""
    inherited = {name: value for name, value in workflow_variables.items() if spec.inherits_variable(name)}
    return {**spec.variables, **inherited} if inherited else spec.variables


def _by_rule(spec: JobSpec, rule: Rule, variables: dict[str, ConfigVariable]) -> PlannedJob | None:
    when = rule.when or spec.when
    if when == "never":
        return None
    failure = rule.allow_failure if rule.allow_failure is not None else spec.allow_failure
    return PlannedJob(
        spec,
        when,
        spec.when == "manual" and not spec.allow_failure_exit_codes if failure is None else failure,
        (rule.start_in or spec.start_in) if when == "delayed" else None,
        {**variables, **rule.variables} if rule.variables else variables,
        rule.needs or spec.needs,
        spec.interruptible if rule.interruptible is None else rule.interruptible,
    )


def _with_copies(jobs: Sequence[PlannedJob]) -> tuple[PlannedJob, ...]:
    """Replace needs and dependencies on a parallel job by those on its copies; check that needed jobs exist."""
    copies: dict[str, tuple[str, ...]] = {}
    for job in jobs:
        copies[job.spec.base_name] = (*copies.get(job.spec.base_name, ()), job.spec.name)
    copies |= {job.spec.name: (job.spec.name,) for job in jobs}
    expanded = tuple(_expanded(job, copies) for job in jobs)
    _raise_all(cycle_errors({job.spec.name: job.needs or () for job in expanded}, [job.spec for job in expanded]))
    return expanded


def _expanded(job: PlannedJob, copies: Mapping[str, tuple[str, ...]]) -> PlannedJob:
    needs, dependencies = job.needs, job.spec.dependencies
    if needs is not None:
        needs = tuple(each for need in needs for each in _need_copies(job, need, copies))
    if dependencies:
        names = tuple(name for each in dependencies for name in copies.get(each, ()))
        job = msgspec.structs.replace(job, spec=msgspec.structs.replace(job.spec, dependencies=names))
    return job if needs is job.needs else msgspec.structs.replace(job, needs=needs)


def _need_copies(job: PlannedJob, need: Need, copies: Mapping[str, tuple[str, ...]]) -> Iterator[Need]:
    names = copies.get(need.job, ())
    if not names and not need.optional:
        raise ConfigError(
            f"'{job.spec.name}' job needs '{need.job}' job, but '{need.job}' does not exist in the pipeline. "
            "This might be because of the only, except, or rules keywords. "
            "To need a job that sometimes does not exist in the pipeline, use needs:optional."
        )
    for name in names:
        yield Need(name, need.artifacts, need.optional)
