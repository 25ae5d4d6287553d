"""Response structs of jobs."""

from collections.abc import Iterable, Sequence

from msgspec import UNSET, UnsetType
from sqlalchemy import select

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserView, user_view
from ingot.ci.job_records.ports import ArtifactSummary, JobArtifacts
from ingot.ci.job_records.queries import tags_of
from ingot.ci.job_records.tables import CiJob, FailureReason
from ingot.ci.runners.tables import Runner, runners
from ingot.ci.runners.views import RunnerView, runner_view
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp, to_datetime
from ingot.git.core.repository import Repository
from ingot.git.history.commits import commit_or_none
from ingot.pipelines.queries import pipelines_by_ids
from ingot.pipelines.tables import CommitStatus, Pipeline, Status
from ingot.pipelines.views import PipelineBrief, pipeline_brief
from ingot.repositories.commits.views import CommitView, commit_view

_RUNNERS = select(runners).where(in_list(runners.c.id, "ids"))


class JobArtifactFile(View):
    """Archive of a job."""

    filename: str
    size: int


class JobArtifactView(View):
    """File that a job uploaded."""

    file_type: str
    size: int
    filename: str
    file_format: str | None


class JobProjectView(View):
    """Settings of the project of a job."""

    ci_job_token_scope_enabled: bool


class JobBase(View):
    """Fields of a job, of a bridge and of an external status in the format of a job."""

    id: int
    status: Status
    stage: str
    name: str
    ref: str
    tag: bool
    coverage: float | None
    allow_failure: bool
    created_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
    erased_at: Timestamp | None
    duration: float | None
    queued_duration: float | None
    user: UserView | None
    commit: CommitView | None
    pipeline: PipelineBrief
    web_url: str | None
    project: JobProjectView


class JobView(JobBase):
    """A job, or an external status in the format of a job."""

    artifacts: list[JobArtifactView]
    runner: RunnerView | None
    runner_manager: None
    artifacts_expire_at: Timestamp | None
    archived: bool
    tag_list: list[str]
    failure_reason: FailureReason | UnsetType | None = UNSET
    artifacts_file: JobArtifactFile | UnsetType = UNSET


class JobPlace:
    """Project of the jobs in a response: its URL, and its repository if the caller may read the code."""

    def __init__(
        self, project_url: str, base: str, repository: Repository | None, *, job_token_scope: bool = True
    ) -> None:
        self.project_url = project_url
        self.base = base
        self._repository = repository
        self.project = JobProjectView(job_token_scope)
        self._commits: dict[str, CommitView | None] = {}

    def commit(self, sha: str) -> CommitView | None:
        """Return the view of a commit; None if it is missing or the caller may not see it."""
        if sha not in self._commits:
            commit = None if self._repository is None else commit_or_none(self._repository, sha)
            self._commits[sha] = None if commit is None else commit_view(commit, self.project_url)
        return self._commits[sha]


def job_views(db: Connection, jobs: Sequence[CiJob], place: JobPlace) -> list[JobView]:
    """Return the views of a project's jobs, with a fixed number of statements."""
    pipelines = pipelines_by_ids(db, (job.pipeline_id for job in jobs))
    users = _user_views(db, (job.user_id for job in jobs), place.base)
    runner_ids = {job.runner_id for job in jobs if job.runner_id is not None}
    used_runners = db.all(Runner, _RUNNERS, ids=sorted(runner_ids)) if runner_ids else []
    runner_views = {runner.id: runner_view(runner, db.now) for runner in used_runners}
    ids = [job.id for job in jobs]
    artifacts = db.ports[JobArtifacts].list_for_jobs(db, ids) if ids else {}
    return [
        _job_view(
            db,
            job,
            pipelines[job.pipeline_id],
            place,
            users.get(job.user_id or 0),
            runner_views.get(job.runner_id or 0),
            artifacts.get(job.id, []),
        )
        for job in jobs
    ]


def job_view(db: Connection, job: CiJob, place: JobPlace) -> JobView:
    """Return the view of a job."""
    return job_views(db, [job], place)[0]


def _job_view(
    db: Connection,
    job: CiJob,
    pipeline: Pipeline,
    place: JobPlace,
    user: UserView | None,
    runner: RunnerView | None,
    artifacts: Sequence[ArtifactSummary],
) -> JobView:
    archive = next((each for each in artifacts if each.file_type == "archive"), None)
    return JobView(
        id=job.id,
        status=job.status,
        stage=job.stage,
        name=job.name,
        ref=pipeline.ref,
        tag=pipeline.tag,
        coverage=job.coverage,
        allow_failure=job.allow_failure,
        created_at=job.created_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        erased_at=job.erased_at,
        duration=_seconds(job.started_at, job.finished_at or db.now),
        queued_duration=_seconds(job.queued_at, job.started_at or (db.now if job.status == "pending" else None)),
        user=user,
        commit=place.commit(pipeline.sha),
        pipeline=pipeline_brief(pipeline, place.project_url),
        web_url=f"{place.project_url}/-/jobs/{job.id}",
        project=place.project,
        artifacts=[JobArtifactView(each.file_type, each.size, each.filename, each.file_format) for each in artifacts],
        runner=runner,
        runner_manager=None,
        artifacts_expire_at=archive.expire_at if archive else None,
        archived=False,
        tag_list=tags_of(job),
        failure_reason=job.failure_reason or UNSET,
        artifacts_file=JobArtifactFile(archive.filename, archive.size) if archive else UNSET,
    )


def external_job_views(
    db: Connection, statuses: Sequence[CommitStatus], pipeline: Pipeline, place: JobPlace
) -> list[JobView]:
    """Return external statuses of a pipeline in the format of jobs; each links to its target URL."""
    users = _user_views(db, (status.user_id for status in statuses), place.base)
    return [
        JobView(
            id=status.id,
            status=status.status,
            stage=status.stage,
            name=status.name,
            ref=pipeline.ref,
            tag=pipeline.tag,
            coverage=status.coverage,
            allow_failure=status.allow_failure,
            created_at=status.created_at,
            started_at=status.started_at,
            finished_at=status.finished_at,
            erased_at=None,
            duration=_seconds(status.started_at, status.finished_at),
            queued_duration=None,
            user=users.get(status.user_id or 0),
            commit=place.commit(pipeline.sha),
            pipeline=pipeline_brief(pipeline, place.project_url),
            web_url=status.target_url,
            project=place.project,
            artifacts=[],
            runner=None,
            runner_manager=None,
            artifacts_expire_at=None,
            archived=False,
            tag_list=[],
        )
        for status in statuses
    ]


def _user_views(db: Connection, user_ids: Iterable[int | None], base: str) -> dict[int, UserView]:
    return {user_id: user_view(user, base) for user_id, user in users_by_ids(db, user_ids).items()}


def _seconds(start: Timestamp | None, end: Timestamp | None) -> float | None:
    if start is None or end is None:
        return None
    return (to_datetime(end) - to_datetime(start)).total_seconds()
