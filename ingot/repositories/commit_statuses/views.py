"""Response structs of statuses."""

from collections.abc import Sequence

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.pipelines.tables import Status
from ingot.repositories.commit_statuses.queries import ReportedStatus


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
