"""Response structs of the jobs of a runner."""

from collections.abc import Sequence

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.ci.job_records.tables import CiJob
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, to_datetime
from ingot.pipelines.queries import pipelines_by_ids
from ingot.pipelines.tables import Status
from ingot.pipelines.views import PipelineBrief, pipeline_brief
from ingot.projects.projects.queries import projects_by_ids
from ingot.projects.projects.views import InstanceUrls, SimpleProjectView, simple_view


class RunnerJobView(View):
    """A job in the list of a runner, which has jobs of several projects."""

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
    duration: float | None
    queued_duration: float | None
    user: UserBrief | None
    pipeline: PipelineBrief
    web_url: str
    project: SimpleProjectView


def runner_job_views(db: Connection, jobs: Sequence[CiJob], urls: InstanceUrls) -> list[RunnerJobView]:
    """Return the views of a page of jobs, with a fixed number of statements."""
    pipelines = pipelines_by_ids(db, {job.pipeline_id for job in jobs})
    projects = projects_by_ids(db, sorted({job.project_id for job in jobs}))
    users = users_by_ids(db, sorted({job.user_id for job in jobs if job.user_id is not None}))
    views = []
    for job in jobs:
        pipeline, project, user = pipelines[job.pipeline_id], projects[job.project_id], users.get(job.user_id or 0)
        project_url = f"{urls.base}/{project.full_path}"
        views.append(
            RunnerJobView(
                job.id,
                job.status,
                job.stage,
                job.name,
                pipeline.ref,
                pipeline.tag,
                job.coverage,
                job.allow_failure,
                job.created_at,
                job.started_at,
                job.finished_at,
                _seconds_between(job.started_at, job.finished_at or db.now),
                _seconds_between(job.queued_at, job.started_at),
                None if user is None else user_brief(user, urls.base),
                pipeline_brief(pipeline, project_url),
                f"{project_url}/-/jobs/{job.id}",
                simple_view(project, urls),
            )
        )
    return views


def _seconds_between(start: Timestamp | None, end: Timestamp | None) -> float | None:
    return None if start is None or end is None else (to_datetime(end) - to_datetime(start)).total_seconds()
