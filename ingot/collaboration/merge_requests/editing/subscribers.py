"""What becomes of merge requests when others act, and what they tell of issues."""

from sqlalchemy import bindparam, select, union, update

from ingot.accounts.users.events import UserDeleting
from ingot.collaboration.issues.events import RelatedMergeRequestsRequested
from ingot.collaboration.issues.planning.subscribers import MilestoneUpdater
from ingot.collaboration.merge_requests.editing.service import remove_merge_request_relations
from ingot.collaboration.merge_requests.list_views import merge_request_list_views
from ingot.collaboration.merge_requests.params import ListMergeRequests
from ingot.collaboration.merge_requests.queries import list_closing_merge_requests, list_merge_requests_by_ids
from ingot.collaboration.merge_requests.tables import (
    MERGE_REQUEST_COLUMNS,
    MergeRequest,
    merge_request_closings,
    merge_request_commits,
    merge_requests,
)
from ingot.collaboration.notes.service import MENTION
from ingot.collaboration.notes.tables import notes
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.git.maintenance.store import RepositoryStore
from ingot.repositories.commits.events import MergeRequestsOfCommit

subscriptions = MilestoneUpdater(merge_requests, merge_requests.c.target_project_id).subscriptions
_OF_USER = merge_requests.c.author_id == bindparam("user")
_REASSIGN = update(merge_requests).where(_OF_USER).values(author_id=bindparam("placeholder"))
_WRITTEN = (
    select(*MERGE_REQUEST_COLUMNS)
    .where(_OF_USER, merge_requests.c.deleted_at.is_(None))
    .order_by(merge_requests.c.target_project_id, merge_requests.c.id)
)
_RELATED = union(
    select(merge_request_closings.c.merge_request_id).where(merge_request_closings.c.issue_id == bindparam("issue")),
    select(notes.c.source_id).where(
        notes.c.subject_kind == "issue",
        notes.c.subject_id == bindparam("issue"),
        notes.c.source_kind == "merge_request",
        notes.c.action == MENTION,
    ),
)
_HERE = (merge_requests.c.target_project_id == bindparam("project")) & merge_requests.c.deleted_at.is_(None)
_MADE_BY = select(merge_requests.c.id).where(
    _HERE,
    (merge_requests.c.merge_commit_oid == bindparam("oid"))
    | (merge_requests.c.squash_commit_oid == bindparam("oid"))
    | (merge_requests.c.head_oid == bindparam("oid")),
)
_BROUGHT = union(
    _MADE_BY,
    select(merge_requests.c.id)
    .join(merge_request_commits, merge_request_commits.c.merge_request_id == merge_requests.c.id)
    .where(_HERE, merge_request_commits.c.oid == bindparam("oid")),
)


@subscriptions.on(UserDeleting)
def reassign_merge_requests(db: Connection, event: UserDeleting) -> None:
    """What somebody offered stays in the name of the placeholder, or goes with them where nothing is to stay."""
    if not event.hard:
        db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
        return
    for merge_request in db.all(MergeRequest, _WRITTEN, user=event.user_id):
        remove_merge_request_relations(db, merge_request)


class RelatedMergeRequests:
    """Answers what rooms below ask of merge requests, with what is known of each in git."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store
        self.subscriptions = Subscriptions()
        self.subscriptions.on(RelatedMergeRequestsRequested)(self.fill_for_issue)
        self.subscriptions.on(MergeRequestsOfCommit)(self.fill_for_commit)

    def fill_for_issue(self, db: Connection, event: RelatedMergeRequestsRequested) -> None:
        """The merge requests that close an issue, or that mention it, as far as the caller may see them."""
        if event.how == "closing":
            found = list_closing_merge_requests(db, event.actor, event.issue_id, event.page)
        else:
            numbers = [number for (number,) in db.rows(_RELATED, issue=event.issue_id)]
            wanted = ListMergeRequests(sort="asc")
            found = list_merge_requests_by_ids(db, event.actor, numbers, wanted, event.page)
        event.found.append(found.of(self._views(db, found.items, event.base)))

    def fill_for_commit(self, db: Connection, event: MergeRequestsOfCommit) -> None:
        """The merge requests that brought a commit, with any version of theirs, as far as the caller may see them."""
        numbers = [number for (number,) in db.rows(_BROUGHT, project=event.project_id, oid=event.oid)]
        found = list_merge_requests_by_ids(db, event.actor, numbers, ListMergeRequests(), event.page)
        event.found.append(found.of(self._views(db, found.items, event.base)))

    def _views(self, db: Connection, found: list[MergeRequest], base: str) -> list[object]:
        return list(merge_request_list_views(db, self._store, found, base))
