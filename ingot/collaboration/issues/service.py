"""What changes issues."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET
from sqlalchemy import bindparam, delete, select, text

from ingot.collaboration.iids.service import next_iid
from ingot.collaboration.issues import policy
from ingot.collaboration.issues.events import Action, ChangeCause, FollowUpIssueOpened, IssueChanged
from ingot.collaboration.issues.params import CreateIssue, EditIssue
from ingot.collaboration.issues.ports import IssueMergeRequests
from ingot.collaboration.issues.queries import assignees_of, issue_by_id
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issue_assignees, issue_origins, issues
from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.labels.service import set_labels, update_label_link_state
from ingot.collaboration.labels.tables import Label
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
from ingot.core.events.bus import emit
from ingot.errors import NotFound
from ingot.projects.projects.service import add_to_open_issues_count
from ingot.projects.projects.tables import Project

MAX_ASSIGNEES = 1
"""The specification takes a list of assignees, of which the first one counts."""
# The row is locked until the transaction ends.
_FOR_UPDATE = select(*ISSUE_COLUMNS).where(issues.c.id == bindparam("issue")).with_for_update()
_UNASSIGN = delete(issue_assignees).where(
    issue_assignees.c.issue_id == bindparam("issue"), issue_assignees.c.user_id == bindparam("user")
)
_COUNT = text(
    "INSERT INTO issue_counts (project_id, state, confidential, count) VALUES (:project, :state, :confidential, :by) "
    "ON CONFLICT (project_id, state, confidential) DO UPDATE SET count = issue_counts.count + excluded.count"
)


def subject_of(issue: Issue) -> Subject:
    """An issue as rooms see it that serve other things alike."""
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
    """Write a new issue; who may not assign or label has those wishes passed over, as on the page."""
    validate_texts(params.title, params.description)
    triages = policy.may_triage(actor, access, project)
    default = _default_description(db, actor, project, params)
    created = params.created_at if params.created_at and policy.may_set_times(actor, access, project) else db.now
    issue = add_issue(
        db,
        project,
        title=params.title.strip(),
        description=params.description or default,
        author_id=actor.user_id,
        confidential=bool(params.confidential),
        due_date=(params.due_date or None) if triages else None,
        milestone_id=find_milestone_id(db, project, params.milestone_id) if triages else None,
        created_at=created,
        updated_at=created,
    )
    people = requested_assignees(params, MAX_ASSIGNEES) if triages else None
    assignees = set_assignees(db, project, issue, people, ()) if people else []
    carried = ensure_labels(db, project, params.labels) if triages and params.labels else []
    if carried:
        set_labels(db, subject_of(issue), carried)
    db.insert(issue_origins, issue_id=issue.id, user_agent=user_agent, ip_address=ip, submitted=False)
    emit_issue_changed(db, actor, issue, "opened", assignees=assignees, labels=carried)
    if default is not None and params.merge_request_to_resolve_discussions_of is not None:
        asked = params.merge_request_to_resolve_discussions_of, params.discussion_to_resolve
        emit(db, FollowUpIssueOpened(issue.id, project.id, *asked, actor))
    return issue


def _default_description(db: Connection, actor: Actor, project: Project, params: CreateIssue) -> str | None:
    """Return the description that follows from the discussions that the issue takes over, or None without them."""
    iid = params.merge_request_to_resolve_discussions_of
    if iid is None:
        return None
    return db.ports[IssueMergeRequests].follow_up_description(db, actor, project.id, iid, params.discussion_to_resolve)


def add_issue(db: Connection, project: Project, **columns: Any) -> Issue:
    """Add the row of an issue, numbered and counted."""
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
        **columns,
    }
    keys = {"title_key": row["title"].casefold(), "description_key": (row["description"] or "").casefold()}
    number = db.insert(issues, **row, **keys)
    # It needs no second look: all that it holds was just given, and a row begins without the rest.
    held: dict[str, Any] = {column.name: row.get(column.name) for column in ISSUE_COLUMNS[1:]}
    issue = Issue(id=number, **held)
    _update_counts(db, None, issue)
    return issue


def lock_issue_row(db: Connection, issue: Issue) -> Issue:
    """The issue as it is now, and nobody else changes it before the transaction has ended."""
    held = db.first(Issue, _FOR_UPDATE, issue=issue.id)
    if held is None or held.deleted_at is not None:
        raise NotFound("Issue")
    return held


def edit_issue(db: Connection, actor: Actor, lookup: policy.IssueLookup, params: EditIssue) -> Issue:
    """Change what was sent, and announce it; a wish that only reporters have is passed over for others."""
    project, issue = lookup.project, lock_issue_row(db, lookup.issue)
    triages = policy.may_triage(actor, lookup.here, project)
    columns = _columns(db, project, params, triages=triages)
    changes: dict[str, tuple[object, object]] = {}
    if triages:
        changes |= _change_labels(db, project, issue, params)
        changes |= _change_assignees(db, project, issue, params)
    for name, value in list(columns.items()):
        before = getattr(issue, name)
        if value == before:
            del columns[name]
        else:
            changes[name] = (before, value)
    action = _state_action(issue, params)
    if action is not None:
        columns |= _state_columns(db, actor, action)
        changes["state"] = (issue.state, columns["state"])
    if changes:
        set_time = params.updated_at and policy.may_set_times(actor, lookup.here, project)
        write_issue(db, issue, columns, params.updated_at if set_time and params.updated_at else db.now)
    edited = issue_by_id(db, issue.id)
    if changes:
        emit_issue_changed(db, actor, edited, action or "updated", changes)
    return edited


def delete_issue(db: Connection, actor: Actor, issue: Issue) -> None:
    """Take an issue away for everybody; its number is never given again, and what is gone already stays gone."""
    held = db.first(Issue, _FOR_UPDATE, issue=issue.id)
    if held is None or held.deleted_at is not None:
        return
    remove_issue_relations(db, held)
    db.update(issues, held.id, deleted_at=db.now)
    emit_issue_changed(db, actor, held, "deleted")


def remove_issue_relations(db: Connection, issue: Issue) -> None:
    """What goes with an issue besides its row: it counts no more, and nothing is linked to it."""
    _update_counts(db, issue, None)
    drop_subject(db, subject_of(issue))


def _write_time(db: Connection, actor: Actor, issue: Issue, column: str, seconds: int) -> Issue:
    write_issue(db, issue, {column: seconds}, db.now)
    changed = issue_by_id(db, issue.id)
    emit_issue_changed(db, actor, changed, "updated", {column: (getattr(issue, column), seconds)})
    return changed


TIME_TRACKING = TimeTracking(lock_issue_row, _write_time)


def write_issue(db: Connection, issue: Issue, columns: dict[str, Any], now: Timestamp) -> None:
    """Set columns of an issue that is held, with all that is kept of them elsewhere."""
    if "title" in columns:
        columns["title_key"] = columns["title"].casefold()
    if "description" in columns:
        columns["description_key"] = (columns["description"] or "").casefold()
    db.update(issues, issue.id, **columns, updated_at=now)
    if "state" in columns or "confidential" in columns:
        written = issue_by_id(db, issue.id)
        _update_counts(db, issue, written)
        update_label_link_state(db, subject_of(written))


def _columns(db: Connection, project: Project, params: EditIssue, *, triages: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if params.title is not UNSET:
        validate_texts(params.title, None)
        columns["title"] = params.title.strip()
    if params.description is not UNSET:
        validate_texts(None, params.description)
        columns["description"] = params.description or None
    if params.confidential is not UNSET:
        columns["confidential"] = params.confidential
    if triages:
        if params.due_date is not UNSET:
            columns["due_date"] = params.due_date
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
    gone = {title.strip() for title in params.remove_labels or ()}
    titles = [title for title in (*titles, *(params.add_labels or ())) if title.strip() not in gone]
    return replace_labels(db, project, subject_of(issue), before, titles)


def _change_assignees(
    db: Connection, project: Project, issue: Issue, params: EditIssue
) -> dict[str, tuple[object, object]]:
    people = requested_assignees(params, MAX_ASSIGNEES)
    if people is None:
        return {}
    before = assignees_of(db, [issue.id]).get(issue.id, [])
    after = set_assignees(db, project, issue, people, before)
    return {"assignees": (before, after)} if set(before) != set(after) else {}


def set_assignees(
    db: Connection, project: Project, issue: Issue, wanted: Sequence[int], before: Sequence[int]
) -> list[int]:
    """Assign those who can see the project; who cannot is passed over, so that nobody learns who is there."""
    after = assignable_users(db, project, wanted)
    if wanted and not after:
        return list(before)
    for user_id in before:
        if user_id not in after:
            db.run(_UNASSIGN, issue=issue.id, user=user_id)
    for user_id in after:
        if user_id not in before:
            db.insert(issue_assignees, issue_id=issue.id, user_id=user_id)
    return after


def _update_counts(db: Connection, before: Issue | None, after: Issue | None) -> None:
    """Keep the totals that lists show, and the number of open ones that projects show to everybody who sees them."""
    changes: defaultdict[tuple[int, str, bool], int] = defaultdict(int)
    for issue, by in ((before, -1), (after, 1)):
        if issue is not None:
            changes[issue.project_id, issue.state, issue.confidential] += by
    # Always in the same order: who closes one and who reopens another wait for each other, never both at once.
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
    """Tell what happened to an issue; of a new one also who has it to do, and what it carries."""
    first = tuple(assignees), tuple(label.id for label in labels)
    emit(db, IssueChanged(issue.id, issue.project_id, actor.user_id, action, changes or {}, cause, issue, *first))
