"""Closing issues by what happens elsewhere: a commit or a merge request that says so."""

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.issues import policy
from ingot.issues.events import Cause
from ingot.issues.policy import Found
from ingot.issues.queries import issue_by_id
from ingot.issues.service import announce, hold_issue, write_issue
from ingot.issues.tables import Issue


def close_issue(db: Connection, actor: Actor, found: Found, cause: Cause) -> Issue | None:
    """Close an open issue in somebody's name; nothing where they may not, or where it is closed already."""
    if not policy.may_edit_issue(actor, found.here, found):
        return None
    issue = hold_issue(db, found.issue)
    if issue.state != "opened":
        return None
    write_issue(db, issue, {"state": "closed", "closed_at": db.now, "closed_by_id": actor.user_id}, db.now)
    closed = issue_by_id(db, issue.id)
    announce(db, actor, closed, "closed", {"state": ("opened", "closed")}, cause)
    return closed
