"""Queries of the issues that merge requests close."""

from functools import lru_cache

from sqlalchemy import bindparam, select

from ingot.collaboration.issues.lists.statements import CONDITIONS
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.tables import merge_request_closings
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import day_of
from ingot.projects.projects.tables import projects

_CLOSED = select(merge_request_closings.c.issue_id).where(
    merge_request_closings.c.merge_request_id == bindparam("merge_request")
)


@lru_cache(maxsize=256)
def _closed(visibility: str) -> ListQuery:
    matching = (
        select(*ISSUE_COLUMNS)
        .join(projects, projects.c.id == issues.c.project_id)
        .where(issues.c.id.in_(_CLOSED.scalar_subquery()), issues.c.deleted_at.is_(None), CONDITIONS[visibility])
    )
    return list_query(matching, issues.c.id, issues.c.id.asc())


def list_closed_issues(db: Connection, actor: Actor, lookup: MergeRequestLookup, page: Page) -> Listing[Issue]:
    """Return a page of the issues that a merge request closes, as far as the caller may see them.

    Only merges into the default branch close issues.
    """
    if lookup.merge_request.target_branch != lookup.project.default_branch:
        return Listing([], page, 0)
    values: dict[str, object] = {"merge_request": lookup.merge_request.id}
    visibility = "with_feature"
    if not actor.admin:
        visibility = "visible_to_external" if actor.external else "visible"
        values |= {"actor": actor.user_id, "today": day_of(db.now)}
    return fetch_page(db, Issue, _closed(visibility), page, **values)
