"""Summaries of pipelines for lists and graphs: users, durations and stages, with two statements for a whole page."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from sqlalchemy import bindparam, false, func, select

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.ci.job_records.tables import ci_jobs
from ingot.ci.pipelines.tables import pipeline_contexts
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp
from ingot.pipelines.outcome import Kind, status_kind, status_of_kinds
from ingot.pipelines.queries import pipelines_by_ids
from ingot.pipelines.tables import Pipeline, Status, commit_statuses

_AFTER_ALL_STAGES = 1_000_000
"""Position of external statuses, which belong to no stage of a configuration."""
_JOBS = (
    select(
        commit_statuses.c.pipeline_id,
        commit_statuses.c.id,
        commit_statuses.c.name,
        commit_statuses.c.stage,
        commit_statuses.c.status,
        commit_statuses.c.allow_failure,
        ci_jobs.c.id.is_not(None),
        ci_jobs.c.needs,
        commit_statuses.c.target_url,
        func.coalesce(ci_jobs.c.bridge, false()),
        commit_statuses.c.description,
    )
    .select_from(commit_statuses.outerjoin(ci_jobs, ci_jobs.c.id == commit_statuses.c.id))
    .where(in_list(commit_statuses.c.pipeline_id, "pipelines"), ~commit_statuses.c.retried)
    .order_by(
        commit_statuses.c.pipeline_id,
        func.coalesce(ci_jobs.c.stage_index, _AFTER_ALL_STAGES),
        commit_statuses.c.id,
    )
)


_WARNINGS = select(pipeline_contexts.c.warnings).where(pipeline_contexts.c.pipeline_id == bindparam("pipeline"))


class JobSummary(NamedTuple):
    """A job of a stage, or an external status."""

    id: int
    name: str
    status: Status
    allow_failure: bool
    is_job: bool
    needs: tuple[str, ...] | None
    """Names of the jobs that it needs; None if it waits for the stages before it."""
    target_url: str | None
    is_bridge: bool
    """Whether it starts another pipeline."""
    description: str | None
    """Text of an external status, or the reason for which no pipeline was started."""

    @property
    def kind(self) -> Kind:
        """Return the status to show; an allowed failure is a warning."""
        kind = status_kind(self.status, allow_failure=self.allow_failure)
        return self.status if kind == "ignored" else kind


class StageSummary(NamedTuple):
    """A stage of a pipeline with its jobs."""

    name: str
    jobs: list[JobSummary]

    @property
    def status(self) -> Kind:
        """Return the common status of the jobs; a success with allowed failures is a warning."""
        kinds = {status_kind(job.status, allow_failure=job.allow_failure) for job in self.jobs}
        status = status_of_kinds(kinds)
        return "warning" if status == "success" and "warning" in kinds else status


class PipelineSummary(NamedTuple):
    """A pipeline with its user and stages."""

    pipeline: Pipeline
    user: UserBrief | None
    stages: list[StageSummary]

    @property
    def status(self) -> Kind:
        """Return the status to show; a success with allowed failures is a warning."""
        warned = any(stage.status == "warning" for stage in self.stages)
        return "warning" if warned and self.pipeline.status == "success" else self.pipeline.status

    def jobs_with_status(self, status: Status) -> list[JobSummary]:
        """Return the jobs with a status in the order of their stages."""
        return [job for stage in self.stages for job in stage.jobs if job.status == status]

    @property
    def finished_at(self) -> Timestamp | None:
        """Return the time at which the last job ended."""
        return self.pipeline.finished_at


def pipeline_summaries(db: Connection, pipeline_ids: Iterable[int], base: str) -> dict[int, PipelineSummary]:
    """Return the summaries of pipelines by id."""
    found = pipelines_by_ids(db, pipeline_ids)
    users = user_briefs_by_ids(db, [pipeline.user_id for pipeline in found.values()], base)
    stages = _stages(db, list(found))
    return {
        pipeline.id: PipelineSummary(pipeline, users.get(pipeline.user_id or 0), stages.get(pipeline.id, []))
        for pipeline in found.values()
    }


def _stages(db: Connection, pipeline_ids: list[int]) -> dict[int, list[StageSummary]]:
    """Return the stages of pipelines in their order."""
    stages: dict[int, dict[str, StageSummary]] = {}
    for row in db.rows(_JOBS, pipelines=pipeline_ids) if pipeline_ids else ():
        pipeline_id, job_id, name, stage, status, allow_failure, is_job, needs, target_url, is_bridge, description = row
        names = None if needs is None else msgspec.json.decode(needs, type=tuple[str, ...])
        job = JobSummary(
            job_id, name, status, bool(allow_failure), bool(is_job), names, target_url, bool(is_bridge), description
        )
        stages.setdefault(pipeline_id, {}).setdefault(stage, StageSummary(stage, [])).jobs.append(job)
    return {pipeline_id: list(by_name.values()) for pipeline_id, by_name in stages.items()}


def warnings_of_pipeline(db: Connection, pipeline_id: int) -> list[str]:
    """Return the warnings about the configuration of a pipeline."""
    stored = db.value(_WARNINGS, pipeline=pipeline_id)
    return [] if stored is None else msgspec.json.decode(stored, type=list[str])
