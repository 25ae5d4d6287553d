"""What changes issues."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType
from sqlalchemy import bindparam, delete, select, text

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.db.connection import Connection
from ingot.db.times import Timestamp
from ingot.emoji.service import drop_awards
from ingot.errors import Invalid, NotFound, too_long
from ingot.events.bus import emit
from ingot.followers.service import drop_follows
from ingot.histories.service import drop_history
from ingot.iids.service import next_iid
from ingot.involvement.service import drop_people
from ingot.issues import policy
from ingot.issues.clock import Clock
from ingot.issues.events import Action, Cause, FollowUpAsked, FollowUpOpened, IssueChanged
from ingot.issues.params import CreateIssue, EditIssue, IssueAttributes
from ingot.issues.queries import assignees_of, issue_by_id
from ingot.issues.tables import ISSUE, Issue, issue_assignees, issue_origins, issues
from ingot.labels.queries import labels_of
from ingot.labels.service import drop_labels, find_or_add_labels, keep_counted, set_labels, title_trouble
from ingot.labels.tables import Label
from ingot.milestones.queries import usable_milestone
from ingot.notes.service import drop_notes
from ingot.projects.queries import access_of_user
from ingot.projects.service import count_open_issues
from ingot.projects.tables import Project
from ingot.subjects import Subject
from ingot.todos.service import drop_todos
from ingot.users.accounts.queries import users_by_ids

LONGEST_TITLE = 255
LONGEST_TEXT = 1_000_000
MOST_LABELS = 100
# What is read here stays so until the transaction ends: whoever else would change it waits.
_HELD = select(*ISSUE).where(issues.c.id == bindparam("issue")).with_for_update()
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
    db: Connection, actor: Actor, here: Access, project: Project, wanted: CreateIssue, user_agent: str, ip: str
) -> Issue:
    """Write a new issue; who may not assign or label has those wishes passed over, as on the page."""
    validate_texts(wanted.title, wanted.description)
    triages = policy.may_triage(actor, here, project)
    default = _default_description(db, actor, project, wanted)
    created = wanted.created_at if wanted.created_at and policy.may_set_times(actor, here, project) else db.now
    issue = add_issue(
        db,
        project,
        title=wanted.title.strip(),
        description=wanted.description or default,
        author_id=actor.user_id,
        confidential=bool(wanted.confidential),
        due_date=(wanted.due_date or None) if triages else None,
        milestone_id=usable_milestone_id(db, project, wanted.milestone_id) if triages else None,
        created_at=created,
        updated_at=created,
    )
    people = _assignee_ids(wanted) if triages else None
    assignees = set_assignees(db, project, issue, people, ()) if people else []
    carried = labels_titled(db, project, wanted.labels) if triages and wanted.labels else []
    if carried:
        set_labels(db, subject_of(issue), carried)
    db.insert(issue_origins, issue_id=issue.id, user_agent=user_agent, ip_address=ip, submitted=False)
    announce(db, actor, issue, "opened", assignees=assignees, labels=carried)
    if default is not None and wanted.merge_request_to_resolve_discussions_of is not None:
        asked = wanted.merge_request_to_resolve_discussions_of, wanted.discussion_to_resolve
        emit(db, FollowUpOpened(issue.id, project.id, *asked, actor))
    return issue


def _default_description(db: Connection, actor: Actor, project: Project, wanted: CreateIssue) -> str | None:
    """What follows from the discussions that the issue takes over; a merge request that is not there has none."""
    if wanted.merge_request_to_resolve_discussions_of is None:
        return None
    found: list[tuple[str, str]] = []
    asked = wanted.merge_request_to_resolve_discussions_of, wanted.discussion_to_resolve
    emit(db, FollowUpAsked(project.id, *asked, actor, found))
    return found[0][1] if found else None


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
    held: dict[str, Any] = {column.name: row.get(column.name) for column in ISSUE[1:]}
    issue = Issue(id=number, **held)
    _count(db, None, issue)
    return issue


def hold_issue(db: Connection, issue: Issue) -> Issue:
    """The issue as it is now, and nobody else changes it before the transaction has ended."""
    held = db.first(Issue, _HELD, issue=issue.id)
    if held is None or held.deleted_at is not None:
        raise NotFound("Issue")
    return held


def edit_issue(db: Connection, actor: Actor, found: policy.Found, wanted: EditIssue) -> Issue:
    """Change what was sent, and announce it; a wish that only reporters have is passed over for others."""
    project, issue = found.project, hold_issue(db, found.issue)
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
        write_issue(db, issue, columns, wanted.updated_at if set_time and wanted.updated_at else db.now)
    edited = issue_by_id(db, issue.id)
    if changes:
        announce(db, actor, edited, action or "updated", changes)
    return edited


def delete_issue(db: Connection, actor: Actor, issue: Issue) -> None:
    """Take an issue away for everybody; its number is never given again, and what is gone already stays gone."""
    held = db.first(Issue, _HELD, issue=issue.id)
    if held is None or held.deleted_at is not None:
        return
    forget_issue(db, held)
    db.update(issues, held.id, deleted_at=db.now)
    announce(db, actor, held, "deleted")


def forget_issue(db: Connection, issue: Issue) -> None:
    """What goes with an issue besides its row: it counts no more, and nothing is linked to it."""
    _count(db, issue, None)
    drop_subject(db, subject_of(issue))


def drop_subject(db: Connection, subject: Subject) -> None:
    """Take away all that people said of something and how they take part in it."""
    number = subject.id or 0
    drop_labels(db, subject)
    drop_follows(db, subject.kind, number)
    drop_notes(db, subject)
    drop_awards(db, subject.kind, [number])
    drop_history(db, subject)
    drop_todos(db, subject)
    drop_people(db, subject)


def _write_time(db: Connection, actor: Actor, issue: Issue, column: str, seconds: int) -> Issue:
    write_issue(db, issue, {column: seconds}, db.now)
    changed = issue_by_id(db, issue.id)
    announce(db, actor, changed, "updated", {column: (getattr(issue, column), seconds)})
    return changed


CLOCK = Clock(hold_issue, _write_time)


def write_issue(db: Connection, issue: Issue, columns: dict[str, Any], now: Timestamp) -> None:
    """Set columns of an issue that is held, with all that is kept of them elsewhere."""
    if "title" in columns:
        columns["title_key"] = columns["title"].casefold()
    if "description" in columns:
        columns["description_key"] = (columns["description"] or "").casefold()
    db.update(issues, issue.id, **columns, updated_at=now)
    if "state" in columns or "confidential" in columns:
        written = issue_by_id(db, issue.id)
        _count(db, issue, written)
        keep_counted(db, subject_of(written))


def _columns(db: Connection, project: Project, wanted: EditIssue, *, triages: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if wanted.title is not UNSET:
        validate_texts(wanted.title, None)
        columns["title"] = wanted.title.strip()
    if wanted.description is not UNSET:
        validate_texts(None, wanted.description)
        columns["description"] = wanted.description or None
    if wanted.confidential is not UNSET:
        columns["confidential"] = wanted.confidential
    if triages:
        if wanted.due_date is not UNSET:
            columns["due_date"] = wanted.due_date
        if wanted.milestone_id is not UNSET:
            columns["milestone_id"] = usable_milestone_id(db, project, wanted.milestone_id)
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
    gone = {title.strip() for title in wanted.remove_labels or ()}
    titles = [title for title in (*titles, *(wanted.add_labels or ())) if title.strip() not in gone]
    after = labels_titled(db, project, titles)
    added, removed = set_labels(db, subject_of(issue), after)
    if not added and not removed:
        return {}
    return {"labels": ([label.id for label in before], [label.id for label in after])}


def labels_titled(db: Connection, project: Project, titles: Sequence[str]) -> list[Label]:
    """The labels of these titles, each once; those that are missing are made."""
    wanted = list(dict.fromkeys(tidy for title in titles if (tidy := title.strip())))
    if len(wanted) > MOST_LABELS:
        raise Invalid(labels=[f"cannot be more than {MOST_LABELS}"])
    for title in wanted:
        trouble = title_trouble(title)
        if trouble is not None:
            raise Invalid(labels=[trouble])
    return find_or_add_labels(db, project, wanted, may_add=True)


def _change_assignees(
    db: Connection, project: Project, issue: Issue, wanted: EditIssue
) -> dict[str, tuple[object, object]]:
    people = _assignee_ids(wanted)
    if people is None:
        return {}
    before = assignees_of(db, [issue.id]).get(issue.id, [])
    after = set_assignees(db, project, issue, people, before)
    return {"assignees": (before, after)} if set(before) != set(after) else {}


def _assignee_ids(wanted: IssueAttributes) -> list[int] | None:
    """Whom the caller wants assigned, or nothing where they say nothing of it; 0 stands for nobody.

    The contract has several in a list, of which the first one counts.
    """
    if wanted.assignee_ids is not UNSET:
        people = (wanted.assignee_ids or [])[:1]
    elif wanted.assignee_id is not UNSET:
        people = [wanted.assignee_id] if wanted.assignee_id else []
    else:
        return None
    return [] if people == [0] else people


def set_assignees(
    db: Connection, project: Project, issue: Issue, wanted: Sequence[int], before: Sequence[int]
) -> list[int]:
    """Assign those who can see the project; who cannot is passed over, so that nobody learns who is there."""
    after = who_can_see(db, project, wanted)
    if wanted and not after:
        return list(before)
    for user_id in before:
        if user_id not in after:
            db.run(_UNASSIGN, issue=issue.id, user=user_id)
    for user_id in after:
        if user_id not in before:
            db.insert(issue_assignees, issue_id=issue.id, user_id=user_id)
    return after


def who_can_see(db: Connection, project: Project, user_ids: Sequence[int]) -> list[int]:
    """Those of the users who may see the issue once it is theirs."""
    users = users_by_ids(db, user_ids)
    return [
        user_id
        for user_id in dict.fromkeys(user_ids)
        if user_id in users and users[user_id].state == "active" and access_of_user(db, users[user_id], project)
    ]


def usable_milestone_id(db: Connection, project: Project, wanted: int | UnsetType | None) -> int | None:
    """The number of a milestone that a project can use; nothing, or 0, stands for none."""
    if wanted is UNSET or not wanted:
        return None
    milestone = usable_milestone(db, project, wanted)
    if milestone is None:
        raise Invalid(milestone_id=["is invalid"])
    return milestone.id


def validate_texts(title: str | None, description: Any) -> None:
    """Refuse what is too long to be read, and a title that says nothing."""
    if title is not None and not title.strip():
        raise Invalid(title=["can't be blank"])
    if title is not None and len(title.strip()) > LONGEST_TITLE:
        raise Invalid(title=[too_long(LONGEST_TITLE)])
    if isinstance(description, str) and len(description) > LONGEST_TEXT:
        raise Invalid(description=[too_long(LONGEST_TEXT)])


def _count(db: Connection, before: Issue | None, after: Issue | None) -> None:
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
            count_open_issues(db, project_id, by)


def announce(
    db: Connection,
    actor: Actor,
    issue: Issue,
    action: Action,
    changes: dict[str, tuple[object, object]] | None = None,
    cause: Cause | None = None,
    *,
    assignees: Sequence[int] = (),
    labels: Sequence[Label] = (),
) -> None:
    """Tell what happened to an issue; of a new one also who has it to do, and what it carries."""
    first = tuple(assignees), tuple(label.id for label in labels)
    emit(db, IssueChanged(issue.id, issue.project_id, actor.user_id, action, changes or {}, cause, issue, *first))
