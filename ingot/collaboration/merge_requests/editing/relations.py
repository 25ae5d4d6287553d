"""Merge requests that are related to an issue or a commit, for the ports of issues and commits."""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import bindparam, select, union

from ingot.collaboration.merge_requests import queries
from ingot.collaboration.merge_requests.list_views import merge_request_list_views
from ingot.collaboration.merge_requests.params import ListMergeRequests
from ingot.collaboration.merge_requests.policy import visible_merge_requests
from ingot.collaboration.merge_requests.tables import (
    MergeRequest,
    merge_request_closings,
    merge_request_commits,
    merge_requests,
)
from ingot.collaboration.merge_requests.views import MergeRequestView
from ingot.collaboration.notes.service import MENTION
from ingot.collaboration.notes.tables import notes
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import projects

_RELATED = union(
    select(merge_request_closings.c.merge_request_id).where(merge_request_closings.c.issue_id == bindparam("issue")),
    select(notes.c.source_id).where(
        notes.c.subject_kind == "issue",
        notes.c.subject_id == bindparam("issue"),
        notes.c.source_kind == "merge_request",
        notes.c.action == MENTION,
    ),
)
_IN_PROJECT = (merge_requests.c.target_project_id == bindparam("project")) & merge_requests.c.deleted_at.is_(None)
_RESULT_OR_HEAD = select(merge_requests.c.id).where(
    _IN_PROJECT,
    (merge_requests.c.merge_commit_oid == bindparam("oid"))
    | (merge_requests.c.squash_commit_oid == bindparam("oid"))
    | (merge_requests.c.head_oid == bindparam("oid")),
)
_INTRODUCING = union(
    _RESULT_OR_HEAD,
    select(merge_requests.c.id)
    .join(merge_request_commits, merge_request_commits.c.merge_request_id == merge_requests.c.id)
    .where(_IN_PROJECT, merge_request_commits.c.oid == bindparam("oid")),
)


_CLOSING = (
    select(merge_request_closings.c.issue_id, merge_request_closings.c.merge_request_id)
    .where(in_list(merge_request_closings.c.issue_id, "issues"))
    .distinct()
)
_EXISTING = (
    select(merge_requests.c.id)
    .join(projects, projects.c.id == merge_requests.c.target_project_id)
    .where(in_list(merge_requests.c.id, "merge_requests"), merge_requests.c.deleted_at.is_(None))
)
_VISIBLE = {external: _EXISTING.where(visible_merge_requests(external=external)) for external in (False, True)}


def count_closing_merge_requests(db: Connection, actor: Actor, issue_ids: Sequence[int]) -> dict[int, int]:
    """Count the merge requests that close issues and that the caller may see, by issue, with at most two statements."""
    closings = db.rows(_CLOSING, issues=list(issue_ids))
    if not closings or not actor.known:
        return {}
    ids = sorted({merge_request_id for _, merge_request_id in closings})
    if actor.admin:
        rows = db.rows(_EXISTING, merge_requests=ids)
    else:
        rows = db.rows(_VISIBLE[actor.external], merge_requests=ids, actor=actor.user_id, today=db.today)
    visible = {merge_request_id for (merge_request_id,) in rows}
    return Counter(issue_id for issue_id, merge_request_id in closings if merge_request_id in visible)


class RelatedMergeRequests:
    """Lists of the merge requests that are related to an issue or a commit, as far as the caller may see them."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store

    def list_closing(
        self, db: Connection, actor: Actor, issue_id: int, base: str, page: Page
    ) -> Listing[MergeRequestView]:
        """List the merge requests that close an issue when they are merged."""
        return self._views(db, queries.list_closing_merge_requests(db, actor, issue_id, page), base)

    def list_related(
        self, db: Connection, actor: Actor, issue_id: int, base: str, page: Page
    ) -> Listing[MergeRequestView]:
        """List the merge requests that mention an issue, the oldest first."""
        ids = [merge_request_id for (merge_request_id,) in db.rows(_RELATED, issue=issue_id)]
        return self._views(
            db, queries.list_merge_requests_by_ids(db, actor, ids, ListMergeRequests(sort="asc"), page), base
        )

    def list_introducing(
        self, db: Connection, actor: Actor, project_id: int, oid: str, base: str, page: Page
    ) -> Listing[MergeRequestView]:
        """List the merge requests of a project that have or had a commit in any version."""
        ids = [merge_request_id for (merge_request_id,) in db.rows(_INTRODUCING, project=project_id, oid=oid)]
        return self._views(db, queries.list_merge_requests_by_ids(db, actor, ids, ListMergeRequests(), page), base)

    def _views(self, db: Connection, listing: Listing[MergeRequest], base: str) -> Listing[MergeRequestView]:
        return listing.of(merge_request_list_views(db, self._store, listing.items, base))
