"""Queries of the issues that merge requests close or mention."""

from functools import lru_cache

from sqlalchemy import CompoundSelect, Select, bindparam, select, union

from ingot.collaboration.issues.lists.statements import CONDITIONS
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.tables import merge_request_closings
from ingot.collaboration.notes.service import MENTION
from ingot.collaboration.notes.tables import notes
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.projects.projects.tables import projects

_CLOSED = select(merge_request_closings.c.issue_id).where(
    merge_request_closings.c.merge_request_id == bindparam("merge_request")
)

_RELATED = union(
    _CLOSED,
    select(notes.c.subject_id).where(
        notes.c.source_kind == "merge_request",
        notes.c.source_id == bindparam("merge_request"),
        notes.c.subject_kind == "issue",
        notes.c.action == MENTION,
    ),
)


@lru_cache(maxsize=256)
def _issue_list(chosen: Select[tuple[int]] | CompoundSelect[tuple[int]], visibility: str) -> ListQuery:
    matching = (
        select(*ISSUE_COLUMNS)
        .join(projects, projects.c.id == issues.c.project_id)
        .where(issues.c.id.in_(chosen.scalar_subquery()), issues.c.deleted_at.is_(None), CONDITIONS[visibility])
    )
    return list_query(matching, issues.c.id, issues.c.id.asc())


def list_closed_issues(db: Connection, actor: Actor, lookup: MergeRequestLookup, page: Page) -> Listing[Issue]:
    """Return a page of the issues that a merge request closes, as far as the caller may see them.

    Only merges into the default branch close issues.
    """
    if lookup.merge_request.target_branch != lookup.project.default_branch:
        return Listing([], page, 0)
    return _list_issues(db, actor, lookup, _CLOSED, page)


def list_related_issues(db: Connection, actor: Actor, lookup: MergeRequestLookup, page: Page) -> Listing[Issue]:
    """Return a page of the issues that a merge request, its commits or comments mention, as far as visible."""
    return _list_issues(db, actor, lookup, _RELATED, page)


def _list_issues(
    db: Connection,
    actor: Actor,
    lookup: MergeRequestLookup,
    chosen: Select[tuple[int]] | CompoundSelect[tuple[int]],
    page: Page,
) -> Listing[Issue]:
    values: dict[str, object] = {"merge_request": lookup.merge_request.id}
    visibility = "with_feature"
    if not actor.admin:
        visibility = "visible_to_external" if actor.external else "visible"
        values |= {"actor": actor.user_id, "today": db.today}
    return fetch_page(db, Issue, _issue_list(chosen, visibility), page, **values)
