"""State changes of merge requests."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET
from sqlalchemy import Table, bindparam, delete, select, text

from ingot.collaboration.iids.service import next_iid
from ingot.collaboration.labels.service import set_labels, update_label_link_state
from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.events import Action, MergeRequestChanged
from ingot.collaboration.merge_requests.params import CreateMergeRequest, MergeRequestAttributes
from ingot.collaboration.merge_requests.queries import (
    assignees_of,
    merge_request_by_id,
    open_duplicate_or_none,
    reviewers_of,
)
from ingot.collaboration.merge_requests.tables import (
    MERGE_REQUEST_COLUMNS,
    MergeRequest,
    merge_request_assignees,
    merge_request_reviewers,
    merge_requests,
)
from ingot.collaboration.planning.descriptions import description_columns
from ingot.collaboration.planning.service import (
    assignable_users,
    ensure_labels,
    find_milestone_id,
    requested_assignees,
    validate_texts,
)
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, NotFound
from ingot.core.events.bus import emit
from ingot.projects.projects.tables import Project

MAX_ASSIGNEES = 100
# The row is locked until the transaction ends.
_FOR_UPDATE = select(*MERGE_REQUEST_COLUMNS).where(merge_requests.c.id == bindparam("merge_request")).with_for_update()
_COUNT = text(
    "INSERT INTO merge_request_counts (project_id, state, count) VALUES (:project, :state, :by) "
    "ON CONFLICT (project_id, state) DO UPDATE SET count = merge_request_counts.count + excluded.count"
)
_COUNT_CHANGE_REQUESTS = text(
    "UPDATE merge_requests SET change_requests = (SELECT count(*) FROM merge_request_reviewers "
    "WHERE merge_request_id = :merge_request AND state = 'requested_changes') WHERE id = :merge_request"
)
_REMOVE_USER = {
    table.name: delete(table).where(
        table.c.merge_request_id == bindparam("merge_request"), table.c.user_id == bindparam("user")
    )
    for table in (merge_request_assignees, merge_request_reviewers)
}


def subject_of(merge_request: MergeRequest) -> Subject:
    """Return the merge request as a subject, for packages that serve several kinds."""
    return Subject(
        "merge_request",
        merge_request.target_project_id,
        merge_request.id,
        merge_request.iid,
        author_id=merge_request.author_id,
        title=merge_request.title,
        state=merge_request.state,
    )


def create_merge_request(
    db: Connection,
    actor: Actor,
    target_access: Access,
    source: Project,
    target: Project,
    params: CreateMergeRequest,
    head_oid: str,
) -> MergeRequest:
    """Create a merge request.

    Ignores assignees, reviewers, labels and milestone when the caller may not set them in the target.
    """
    validate_texts(params.title, params.description)
    require_no_open_duplicate(db, source.id, params.source_branch, target.id, params.target_branch)
    may_triage = policy.may_triage(actor, target_access, target)
    merge_request = _add(
        db,
        iid=next_iid(db, "project", target.id, "merge_request"),
        target_project_id=target.id,
        source_project_id=source.id,
        source_branch=params.source_branch,
        target_branch=params.target_branch,
        author_id=actor.user_id,
        title=params.title.strip(),
        description=params.description or None,
        milestone_id=find_milestone_id(db, target, params.milestone_id) if may_triage else None,
        squash=_squash(target, params),
        remove_source_branch=bool(params.remove_source_branch),
        head_oid=head_oid,
    )
    if may_triage:
        _set_users(db, target, merge_request, merge_request_assignees, (), requested_assignees(params) or [])
        _set_users(db, target, merge_request, merge_request_reviewers, (), reviewer_ids(params) or [])
        if params.labels:
            set_labels(db, subject_of(merge_request), ensure_labels(db, target, params.labels))
    emit_merge_request_changed(db, actor.user_id, merge_request, "opened")
    return merge_request


def require_no_open_duplicate(
    db: Connection, source_id: int, source_branch: str, target_id: int, target_branch: str
) -> None:
    """Raise ``Conflict`` if a merge request between the same branches is open."""
    duplicate = open_duplicate_or_none(db, source_id, source_branch, target_id, target_branch)
    if duplicate is not None:
        raise Conflict(f"Another open merge request already exists for this source branch: !{duplicate.iid}")


def _squash(target: Project, params: MergeRequestAttributes) -> bool:
    if target.squash_option in ("always", "never"):
        return target.squash_option == "always"
    if params.squash is UNSET or params.squash is None:
        return target.squash_option == "default_on"
    return params.squash


def _add(db: Connection, **columns: Any) -> MergeRequest:
    row = {
        "state": "opened",
        "merge_when_pipeline_succeeds": False,
        "user_notes_count": 0,
        "upvotes": 0,
        "downvotes": 0,
        "time_estimate": 0,
        "total_time_spent": 0,
        "discussion_locked": False,
        "created_at": db.now,
        "updated_at": db.now,
        "title_key": columns["title"].casefold(),
        **description_columns(columns["description"]),
        **columns,
    }
    merge_request = merge_request_by_id(db, db.insert(merge_requests, **row))
    update_counts(db, None, merge_request)
    return merge_request


def lock_merge_request_row(db: Connection, merge_request: MergeRequest) -> MergeRequest:
    """Lock the row until the end of the transaction and return its current record; raise ``NotFound``."""
    locked = db.first(MergeRequest, _FOR_UPDATE, merge_request=merge_request.id)
    if locked is None or locked.deleted_at is not None:
        raise NotFound("Merge Request")
    return locked


def write_merge_request(db: Connection, merge_request: MergeRequest, columns: dict[str, Any]) -> MergeRequest:
    """Set columns of a locked merge request, with the search keys, counts and label links that depend on them.

    Returns the new record.
    """
    if "title" in columns:
        columns["title_key"] = columns["title"].casefold()
    if "description" in columns:
        columns |= description_columns(columns["description"])
    db.update(merge_requests, merge_request.id, **{"updated_at": db.now, **columns})
    written = merge_request_by_id(db, merge_request.id)
    if "state" in columns:
        update_counts(db, merge_request, written)
        update_label_link_state(db, subject_of(written))
    return written


def reviewer_ids(params: MergeRequestAttributes) -> list[int] | None:
    """Return the ids of the requested reviewers, or None if the request does not change them; the id 0 means none."""
    if params.reviewer_ids is UNSET:
        return None
    return [] if params.reviewer_ids in (None, [0]) else params.reviewer_ids


def set_assignees(db: Connection, project: Project, merge_request: MergeRequest, requested: Sequence[int]) -> list[int]:
    """Assign the users who may see the project.

    Other users are ignored instead of refused, so that a request does not reveal which users exist.
    """
    before = assignees_of(db, [merge_request.id]).get(merge_request.id, [])
    return _set_users(db, project, merge_request, merge_request_assignees, before, requested)


def set_reviewers(db: Connection, project: Project, merge_request: MergeRequest, requested: Sequence[int]) -> list[int]:
    """Set the reviewers among the users who may see the project; other users are ignored."""
    before = reviewers_of(db, [merge_request.id]).get(merge_request.id, [])
    after = _set_users(db, project, merge_request, merge_request_reviewers, before, requested)
    if merge_request.change_requests and set(before) - set(after):
        count_change_requests(db, merge_request.id)
    return after


def count_change_requests(db: Connection, merge_request_id: int) -> None:
    """Store the number of reviewers who have requested changes."""
    db.run(_COUNT_CHANGE_REQUESTS, merge_request=merge_request_id)


def _set_users(
    db: Connection,
    project: Project,
    merge_request: MergeRequest,
    table: Table,
    before: Sequence[int],
    requested: Sequence[int],
) -> list[int]:
    after = assignable_users(db, project, requested[:MAX_ASSIGNEES])
    if requested and not after:
        return list(before)
    for user_id in before:
        if user_id not in after:
            db.run(_REMOVE_USER[table.name], merge_request=merge_request.id, user=user_id)
    for user_id in after:
        if user_id not in before:
            db.insert_row(table, merge_request_id=merge_request.id, user_id=user_id)
    return after


def update_counts(db: Connection, before: MergeRequest | None, after: MergeRequest | None) -> None:
    """Update the counts by state."""
    changes: dict[tuple[int, str], int] = {}
    for merge_request, by in ((before, -1), (after, 1)):
        if merge_request is not None:
            key = merge_request.target_project_id, merge_request.state
            changes[key] = changes.get(key, 0) + by
    add_to_merge_request_counts(db, changes)


def add_to_merge_request_counts(db: Connection, changes: Mapping[tuple[int, str], int]) -> None:
    """Add to the counts by project and state."""
    # A fixed order prevents deadlocks between transactions that close one merge request and reopen another.
    for (project_id, state), by in sorted(changes.items()):
        if by:
            db.run(_COUNT, project=project_id, state=state, by=by)


def emit_merge_request_changed(
    db: Connection,
    actor_id: int,
    merge_request: MergeRequest,
    action: Action,
    changes: dict[str, tuple[object, object]] | None = None,
) -> None:
    """Emit ``MergeRequestChanged``."""
    emit(
        db,
        MergeRequestChanged(merge_request.id, merge_request.target_project_id, actor_id, action, changes or {}),
    )
