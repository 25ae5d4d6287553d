"""Approvals of merge requests."""

from collections.abc import Collection
from functools import partial

from sqlalchemy import bindparam, delete, select, text

from ingot.accounts.users.commit_addresses import commit_user_ids
from ingot.collaboration.merge_requests.approval_rules.state import approval_state
from ingot.collaboration.merge_requests.approval_rules.views import ApprovalsView, approvals_view
from ingot.collaboration.merge_requests.policy import MergeRequestLookup, may_approve
from ingot.collaboration.merge_requests.review_states import clear_review, settle_change_request
from ingot.collaboration.merge_requests.service import emit_merge_request_changed, lock_merge_request_row
from ingot.collaboration.merge_requests.tables import MergeRequest, merge_request_approvals
from ingot.core.access.actor import Actor
from ingot.core.api.routes import Call
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import NotFound, Unauthenticated
from ingot.core.offload import outside_transaction
from ingot.git.history.commits import branch_tip, read_commits
from ingot.git.history.log import commits_between
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.api import repository_store

MAX_CHECKED_COMMITS = 1000

_BY = (
    select(merge_request_approvals.c.user_id)
    .where(merge_request_approvals.c.merge_request_id == bindparam("merge_request"))
    .order_by(merge_request_approvals.c.id)
)
_BY_MERGE_REQUEST = select(merge_request_approvals.c.merge_request_id, merge_request_approvals.c.user_id).where(
    in_list(merge_request_approvals.c.merge_request_id, "merge_requests")
)
_APPROVE = text(
    "INSERT INTO merge_request_approvals (merge_request_id, user_id, created_at) "
    "VALUES (:merge_request, :user, :now) ON CONFLICT (merge_request_id, user_id) DO NOTHING"
)
_UNAPPROVE = delete(merge_request_approvals).where(
    merge_request_approvals.c.merge_request_id == bindparam("merge_request"),
    merge_request_approvals.c.user_id == bindparam("user"),
)
_RESET = delete(merge_request_approvals).where(merge_request_approvals.c.merge_request_id == bindparam("merge_request"))


def approvers_of(db: Connection, merge_request_id: int) -> list[int]:
    """Return the ids of the approvers, in the order of their approvals."""
    return [user_id for (user_id,) in db.rows(_BY, merge_request=merge_request_id)]


def approvers_by_merge_request(db: Connection, merge_request_ids: Collection[int]) -> set[tuple[int, int]]:
    """Return the approvals of merge requests as pairs of a merge request and an approver, in one statement."""
    rows = db.rows(_BY_MERGE_REQUEST, merge_requests=sorted(merge_request_ids))
    return {(merge_request_id, user_id) for merge_request_id, user_id in rows}


def approvals_as_view(call: Call, lookup: MergeRequestLookup) -> ApprovalsView:
    """Build the view of the approvals of a merge request for the caller."""
    state = approval_state(call.db, lookup.merge_request, lookup.project.options)
    may = may_approve(call.actor, lookup.access, lookup)
    may = may and not is_excluded_committer(call.db, repository_store(call.settings), call.actor, lookup)
    view = approvals_view(call.db, lookup.merge_request, state, call.actor.user_id, call.origin.base, may=may)
    view.require_password_to_approve = lookup.approval_options.require_password_to_approve
    return view


def is_excluded_committer(db: Connection, store: RepositoryStore, actor: Actor, lookup: MergeRequestLookup) -> bool:
    """Return whether the actor committed to the merge request, and the project excludes committers from approvals."""
    if not lookup.approval_options.merge_requests_disable_committers_approval:
        return False
    repository = store.open(lookup.project.repository_key)
    tip = branch_tip(repository, lookup.merge_request.target_branch)
    head = lookup.merge_request.head_oid
    listed = partial(commits_between, repository, tip, head, MAX_CHECKED_COMMITS)
    oids = outside_transaction((commits_between, tip, head), listed)
    commits = [commit for commit in read_commits(repository, oids) if len(commit.parents) < 2]
    committers = commit_user_ids(db, {commit.committer.email for commit in commits})
    return actor.user_id in committers.values()


def approve(db: Connection, actor: Actor, merge_request: MergeRequest) -> None:
    """Approve a merge request; raise ``Unauthenticated`` if it is not open, or approved by the actor already."""
    locked = lock_merge_request_row(db, merge_request)
    if locked.state != "opened":
        raise Unauthenticated  # The specification demands 401 here.
    if db.run_counted(_APPROVE, merge_request=locked.id, user=actor.user_id, now=db.now) == 0:
        raise Unauthenticated
    if locked.change_requests:
        settle_change_request(db, locked, actor.user_id)
    emit_merge_request_changed(db, actor.user_id, locked, "approved")


def unapprove(db: Connection, actor: Actor, merge_request: MergeRequest) -> None:
    """Remove the actor's approval; raise ``NotFound`` if there is none."""
    locked = lock_merge_request_row(db, merge_request)
    if db.run_counted(_UNAPPROVE, merge_request=locked.id, user=actor.user_id) == 0:
        raise NotFound
    emit_merge_request_changed(db, actor.user_id, locked, "unapproved")


def remove_approval(db: Connection, merge_request: MergeRequest, user_id: int) -> None:
    """Remove the approval of a user, if there is one."""
    db.run(_UNAPPROVE, merge_request=merge_request.id, user=user_id)


def request_review(db: Connection, actor: Actor, lookup: MergeRequestLookup, user_id: int) -> None:
    """Remove the approval of a reviewer and ask for another review; raise NotFound for other users."""
    if user_id not in lookup.reviewers:
        raise NotFound("Reviewer")
    locked = lock_merge_request_row(db, lookup.merge_request)
    remove_approval(db, locked, user_id)
    clear_review(db, locked, user_id)
    others = [each for each in lookup.reviewers if each != user_id]
    changes: dict[str, tuple[object, object]] = {"reviewers": (others, [*others, user_id])}
    emit_merge_request_changed(db, actor.user_id, locked, "updated", changes)


def reset_approvals(db: Connection, merge_request: MergeRequest) -> None:
    """Remove all approvals."""
    db.run(_RESET, merge_request=merge_request.id)
