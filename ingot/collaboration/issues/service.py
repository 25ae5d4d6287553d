"""State changes of issues."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace
from sqlalchemy import bindparam, delete, select, text

from ingot.collaboration.iids.service import next_iid
from ingot.collaboration.issues import policy
from ingot.collaboration.issues.events import Action, ChangeCause, FollowUpIssueOpened, IssueChanged
from ingot.collaboration.issues.hierarchy import (
    find_parent,
    parents_of,
    remove_from_hierarchy,
    require_convertible,
    set_parent,
)
from ingot.collaboration.issues.params import CreateIssue, EditIssue
from ingot.collaboration.issues.ports import IssueMergeRequests
from ingot.collaboration.issues.queries import assignees_of, issue_by_id
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issue_assignees, issue_origins, issues
from ingot.collaboration.issues.timeline.policy import INCIDENT
from ingot.collaboration.issues.timeline.tables import timeline_events
from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.labels.service import set_labels, update_label_link_state
from ingot.collaboration.labels.tables import Label
from ingot.collaboration.planning.descriptions import description_columns
from ingot.collaboration.planning.service import (
    assignable_users,
    drop_subject,
    ensure_labels,
    find_milestone_id,
    replace_labels,
    requested_assignees,
    validate_texts,
)
from ingot.collaboration.planning.time_tracking import TimeTracking
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Invalid, NotFound
from ingot.core.events.bus import emit
from ingot.projects.projects.service import add_to_open_issues_count
from ingot.projects.projects.tables import Project

MAX_ASSIGNEES = 1
"""The specification accepts a list of assignees but uses only the first."""
# The row is locked until the transaction ends.
_FOR_UPDATE = select(*ISSUE_COLUMNS).where(issues.c.id == bindparam("issue")).with_for_update()
# The row of a deleted issue remains, so no cascade applies.
_DELETE_PARTS = [
    delete(table).where(table.c.issue_id == bindparam("issue"))
    for table in (issue_assignees, issue_origins, timeline_events)
]
_UNASSIGN = delete(issue_assignees).where(
    issue_assignees.c.issue_id == bindparam("issue"), issue_assignees.c.user_id == bindparam("user")
)
_COUNT = text(
    "INSERT INTO issue_counts (project_id, state, confidential, count) VALUES (:project, :state, :confidential, :by) "
    "ON CONFLICT (project_id, state, confidential) DO UPDATE SET count = issue_counts.count + excluded.count"
)


def subject_of(issue: Issue) -> Subject:
    """Return the issue as a subject, for packages that serve several kinds."""
    return Subject(
        "issue",
        issue.project_id,
        issue.id,
        issue.iid,
        author_id=issue.author_id,
        title=issue.title,
        confidential=issue.confidential,
        state=issue.state,
    )


def create_issue(
    db: Connection, actor: Actor, access: Access, project: Project, params: CreateIssue, user_agent: str, ip: str
) -> Issue:
    """Create an issue.

    Ignores assignees, labels, milestone and due date when the caller may not set them.
    """
    validate_texts(params.title, params.description)
    may_triage = policy.may_triage(actor, access, project)
    default = _default_description(db, actor, project, params)
    created = params.created_at if params.created_at and policy.may_set_times(actor, access, project) else db.now
    issue = add_issue(
        db,
        project,
        title=params.title.strip(),
        description=params.description or default,
        author_id=actor.user_id,
        confidential=bool(params.confidential),
        due_date=(params.due_date or None) if may_triage else None,
        milestone_id=find_milestone_id(db, project, params.milestone_id) if may_triage else None,
        created_at=created,
        updated_at=created,
        issue_type=params.issue_type or "issue",
        severity=_severity(params, params.issue_type or "issue") if may_triage else "unknown",
    )
    if may_triage and params.parent_id:
        set_parent(db, issue, find_parent(db, project, params.parent_id))
    requested = requested_assignees(params, MAX_ASSIGNEES) if may_triage else None
    assignees = set_assignees(db, project, issue, requested, ()) if requested else []
    labels = ensure_labels(db, project, params.labels) if may_triage and params.labels else []
    if labels:
        set_labels(db, subject_of(issue), labels)
    db.insert_row(issue_origins, issue_id=issue.id, user_agent=user_agent, ip_address=ip, submitted=False)
    emit_issue_changed(db, actor, issue, "opened", assignees=assignees, labels=labels)
    if default is not None and params.merge_request_to_resolve_discussions_of is not None:
        discussions = params.merge_request_to_resolve_discussions_of, params.discussion_to_resolve
        emit(db, FollowUpIssueOpened(issue.id, project.id, *discussions, actor))
    return issue


def _severity(params: CreateIssue | EditIssue, issue_type: str) -> str:
    """Return the severity of an issue; raise Invalid if its type has none."""
    if params.severity not in (UNSET, "unknown") and issue_type != INCIDENT:
        raise Invalid(severity=["can only be set on incidents"])
    return params.severity or "unknown"


def _default_description(db: Connection, actor: Actor, project: Project, params: CreateIssue) -> str | None:
    """Return the default description of an issue that follows up a merge request, or None without a visible one."""
    iid = params.merge_request_to_resolve_discussions_of
    if iid is None:
        return None
    return db.ports[IssueMergeRequests].follow_up_description(db, actor, project.id, iid, params.discussion_to_resolve)


def add_issue(db: Connection, project: Project, **columns: Any) -> Issue:
    """Insert an issue with the next iid and update the counts."""
    row = {
        "project_id": project.id,
        "iid": next_iid(db, "project", project.id, "issue"),
        "state": "opened",
        "user_notes_count": 0,
        "upvotes": 0,
        "downvotes": 0,
        "time_estimate": 0,
        "total_time_spent": 0,
        "discussion_locked": False,
        "issue_type": "issue",
        "severity": "unknown",
        **columns,
    }
    row |= description_columns(row["description"])
    issue_id = db.insert(issues, **row, title_key=row["title"].casefold())
    # All columns are known, so the row need not be read again.
    values: dict[str, Any] = {column.name: row.get(column.name) for column in ISSUE_COLUMNS[1:]}
    issue = Issue(id=issue_id, **values)
    _update_counts(db, None, issue)
    return issue


def lock_issue_row(db: Connection, issue: Issue) -> Issue:
    """Lock the row until the end of the transaction and return its current record; raise ``NotFound``."""
    locked = db.first(Issue, _FOR_UPDATE, issue=issue.id)
    if locked is None or locked.deleted_at is not None:
        raise NotFound("Issue")
    return locked


def edit_issue(db: Connection, actor: Actor, lookup: policy.IssueLookup, params: EditIssue) -> Issue:
    """Apply the changes and emit an event.

    Ignores attributes that only reporters may set when the caller is not one.
    """
    project, issue = lookup.project, lock_issue_row(db, lookup.issue)
    may_triage = policy.may_triage(actor, lookup.access, project)
    columns = _columns(db, project, params, may_triage=may_triage)
    changes: dict[str, tuple[object, object]] = {}
    if may_triage:
        changes |= _change_labels(db, project, issue, params)
        changes |= _change_assignees(db, project, issue, params)
        changes |= _change_parent(db, project, issue, params)
    for name, value in list(columns.items()):
        before = getattr(issue, name)
        if value == before:
            del columns[name]
        else:
            changes[name] = (before, value)
    if "severity" in columns:
        columns["severity"] = _severity(params, columns.get("issue_type", issue.issue_type))
    if "issue_type" in columns:
        require_convertible(db, issue, columns["issue_type"])
    action = _state_action(issue, params)
    if action is not None:
        columns |= _state_columns(db, actor, action)
        changes["state"] = (issue.state, columns["state"])
    if changes:
        set_time = params.updated_at and policy.may_set_times(actor, lookup.access, project)
        write_issue(db, issue, columns, params.updated_at if set_time and params.updated_at else db.now)
    edited = issue_by_id(db, issue.id)
    if changes:
        emit_issue_changed(db, actor, edited, action or "updated", changes)
    return edited


def delete_issue(db: Connection, actor: Actor, issue: Issue) -> None:
    """Mark an issue as deleted and remove its relations; do nothing if it is deleted already.

    Its iid is never reused.
    """
    locked = db.first(Issue, _FOR_UPDATE, issue=issue.id)
    if locked is None or locked.deleted_at is not None:
        return
    remove_issue_relations(db, locked)
    db.update(issues, locked.id, deleted_at=db.now)
    emit_issue_changed(db, actor, locked, "deleted")


def remove_issue_relations(db: Connection, issue: Issue) -> None:
    """Remove an issue from the counts, and delete everything that belongs to it except its row."""
    _update_counts(db, issue, None)
    remove_from_hierarchy(db, issue.id)
    for statement in _DELETE_PARTS:
        db.run(statement, issue=issue.id)
    drop_subject(db, subject_of(issue))


def _write_time(db: Connection, actor: Actor, issue: Issue, column: str, seconds: int) -> Issue:
    write_issue(db, issue, {column: seconds}, db.now)
    changed = issue_by_id(db, issue.id)
    emit_issue_changed(db, actor, changed, "updated", {column: (getattr(issue, column), seconds)})
    return changed


TIME_TRACKING = TimeTracking(lock_issue_row, _write_time, subject_of)


def write_issue(db: Connection, issue: Issue, columns: dict[str, Any], now: Timestamp) -> None:
    """Set columns of a locked issue, and update the search keys, counts and label links that depend on them."""
    if "title" in columns:
        columns["title_key"] = columns["title"].casefold()
    if "description" in columns:
        columns |= description_columns(columns["description"])
    db.update(issues, issue.id, **columns, updated_at=now)
    if "state" in columns or "confidential" in columns:
        written = issue_by_id(db, issue.id)
        _update_counts(db, issue, written)
        update_label_link_state(db, subject_of(written))


def _columns(db: Connection, project: Project, params: EditIssue, *, may_triage: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if params.title is not UNSET:
        validate_texts(params.title, None)
        columns["title"] = params.title.strip()
    if params.description is not UNSET:
        validate_texts(None, params.description)
        columns["description"] = params.description or None
    if params.confidential is not UNSET:
        columns["confidential"] = params.confidential
    if params.issue_type is not UNSET:
        columns["issue_type"] = params.issue_type
    if may_triage:
        if params.due_date is not UNSET:
            columns["due_date"] = params.due_date
        if params.severity is not UNSET:
            columns["severity"] = params.severity
        if params.milestone_id is not UNSET:
            columns["milestone_id"] = find_milestone_id(db, project, params.milestone_id)
        if params.discussion_locked not in (UNSET, None):
            columns["discussion_locked"] = params.discussion_locked
    return columns


def _state_action(issue: Issue, params: EditIssue) -> Action | None:
    if params.state_event == "close" and issue.state == "opened":
        return "closed"
    return "reopened" if params.state_event == "reopen" and issue.state == "closed" else None


def _state_columns(db: Connection, actor: Actor, action: Action) -> dict[str, Any]:
    if action == "closed":
        return {"state": "closed", "closed_at": db.now, "closed_by_id": actor.user_id}
    return {"state": "opened", "closed_at": None, "closed_by_id": None}


def _change_labels(
    db: Connection, project: Project, issue: Issue, params: EditIssue
) -> dict[str, tuple[object, object]]:
    if params.labels is UNSET and not params.add_labels and not params.remove_labels:
        return {}
    before: Sequence[Label] = labels_of(db, "issue", [issue.id]).get(issue.id, [])
    titles = [label.title for label in before] if params.labels is UNSET else params.labels or []
    removed = {title.strip() for title in params.remove_labels or ()}
    titles = [title for title in (*titles, *(params.add_labels or ())) if title.strip() not in removed]
    return replace_labels(db, project, subject_of(issue), before, titles)


def _change_parent(
    db: Connection, project: Project, issue: Issue, params: EditIssue
) -> dict[str, tuple[object, object]]:
    if params.parent_id is UNSET:
        return {}
    before = parents_of(db, [issue.id]).get(issue.id)
    if params.parent_id == before:
        return {}
    parent = None
    if params.parent_id is not None:
        parent = find_parent(db, project, params.parent_id)
        issue = issue if params.issue_type is UNSET else replace(issue, issue_type=params.issue_type)
    set_parent(db, issue, parent)
    return {"parent_id": (before, params.parent_id)}


def _change_assignees(
    db: Connection, project: Project, issue: Issue, params: EditIssue
) -> dict[str, tuple[object, object]]:
    requested = requested_assignees(params, MAX_ASSIGNEES)
    if requested is None:
        return {}
    before = assignees_of(db, [issue.id]).get(issue.id, [])
    after = set_assignees(db, project, issue, requested, before)
    return {"assignees": (before, after)} if set(before) != set(after) else {}


def set_assignees(
    db: Connection, project: Project, issue: Issue, requested: Sequence[int], before: Sequence[int]
) -> list[int]:
    """Assign the users who may see the project.

    Other users are ignored instead of refused, so that a request does not reveal which users exist.
    """
    after = assignable_users(db, project, requested)
    if requested and not after:
        return list(before)
    for user_id in before:
        if user_id not in after:
            db.run(_UNASSIGN, issue=issue.id, user=user_id)
    for user_id in after:
        if user_id not in before:
            db.insert_row(issue_assignees, issue_id=issue.id, user_id=user_id)
    return after


def _update_counts(db: Connection, before: Issue | None, after: Issue | None) -> None:
    """Update the counts by state, and the number of open issues that projects show."""
    changes: defaultdict[tuple[int, str, bool], int] = defaultdict(int)
    for issue, by in ((before, -1), (after, 1)):
        if issue is not None:
            changes[issue.project_id, issue.state, issue.confidential] += by
    add_to_issue_counts(db, changes)


def add_to_issue_counts(db: Connection, changes: Mapping[tuple[int, str, bool], int]) -> None:
    """Add to the counts by project, state and confidentiality, and to the number of open issues of the projects."""
    # A fixed order prevents deadlocks between transactions that close one issue and reopen another.
    for (project_id, state, confidential), by in sorted(changes.items()):
        if by:
            db.run(_COUNT, project=project_id, state=state, confidential=confidential, by=by)
    opened = {project_id: 0 for project_id, _, _ in changes}
    for (project_id, state, confidential), by in changes.items():
        opened[project_id] += by if state == "opened" and not confidential else 0
    for project_id, by in opened.items():
        if by:
            add_to_open_issues_count(db, project_id, by)


def emit_issue_changed(
    db: Connection,
    actor: Actor,
    issue: Issue,
    action: Action,
    changes: dict[str, tuple[object, object]] | None = None,
    cause: ChangeCause | None = None,
    *,
    assignees: Sequence[int] = (),
    labels: Sequence[Label] = (),
) -> None:
    """Emit ``IssueChanged``; for a new issue with its assignees and labels."""
    initial = tuple(assignees), tuple(label.id for label in labels)
    emit(db, IssueChanged(issue.id, issue.project_id, actor.user_id, action, changes or {}, cause, issue, *initial))
