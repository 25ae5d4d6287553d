"""Times of merged merge requests: how long they waited for the first review and for the merge."""

from typing import NamedTuple

from sqlalchemy import bindparam, func, not_, or_, select

from ingot.accounts.users.tables import users
from ingot.collaboration.merge_requests.tables import merge_requests
from ingot.collaboration.notes.tables import notes
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp

MAX_MERGE_REQUESTS = 1_000
"""Merge requests of a range, the most recently updated ones, so that the price has a limit."""

# No merge is later than the last update, by which there is an index.
_MERGED = (
    select(merge_requests.c.id, merge_requests.c.created_at, merge_requests.c.merged_at)
    .where(
        merge_requests.c.target_project_id == bindparam("project"),
        merge_requests.c.updated_at >= bindparam("since"),
        merge_requests.c.state == "merged",
        merge_requests.c.merged_at >= bindparam("since"),
        merge_requests.c.deleted_at.is_(None),
    )
    .order_by(merge_requests.c.updated_at.desc())
    .limit(MAX_MERGE_REQUESTS)
)
_FIRST_REVIEWS = (
    select(notes.c.subject_id, func.min(notes.c.created_at))
    .join(merge_requests, merge_requests.c.id == notes.c.subject_id)
    .join(users, users.c.id == notes.c.author_id)
    .where(
        notes.c.subject_kind == "merge_request",
        in_list(notes.c.subject_id, "ids"),
        or_(not_(notes.c.system), notes.c.action == "approved"),
        not_(notes.c.internal),
        notes.c.author_id != merge_requests.c.author_id,
        not_(users.c.bot),
    )
    .group_by(notes.c.subject_id)
)


class MergedTimes(NamedTuple):
    """Times of a merged merge request."""

    created_at: Timestamp
    merged_at: Timestamp
    first_review_at: Timestamp | None
    """First comment or approval by a person other than the author; None if there was none."""


def merged_times(db: Connection, project_id: int, since: str) -> list[MergedTimes]:
    """Return the times of the newest merge requests that were merged since a day, with two statements."""
    merged = db.rows(_MERGED, project=project_id, since=since)
    reviews = dict(db.rows(_FIRST_REVIEWS, ids=[row[0] for row in merged]))
    return [MergedTimes(created, at, reviews.get(request_id)) for request_id, created, at in merged]
