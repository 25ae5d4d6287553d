"""State changes of existing merge requests: editing, closing, reopening and deletion."""

from typing import Any

from msgspec import UNSET
from sqlalchemy import bindparam, delete

from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.merge_requests import policy, service
from ingot.collaboration.merge_requests.events import Action
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.merge_checks import scheduled_strategy
from ingot.collaboration.merge_requests.params import EditMergeRequest
from ingot.collaboration.merge_requests.queries import assignees_of, reviewers_of
from ingot.collaboration.merge_requests.service import (
    emit_merge_request_changed,
    lock_merge_request_row,
    subject_of,
    write_merge_request,
)
from ingot.collaboration.merge_requests.tables import (
    MergeRequest,
    merge_request_approvals,
    merge_request_assignees,
    merge_request_closings,
    merge_request_reviewers,
    merge_requests,
)
from ingot.collaboration.merge_requests.versions.inspection import VersionComparison
from ingot.collaboration.merge_requests.versions.service import add_version
from ingot.collaboration.merge_requests.versions.source_tracker import enqueue_collection
from ingot.collaboration.planning.service import (
    drop_subject,
    find_milestone_id,
    replace_labels,
    requested_assignees,
    validate_texts,
)
from ingot.collaboration.planning.time_tracking import TimeTracking
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.projects.projects.tables import Project

Changes = dict[str, tuple[object, object]]

# The row of a deleted merge request remains, so no cascade applies.
_DELETE_PARTS = [
    delete(table).where(table.c.merge_request_id == bindparam("merge_request"))
    for table in (
        merge_request_approvals,
        merge_request_assignees,
        merge_request_closings,
        merge_request_reviewers,
    )
]


def edit_merge_request(
    db: Connection,
    actor: Actor,
    lookup: policy.MergeRequestLookup,
    params: EditMergeRequest,
    comparison: VersionComparison | None,
) -> MergeRequest:
    """Apply the changes and emit an event.

    Ignores attributes that only developers may set when the caller is not one. ``comparison`` is the result of git for
    the edited merge request, if it changes what is compared; without it a job runs the comparison.
    """
    project, before = lookup.project, lock_merge_request_row(db, lookup.merge_request)
    may_triage = policy.may_triage(actor, lookup.access, project)
    columns = _columns(db, project, before, params, may_triage=may_triage)
    changes: Changes = {name: (getattr(before, name), value) for name, value in columns.items()}
    if may_triage:
        changes |= _change_labels(db, project, before, params) | _change_users(db, project, before, params)
    action = _state_action(before, params)
    if action is not None:
        columns |= _state_columns(db, actor, action)
        changes["state"] = (before.state, columns["state"])
        if scheduled_strategy(before) == "merge_train":
            changes["merge_train"] = (True, False)
    if comparison is not None and ("target_branch" in columns or action == "reopened"):
        columns |= _new_version(db, actor, before, comparison)
    elif "target_branch" in columns:
        add_version(db, before.id, actor.user_id, before.head_oid)
        enqueue_collection(db, before.id)
    _require_no_open_duplicate(db, before, columns, action)
    if not changes:
        return before
    edited = write_merge_request(db, before, columns)
    emit_merge_request_changed(db, actor.user_id, edited, action or "updated", changes)
    return edited


def _require_no_open_duplicate(
    db: Connection, before: MergeRequest, columns: dict[str, Any], action: Action | None
) -> None:
    """Raise ``Conflict`` if the merge request would become the second open one between the same branches."""
    stays_open = columns.get("state", before.state) == "opened"
    if stays_open and before.source_project_id is not None and ("target_branch" in columns or action == "reopened"):
        branch = columns.get("target_branch", before.target_branch)
        service.require_no_open_duplicate(
            db, before.source_project_id, before.source_branch, before.target_project_id, branch
        )


def _new_version(db: Connection, actor: Actor, before: MergeRequest, comparison: VersionComparison) -> dict[str, Any]:
    """Add a version for a new target branch or a new head; return the changed columns."""
    add_version(db, before.id, actor.user_id, comparison)
    enqueue_collection(db, before.id)
    return {"head_oid": comparison.head_oid}


def _columns(
    db: Connection, project: Project, before: MergeRequest, params: EditMergeRequest, *, may_triage: bool
) -> dict[str, Any]:
    """Return the columns that change, with their new values."""
    columns: dict[str, Any] = {}
    if params.title not in (UNSET, None):
        validate_texts(params.title, None)
        columns["title"] = params.title.strip()
    if params.description is not UNSET:
        validate_texts(None, params.description)
        columns["description"] = params.description or None
    if params.target_branch not in (UNSET, None) and before.state == "opened":
        columns["target_branch"] = params.target_branch
    for name in ("remove_source_branch", "squash"):
        if getattr(params, name) not in (UNSET, None):
            columns[name] = getattr(params, name)
    if project.squash_option in ("always", "never"):
        columns.pop("squash", None)
    if may_triage:
        if params.milestone_id is not UNSET:
            columns["milestone_id"] = find_milestone_id(db, project, params.milestone_id)
        if params.discussion_locked not in (UNSET, None):
            columns["discussion_locked"] = params.discussion_locked
    return {name: value for name, value in columns.items() if value != getattr(before, name)}


def _state_action(before: MergeRequest, params: EditMergeRequest) -> Action | None:
    if params.state_event == "close" and before.state == "opened":
        return "closed"
    return "reopened" if params.state_event == "reopen" and before.state == "closed" else None


def _state_columns(db: Connection, actor: Actor, action: Action) -> dict[str, Any]:
    if action == "closed":
        # A closed merge request must not be merged by its schedule.
        unscheduled = {"merge_when_pipeline_succeeds": False, "merge_user_id": None, "merge_params": None}
        return {"state": "closed", "closed_at": db.now, "closed_by_id": actor.user_id, **unscheduled}
    return {"state": "opened", "closed_at": None, "closed_by_id": None}


def _change_labels(db: Connection, project: Project, locked: MergeRequest, params: EditMergeRequest) -> Changes:
    if params.labels is UNSET and not params.add_labels and not params.remove_labels:
        return {}
    before = labels_of(db, KIND, [locked.id]).get(locked.id, [])
    titles = [label.title for label in before] if params.labels is UNSET else params.labels or []
    titles = [title for title in titles if title not in (params.remove_labels or ())] + (params.add_labels or [])
    return replace_labels(db, project, subject_of(locked), before, titles)


def _change_users(db: Connection, project: Project, locked: MergeRequest, params: EditMergeRequest) -> Changes:
    changes: Changes = {}
    assignees, reviewers = requested_assignees(params), service.reviewer_ids(params)
    if assignees is not None:
        before = assignees_of(db, [locked.id]).get(locked.id, [])
        changes["assignees"] = before, service.set_assignees(db, project, locked, assignees)
    if reviewers is not None:
        before = reviewers_of(db, [locked.id]).get(locked.id, [])
        changes["reviewers"] = before, service.set_reviewers(db, project, locked, reviewers)
    return {name: (before, after) for name, (before, after) in changes.items() if before != after}


def delete_merge_request(db: Connection, actor: Actor, merge_request: MergeRequest) -> None:
    """Mark a merge request as deleted and remove its relations; its iid is never reused."""
    locked = lock_merge_request_row(db, merge_request)
    remove_merge_request_relations(db, locked)
    db.update(merge_requests, locked.id, deleted_at=db.now)
    enqueue_collection(db, locked.id)
    emit_merge_request_changed(db, actor.user_id, locked, "deleted")


def remove_merge_request_relations(db: Connection, merge_request: MergeRequest) -> None:
    """Remove a merge request from the counts, and delete everything that belongs to it except its row."""
    service.update_counts(db, merge_request, None)
    for statement in _DELETE_PARTS:
        db.run(statement, merge_request=merge_request.id)
    drop_subject(db, subject_of(merge_request))


def _write_time(db: Connection, actor: Actor, locked: MergeRequest, column: str, seconds: int) -> MergeRequest:
    written = write_merge_request(db, locked, {column: seconds})
    emit_merge_request_changed(db, actor.user_id, written, "updated", {column: (getattr(locked, column), seconds)})
    return written


TIME_TRACKING = TimeTracking(lock_merge_request_row, _write_time, subject_of)
