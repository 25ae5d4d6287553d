"""Automatic closing of issues by commits and merge requests."""

from ingot.collaboration.issues import policy
from ingot.collaboration.issues.events import ChangeCause
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.service import emit_issue_changed, lock_issue_row, write_issue
from ingot.collaboration.issues.tables import Issue
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection


def close_issue(db: Connection, actor: Actor, lookup: IssueLookup, cause: ChangeCause) -> Issue | None:
    """Close an open issue in the actor's name; return None if they may not, or if it is closed already."""
    if not policy.may_edit_issue(actor, lookup.access, lookup):
        return None
    issue = lock_issue_row(db, lookup.issue)
    if issue.state != "opened":
        return None
    write_issue(db, issue, {"state": "closed", "closed_at": db.now, "closed_by_id": actor.user_id}, db.now)
    closed = issue_by_id(db, issue.id)
    emit_issue_changed(db, actor, closed, "closed", {"state": ("opened", "closed")}, cause)
    return closed
