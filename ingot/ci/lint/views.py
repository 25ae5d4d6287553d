"""Response structs of the CI lint."""

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from ingot.ci.config.plan import JobSpec, PipelineConfig, PlannedJob
from ingot.core.api.views import View


class LintView(View):
    """Result of a validation."""

    status: Literal["valid", "invalid"]
    errors: list[str]
    warnings: list[str]


class LintedJobView(View):
    """A job of a validated configuration."""

    name: str
    stage: str
    before_script: list[str]
    script: list[str]
    after_script: list[str]
    tag_list: list[str]
    environment: str | None
    when: str
    allow_failure: bool
    needs: list[str] | None


class IncludedFileView(View):
    """A file that a configuration includes."""

    type: str
    location: str
    extra: dict[str, Any]


class ProjectLintView(View):
    """Result of a validation in the context of a project."""

    valid: bool
    errors: list[str]
    warnings: list[str]
    merged_yaml: str | None
    includes: list[IncludedFileView]
    jobs: list[LintedJobView] | UnsetType = UNSET


def linted_job_views(config: PipelineConfig) -> list[LintedJobView]:
    """Return the views of all jobs of a file."""
    return [_view(spec, spec.when, spec.allow_failure or False) for spec in config.jobs]


def planned_job_views(jobs: tuple[PlannedJob, ...]) -> list[LintedJobView]:
    """Return the views of the jobs that a pipeline would have."""
    return [_view(job.spec, job.when, job.allow_failure) for job in jobs]


def _view(spec: JobSpec, when: str, allow_failure: bool) -> LintedJobView:
    return LintedJobView(
        name=spec.name,
        stage=spec.stage,
        before_script=list(spec.before_script),
        script=list(spec.script),
        after_script=list(spec.after_script),
        tag_list=list(spec.tags),
        environment=None if spec.environment is None else spec.environment.name,
        when=when,
        allow_failure=allow_failure,
        needs=None if spec.needs is None else [need.job for need in spec.needs],
    )
