"""Response structs of statuses."""

from collections.abc import Sequence

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, to_datetime
from ingot.repositories.commits.views import CommitView
from ingot.repositories.pipelines.tables import Status
from ingot.repositories.pipelines.views import PipelineBrief
from ingot.repositories.statuses.queries import ReportedStatus


class CommitStatusView(View):
    """A reported commit status."""

    id: int
    sha: str
    ref: str
    status: Status
    name: str
    target_url: str | None
    description: str | None
    created_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
    allow_failure: bool
    coverage: float | None
    pipeline_id: int
    author: UserBrief | None


class JobView(View):
    """A status in the format of a job, for clients that read a pipeline's jobs."""

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
    user: UserBrief | None
    commit: CommitView | None
    pipeline: PipelineBrief
    web_url: str | None
    artifacts: list[str]
    runner: None


def job_views(
    db: Connection,
    statuses: Sequence[ReportedStatus],
    pipeline: PipelineBrief,
    commit: CommitView | None,
    base: str,
    *,
    tag: bool,
) -> list[JobView]:
    """Return the views of a pipeline's statuses as jobs; each links to its target URL."""
    users = users_by_ids(db, [status.user_id for status in statuses])
    return [
        JobView(
            id=status.id,
            status=status.status,
            stage=status.stage,
            name=status.name,
            ref=status.ref,
            tag=tag,
            coverage=status.coverage,
            allow_failure=status.allow_failure,
            created_at=status.created_at,
            started_at=status.started_at,
            finished_at=status.finished_at,
            duration=_seconds(status),
            user=user_brief(users[status.user_id], base) if status.user_id in users else None,
            commit=commit,
            pipeline=pipeline,
            web_url=status.target_url,
            artifacts=[],
            runner=None,
        )
        for status in statuses
    ]


def _seconds(status: ReportedStatus) -> float | None:
    if status.started_at is None or status.finished_at is None:
        return None
    return (to_datetime(status.finished_at) - to_datetime(status.started_at)).total_seconds()


def status_views(db: Connection, statuses: Sequence[ReportedStatus], base: str) -> list[CommitStatusView]:
    """Return the views of a page of statuses, with one statement for all authors."""
    authors = users_by_ids(db, [status.user_id for status in statuses])
    briefs = {number: user_brief(author, base) for number, author in authors.items()}
    return [
        CommitStatusView(
            id=status.id,
            sha=status.sha,
            ref=status.ref,
            status=status.status,
            name=status.name,
            target_url=status.target_url,
            description=status.description,
            created_at=status.created_at,
            started_at=status.started_at,
            finished_at=status.finished_at,
            allow_failure=status.allow_failure,
            coverage=status.coverage,
            pipeline_id=status.pipeline_id,
            author=briefs.get(status.user_id or 0),
        )
        for status in statuses
    ]
