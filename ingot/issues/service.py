"""What changes issues."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET
from sqlalchemy import bindparam, delete, text

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.db.connection import Connection
from ingot.db.times import Timestamp
from ingot.errors import Invalid
from ingot.events.bus import emit
from ingot.followers.service import drop_follows
from ingot.iids.service import next_iid
from ingot.issues import policy
from ingot.issues.events import Action, IssueChanged
from ingot.issues.params import CreateIssue, EditIssue, IssueAttributes
from ingot.issues.queries import assignees_of, issue_by_id
from ingot.issues.tables import Issue, issue_assignees, issue_origins, issues
from ingot.labels.queries import labels_of
from ingot.labels.service import drop_labels, find_or_add_labels, set_labels
from ingot.labels.tables import Label
from ingot.milestones.queries import usable_milestone
from ingot.projects.queries import access_of_user
from ingot.projects.service import count_open_issues
from ingot.projects.tables import Project
from ingot.subjects import Subject
from ingot.users.accounts.queries import users_by_ids

LONGEST_TITLE = 255
LONGEST_TEXT = 1_000_000
MOST_ASSIGNEES = 100
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
    )


def create_issue(
    db: Connection, actor: Actor, here: Access, project: Project, wanted: CreateIssue, user_agent: str, ip: str
) -> Issue:
    """Write a new issue; who may not assign or label has those wishes passed over, as on the page."""
    _validate(wanted.title, wanted.description)
    triages = policy.may_triage(actor, here, project)
    created = wanted.created_at if wanted.created_at and policy.may_set_times(actor, here, project) else db.now
    issue = add_issue(
        db,
        project,
        title=wanted.title.strip(),
        description=wanted.description or None,
        author_id=actor.user_id,
        confidential=bool(wanted.confidential),
        due_date=(wanted.due_date or None) if triages else None,
        milestone_id=_milestone_id(db, project, wanted) if triages else None,
        created_at=created,
        updated_at=created,
    )
    if triages:
        _set_assignees(db, project, issue, _assignee_ids(wanted) or [])
        if wanted.labels:
            set_labels(db, subject_of(issue), find_or_add_labels(db, project, wanted.labels, may_add=True))
    db.insert(issue_origins, issue_id=issue.id, user_agent=user_agent, ip_address=ip, submitted=False)
    _announce(db, actor, issue, "opened")
    return issue_by_id(db, issue.id)


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
    row["title_key"] = row["title"].casefold()
    row["description_key"] = (row["description"] or "").casefold()
    issue = issue_by_id(db, db.insert(issues, **row))
    _count(db, issue, 1)
    return issue


def edit_issue(db: Connection, actor: Actor, found: policy.Found, wanted: EditIssue) -> Issue:
    """Change what was sent, and announce it; a wish that only reporters have is passed over for others."""
    project, issue = found.project, found.issue
    triages = policy.may_triage(actor, found.here, project)
    columns = _columns(db, project, wanted, triages=triages)
    changes: dict[str, tuple[object, object]] = {}
    if triages:
        changes |= _change_labels(db, project, issue, wanted)
        changes |= _change_assignees(db, project, issue, wanted)
    for name, value in list(columns.items()):
        before = getattr(issue, name)
        if value == before:
            del columns[name]
        else:
            changes[name] = (before, value)
    action = _state_action(issue, wanted)
    if action is not None:
        columns |= _state_columns(db, actor, action)
        changes["state"] = (issue.state, columns["state"])
    if changes:
        set_time = wanted.updated_at and policy.may_set_times(actor, found.here, project)
        _write(db, issue, columns, wanted.updated_at if set_time and wanted.updated_at else db.now)
    edited = issue_by_id(db, issue.id)
    if changes:
        _announce(db, actor, edited, action or "updated", changes)
    return edited


def delete_issue(db: Connection, actor: Actor, issue: Issue) -> None:
    """Take an issue away for everybody; its number is never given again."""
    _count(db, issue, -1)
    db.update(issues, issue.id, deleted_at=db.now)
    drop_labels(db, subject_of(issue))
    drop_follows(db, "issue", issue.id)
    _announce(db, actor, issue, "deleted")


def set_estimate(db: Connection, issue: Issue, seconds: int) -> Issue:
    """Say how long it takes."""
    db.update(issues, issue.id, time_estimate=seconds, updated_at=db.now)
    return issue_by_id(db, issue.id)


def add_spent_time(db: Connection, issue: Issue, seconds: int) -> Issue:
    """Add to the time that it took, or take some back; never below nothing."""
    total = issue.total_time_spent + seconds
    if total < 0:
        raise Invalid("Time to subtract exceeds the total time spent")
    if total > 2**31 - 1:
        raise Invalid("Time spent is too long")
    db.update(issues, issue.id, total_time_spent=total, updated_at=db.now)
    return issue_by_id(db, issue.id)


def _write(db: Connection, issue: Issue, columns: dict[str, Any], now: Timestamp) -> None:
    if "title" in columns:
        columns["title_key"] = columns["title"].casefold()
    if "description" in columns:
        columns["description_key"] = (columns["description"] or "").casefold()
    counted = "state" in columns or "confidential" in columns
    if counted:
        _count(db, issue, -1)
    db.update(issues, issue.id, **columns, updated_at=now)
    if counted:
        _count(db, issue_by_id(db, issue.id), 1)


def _columns(db: Connection, project: Project, wanted: EditIssue, *, triages: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if wanted.title is not UNSET:
        _validate(wanted.title, None)
        columns["title"] = wanted.title.strip()
    if wanted.description is not UNSET:
        _validate(None, wanted.description)
        columns["description"] = wanted.description or None
    if wanted.confidential is not UNSET:
        columns["confidential"] = wanted.confidential
    if triages:
        if wanted.due_date is not UNSET:
            columns["due_date"] = wanted.due_date
        if wanted.milestone_id is not UNSET:
            columns["milestone_id"] = _milestone_id(db, project, wanted)
        if wanted.discussion_locked not in (UNSET, None):
            columns["discussion_locked"] = wanted.discussion_locked
    return columns


def _state_action(issue: Issue, wanted: EditIssue) -> Action | None:
    if wanted.state_event == "close" and issue.state == "opened":
        return "closed"
    return "reopened" if wanted.state_event == "reopen" and issue.state == "closed" else None


def _state_columns(db: Connection, actor: Actor, action: Action) -> dict[str, Any]:
    if action == "closed":
        return {"state": "closed", "closed_at": db.now, "closed_by_id": actor.user_id}
    return {"state": "opened", "closed_at": None, "closed_by_id": None}


def _change_labels(
    db: Connection, project: Project, issue: Issue, wanted: EditIssue
) -> dict[str, tuple[object, object]]:
    if wanted.labels is UNSET and not wanted.add_labels and not wanted.remove_labels:
        return {}
    before: Sequence[Label] = labels_of(db, "issue", [issue.id]).get(issue.id, [])
    titles = [label.title for label in before]
    if wanted.labels is not UNSET:
        titles = wanted.labels or []
    titles = [title for title in titles if title not in (wanted.remove_labels or ())] + (wanted.add_labels or [])
    after = find_or_add_labels(db, project, list(dict.fromkeys(titles)), may_add=True)
    added, removed = set_labels(db, subject_of(issue), after)
    if not added and not removed:
        return {}
    return {"labels": ([label.id for label in before], [label.id for label in after])}


def _change_assignees(
    db: Connection, project: Project, issue: Issue, wanted: EditIssue
) -> dict[str, tuple[object, object]]:
    people = _assignee_ids(wanted)
    if people is None:
        return {}
    before = assignees_of(db, [issue.id]).get(issue.id, [])
    after = _set_assignees(db, project, issue, people)
    return {"assignees": (before, after)} if set(before) != set(after) else {}


def _assignee_ids(wanted: IssueAttributes) -> list[int] | None:
    """Whom the caller wants assigned, or nothing where they say nothing of it; 0 stands for nobody."""
    if wanted.assignee_ids is not UNSET:
        return [user_id for user_id in wanted.assignee_ids or () if user_id != 0]
    if wanted.assignee_id is not UNSET:
        return [wanted.assignee_id] if wanted.assignee_id else []
    return None


def _set_assignees(db: Connection, project: Project, issue: Issue, wanted: Sequence[int]) -> list[int]:
    """Assign those who can see the project; others are passed over, so that nobody learns who is there."""
    if len(wanted) > MOST_ASSIGNEES:
        raise Invalid(assignee_ids=[f"cannot be more than {MOST_ASSIGNEES}"])
    after = _who_can_see(db, project, wanted)
    before = assignees_of(db, [issue.id]).get(issue.id, [])
    for user_id in before:
        if user_id not in after:
            db.run(_UNASSIGN, issue=issue.id, user=user_id)
    for user_id in after:
        if user_id not in before:
            db.insert(issue_assignees, issue_id=issue.id, user_id=user_id)
    return after


def _who_can_see(db: Connection, project: Project, user_ids: Sequence[int]) -> list[int]:
    """Those of the users who may see the issue once it is theirs."""
    users = users_by_ids(db, user_ids)
    return [
        user_id
        for user_id in dict.fromkeys(user_ids)
        if user_id in users and users[user_id].state == "active" and access_of_user(db, users[user_id], project)
    ]


def _milestone_id(db: Connection, project: Project, wanted: IssueAttributes) -> int | None:
    if wanted.milestone_id is UNSET or not wanted.milestone_id:
        return None
    milestone = usable_milestone(db, project, wanted.milestone_id)
    if milestone is None:
        raise Invalid(milestone_id=["is invalid"])
    return milestone.id


def _validate(title: str | None, description: Any) -> None:
    if title is not None and not title.strip():
        raise Invalid(title=["can't be blank"])
    if title is not None and len(title.strip()) > LONGEST_TITLE:
        raise Invalid(title=[f"is too long (maximum is {LONGEST_TITLE} characters)"])
    if isinstance(description, str) and len(description) > LONGEST_TEXT:
        raise Invalid(description=[f"is too long (maximum is {LONGEST_TEXT} characters)"])


def _count(db: Connection, issue: Issue, by: int) -> None:
    """Keep the totals that lists show, and the number of open ones that projects show."""
    db.run(_COUNT, project=issue.project_id, state=issue.state, confidential=issue.confidential, by=by)
    if issue.state == "opened":
        count_open_issues(db, issue.project_id, by)


def _announce(
    db: Connection,
    actor: Actor,
    issue: Issue,
    action: Action,
    changes: dict[str, tuple[object, object]] | None = None,
) -> None:
    emit(db, IssueChanged(issue.id, issue.project_id, actor.user_id, action, changes or {}))
