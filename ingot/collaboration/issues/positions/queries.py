"""Queries of positions in the manual order of issues."""

from sqlalchemy import bindparam, func, select

from ingot.collaboration.issues import policy
from ingot.collaboration.issues.queries import assignees_of
from ingot.collaboration.issues.tables import EFFECTIVE_POSITION, ISSUE_COLUMNS, Issue, issues
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection

_OTHERS = (
    issues.c.project_id == bindparam("project"),
    issues.c.deleted_at.is_(None),
    issues.c.id != bindparam("moved"),
)
_NEXT = select(func.min(EFFECTIVE_POSITION)).where(*_OTHERS, bindparam("position") < EFFECTIVE_POSITION)
_PREVIOUS = select(func.max(EFFECTIVE_POSITION)).where(*_OTHERS, bindparam("position") > EFFECTIVE_POSITION)
_POSITION = select(EFFECTIVE_POSITION).where(issues.c.id == bindparam("issue"))
_IN_PROJECT = select(*ISSUE_COLUMNS).where(
    issues.c.id == bindparam("issue"), issues.c.project_id == bindparam("project"), issues.c.deleted_at.is_(None)
)


def neighbor_or_none(db: Connection, actor: Actor, moved: policy.IssueLookup, issue_id: int) -> Issue | None:
    """Return another issue of the same project, or None if the caller may not see it."""
    issue = db.first(Issue, _IN_PROJECT, issue=issue_id, project=moved.project.id)
    if issue is None or issue.id == moved.issue.id:
        return None
    assignees = assignees_of(db, [issue.id]).get(issue.id, ())
    return issue if policy.may_see_issue(actor, moved.access, issue, assignees) else None


def position_of(db: Connection, issue: Issue) -> int:
    """Return the position of an issue."""
    position: int = db.value(_POSITION, issue=issue.id)
    return position


def next_position(db: Connection, moved: Issue, position: int) -> int | None:
    """Return the lowest position above ``position``, without the moved issue, or None."""
    following: int | None = db.value(_NEXT, project=moved.project_id, moved=moved.id, position=position)
    return following


def previous_position(db: Connection, moved: Issue, position: int) -> int | None:
    """Return the highest position below ``position``, without the moved issue, or None."""
    preceding: int | None = db.value(_PREVIOUS, project=moved.project_id, moved=moved.id, position=position)
    return preceding
