"""What becomes of merge requests when others act, and what they tell of issues."""

from sqlalchemy import bindparam, select, union, update

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.git.store import Store
from ingot.issues.events import MergeRequestsAsked
from ingot.issues.planning.subscribers import Planned
from ingot.merge_requests.listing import page_of_views
from ingot.merge_requests.params import ListMergeRequests
from ingot.merge_requests.queries import list_chosen, list_closing
from ingot.merge_requests.tables import (
    MERGE_REQUEST,
    MergeRequest,
    merge_request_closings,
    merge_request_commits,
    merge_requests,
)
from ingot.merge_requests.upkeep.service import forget_merge_request
from ingot.notes.service import MENTION
from ingot.notes.tables import notes
from ingot.repository.commits.events import MergeRequestsOfCommitAsked
from ingot.users.accounts.events import UserDeleting

subscriptions = Planned(merge_requests, merge_requests.c.target_project_id).subscriptions
_OF_USER = merge_requests.c.author_id == bindparam("user")
_HAND_OVER = update(merge_requests).where(_OF_USER).values(author_id=bindparam("placeholder"))
_WRITTEN = (
    select(*MERGE_REQUEST)
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
def hand_over_merge_requests(db: Connection, event: UserDeleting) -> None:
    """What somebody offered stays in the name of the placeholder, or goes with them where nothing is to stay."""
    if not event.hard:
        db.run(_HAND_OVER, user=event.user_id, placeholder=event.placeholder_id)
        return
    for merge_request in db.all(MergeRequest, _WRITTEN, user=event.user_id):
        forget_merge_request(db, merge_request)


class Answers:
    """Answers what rooms below ask of merge requests, with what is known of each in git."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.subscriptions = Subscriptions()
        self.subscriptions.on(MergeRequestsAsked)(self.tell_of_issue)
        self.subscriptions.on(MergeRequestsOfCommitAsked)(self.tell_of_commit)

    def tell_of_issue(self, db: Connection, event: MergeRequestsAsked) -> None:
        """The merge requests that close an issue, or that mention it, as far as the caller may see them."""
        if event.how == "closing":
            found = list_closing(db, event.actor, event.issue_id, event.page)
        else:
            numbers = [number for (number,) in db.rows(_RELATED, issue=event.issue_id)]
            wanted = ListMergeRequests(sort="asc")
            found = list_chosen(db, event.actor, numbers, wanted, event.page)
        event.found.append(found.of(self._views(db, found.items, event.base)))

    def tell_of_commit(self, db: Connection, event: MergeRequestsOfCommitAsked) -> None:
        """The merge requests that brought a commit, with any version of theirs, as far as the caller may see them."""
        numbers = [number for (number,) in db.rows(_BROUGHT, project=event.project_id, oid=event.oid)]
        found = list_chosen(db, event.actor, numbers, ListMergeRequests(), event.page)
        event.found.append(found.of(self._views(db, found.items, event.base)))

    def _views(self, db: Connection, found: list[MergeRequest], base: str) -> list[object]:
        return list(page_of_views(db, self._store, found, base))
