"""State changes of merging: the row of the merge request, pending merges, and closed issues."""

from typing import NamedTuple

from sqlalchemy import bindparam, delete, func, select

from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User
from ingot.collaboration.issues import policy as issues_policy
from ingot.collaboration.issues.auto_close import close_issue
from ingot.collaboration.issues.events import ChangeCause
from ingot.collaboration.issues.queries import assignees_of
from ingot.collaboration.merge_requests.events import MergeFailed
from ingot.collaboration.merge_requests.merge.merge_options import (
    AUTO_MERGE,
    REMOVE_LEFTOVER_BRANCH,
    MergeOptions,
    encode_merge_options,
)
from ingot.collaboration.merge_requests.merge.queries import open_issues_to_close
from ingot.collaboration.merge_requests.merge_checks import scheduled_strategy
from ingot.collaboration.merge_requests.service import (
    emit_merge_request_changed,
    lock_merge_request_row,
    write_merge_request,
)
from ingot.collaboration.merge_requests.tables import (
    MergeRequest,
    PendingMerge,
    merge_request_merges,
    merge_request_versions,
)
from ingot.collaboration.merge_requests.versions.source_tracker import enqueue_collection
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.errors import Failure, NotFound
from ingot.core.events.bus import emit
from ingot.core.jobs.queue import enqueue
from ingot.projects.projects.queries import find_project, project_or_none

_DELETE_PENDING = delete(merge_request_merges).where(
    merge_request_merges.c.merge_request_id == bindparam("merge_request")
)
_DELETE_OTHER_PENDING = _DELETE_PENDING.where(merge_request_merges.c.id != bindparam("retained"))
_versions = merge_request_versions.alias()
_DELETE_NEWER_VERSIONS = delete(merge_request_versions).where(
    merge_request_versions.c.merge_request_id == bindparam("merge_request"),
    merge_request_versions.c.id
    > select(func.max(_versions.c.id))
    .where(_versions.c.merge_request_id == bindparam("merge_request"), _versions.c.head_oid == bindparam("head"))
    .scalar_subquery(),
)
_CLEANUP_DELAY_SECONDS = 5.0
_NOT_LATER = {"merge_when_pipeline_succeeds": False, "merge_user_id": None, "merge_params": None}


class MergeOutdated(Exception):
    """The merge request has changed since the merge was prepared; the caller retries."""


class MergePlan(NamedTuple):
    """A prepared merge, whose commits exist and whose target branch has not moved yet."""

    merge_request: MergeRequest
    method: str
    target_oid: str
    new_oid: str
    merge_commit_oid: str
    """The commit of this merge; ``new_oid`` itself, unless a batch of merges moves the target."""
    squash_commit_oid: str | None
    remove_source_branch: bool
    scheduled: bool
    """Whether the merge was scheduled for the success of the pipeline, so that a user may have canceled it."""
    train_oid: str | None = None
    """The commit for which the merge train takes the new tip, which was not tested."""


def record_pending_merge(db: Connection, actor: Actor, plan: MergePlan) -> None:
    """Record a pending merge before its target branch moves.

    Raises ``MergeOutdated`` if the merge request has changed since the merge was prepared.
    """
    merge_request = plan.merge_request
    locked = lock_merge_request_row(db, merge_request)
    if (locked.state, locked.head_oid, locked.target_branch) != (
        "opened",
        merge_request.head_oid,
        merge_request.target_branch,
    ):
        raise MergeOutdated
    if plan.scheduled and not locked.merge_when_pipeline_succeeds:
        raise MergeOutdated
    db.insert_row(
        merge_request_merges,
        merge_request_id=locked.id,
        actor_id=actor.user_id,
        method=plan.method,
        source_oid=locked.head_oid,
        target_oid=plan.target_oid,
        new_oid=plan.new_oid,
        merge_commit_oid=plan.merge_commit_oid,
        squash_commit_oid=plan.squash_commit_oid,
        remove_source_branch=plan.remove_source_branch,
        train_oid=plan.train_oid,
        created_at=db.now,
    )


def mark_merged(
    db: Connection, merge_request: MergeRequest, actor_id: int | None, pending: PendingMerge | None
) -> None:
    """Mark a merge request as merged, by its own merge (``pending``) or by a push that contains its head.

    Does nothing if it is merged already. A merge request that was closed during its own merge becomes merged, because
    the branch contains it; a push does not reopen a closed one.
    """
    locked = _locked_row_or_none(db, merge_request)
    if locked is None or locked.state == "merged" or (pending is None and locked.state != "opened"):
        return
    user_id = actor_id if pending is None else pending.actor_id
    if pending is not None and pending.source_oid != locked.head_oid:
        _restore_merged_head(db, locked, pending)
    merged = write_merge_request(
        db,
        locked,
        {
            "state": "merged",
            "head_oid": pending.source_oid if pending else locked.head_oid,
            "merged_at": db.now,
            "merged_by_id": user_id,
            "merge_commit_oid": pending.merge_commit_oid if pending else None,
            "squash_commit_oid": pending.squash_commit_oid if pending else None,
            "merge_error": None,
            "merge_when_pipeline_succeeds": False,
            "closed_at": None,
            "closed_by_id": None,
        },
    )
    _delete_finished_merges(db, locked, pending)
    emit_merge_request_changed(db, user_id or locked.author_id, merged, "merged", {"state": (locked.state, "merged")})
    _close_issues(db, merged, user_id or locked.author_id)


def _delete_finished_merges(db: Connection, merge_request: MergeRequest, pending: PendingMerge | None) -> None:
    """Delete the pending merges of a merge request, except one whose source branch is still to be removed.

    The merging process removes the branch right after this transaction; a job does it after a crash.
    """
    if pending is None or not pending.remove_source_branch:
        delete_pending_merges(db, merge_request.id)
        return
    db.run(_DELETE_OTHER_PENDING, merge_request=merge_request.id, retained=pending.id)
    run_at = add_duration(db.now, seconds=_CLEANUP_DELAY_SECONDS)
    enqueue(db, REMOVE_LEFTOVER_BRANCH, merge_request.id, run_at, f"{REMOVE_LEFTOVER_BRANCH} {merge_request.id}")


def delete_pending_merges(db: Connection, merge_request_id: int) -> None:
    """Delete the pending merges of a merge request."""
    db.run(_DELETE_PENDING, merge_request=merge_request_id)


def _locked_row_or_none(db: Connection, merge_request: MergeRequest) -> MergeRequest | None:
    """Lock the row and return its record, or None if it was deleted, which must not fail the whole push."""
    try:
        return lock_merge_request_row(db, merge_request)
    except NotFound:
        return None


def _restore_merged_head(db: Connection, merge_request: MergeRequest, pending: PendingMerge) -> None:
    """Delete the versions of pushes during the merge, because only the earlier head was merged."""
    db.run(_DELETE_NEWER_VERSIONS, merge_request=merge_request.id, head=pending.source_oid)
    enqueue_collection(db, merge_request.id)


def _close_issues(db: Connection, merge_request: MergeRequest, user_id: int) -> None:
    """Close the issues of a merge request, if it was merged into the default branch and the user may close them."""
    closed = open_issues_to_close(db, merge_request)
    if not closed:
        return
    project = project_or_none(db, merge_request.target_project_id)
    user = user_or_none(db, user_id)
    if project is None or user is None or merge_request.target_branch != project.default_branch:
        return
    if not project.options.autoclose_referenced_issues:
        return
    actor = actor_for(user)
    short = f"!{merge_request.iid}"
    for issue in closed:
        try:
            access, issue_project = find_project(db, actor, issue.project_id)
        except Failure:  # Hidden from the user.
            continue
        assignees = tuple(assignees_of(db, [issue.id]).get(issue.id, ()))
        lookup = issues_policy.IssueLookup(access, issue_project, issue, assignees)
        if issues_policy.may_read_issue(actor, access, lookup):
            reference = short if issue_project.id == project.id else f"{project.full_path}{short}"
            cause = ChangeCause(f"merge request {reference}", "merge_request", project.id, merge_request.id)
            close_issue(db, actor, lookup, cause)


def actor_for(user: User) -> Actor:
    """Return an actor for a user in whose name a job acts."""
    return Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)


def schedule_auto_merge(
    db: Connection, actor: Actor, merge_request: MergeRequest, options: MergeOptions
) -> MergeRequest:
    """Schedule the merge for when the head's pipeline succeeds; the first user who scheduled it remains its user."""
    locked = lock_merge_request_row(db, merge_request)
    if locked.state != "opened" or locked.head_oid != merge_request.head_oid:
        raise MergeOutdated
    user_id = locked.merge_user_id if locked.merge_when_pipeline_succeeds and locked.merge_user_id else actor.user_id
    columns = {
        "merge_when_pipeline_succeeds": True,
        "merge_user_id": user_id,
        "merge_params": encode_merge_options(options),
    }
    written = write_merge_request(db, locked, {**columns, "merge_error": None})
    _emit_schedule_changed(db, actor.user_id, locked, written)
    return written


def await_checks(db: Connection, actor: Actor, merge_request: MergeRequest, options: MergeOptions) -> None:
    """Schedule a merge that waits for users to remove an obstacle; they may have done so since it was read."""
    enqueue_auto_merge(db, schedule_auto_merge(db, actor, merge_request, options).id)


def enqueue_auto_merge(db: Connection, merge_request_id: int) -> None:
    """Enqueue the job that performs a scheduled merge if its pipeline and checks have passed."""
    enqueue(db, AUTO_MERGE, merge_request_id, unique_key=f"{AUTO_MERGE} {merge_request_id}")


def _emit_schedule_changed(db: Connection, actor_id: int, before: MergeRequest, after: MergeRequest) -> None:
    """Emit that a merge was scheduled or canceled, or that a merge request has joined or left a train."""
    values = {
        "merge_when_pipeline_succeeds": (before.merge_when_pipeline_succeeds, after.merge_when_pipeline_succeeds),
        "merge_train": (
            scheduled_strategy(before) == "merge_train",
            scheduled_strategy(after) == "merge_train",
        ),
    }
    changes: dict[str, tuple[object, object]] = {name: pair for name, pair in values.items() if pair[0] != pair[1]}
    if changes:
        emit_merge_request_changed(db, actor_id, after, "updated", changes)


def cancel_merge(db: Connection, actor_id: int, merge_request: MergeRequest) -> None:
    """Cancel a scheduled merge; do nothing if none is scheduled, or the merge request is no longer open."""
    locked = _locked_row_or_none(db, merge_request)
    if locked is not None and locked.state == "opened" and locked.merge_when_pipeline_succeeds:
        written = write_merge_request(db, locked, dict(_NOT_LATER))
        _emit_schedule_changed(db, actor_id, locked, written)


def abort_auto_merge(db: Connection, merge_request: MergeRequest, reason: str, *, from_train: bool = False) -> None:
    """Cancel a scheduled merge that has become impossible, with an error, and emit ``MergeFailed``."""
    locked = _locked_row_or_none(db, merge_request)
    if locked is None or not locked.merge_when_pipeline_succeeds or locked.state != "opened":
        return
    user_id = locked.merge_user_id or locked.author_id
    written = write_merge_request(db, locked, {**_NOT_LATER, "merge_error": reason})
    _emit_schedule_changed(db, user_id, locked, written)
    emit(db, MergeFailed(locked.id, locked.target_project_id, locked.merge_user_id, from_train))


def record_merge_error(db: Connection, merge_request: MergeRequest, reason: str | None) -> None:
    """Store or clear the error that is shown with the merge request."""
    locked = lock_merge_request_row(db, merge_request)
    if locked.merge_error != reason:
        write_merge_request(db, locked, {"merge_error": reason})
