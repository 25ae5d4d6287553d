"""Ticking the tasks of an issue's description."""

from hashlib import blake2b

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.errors import Conflict
from ingot.issues.params import EditIssue
from ingot.issues.policy import Found
from ingot.issues.service import edit_issue, hold_issue
from ingot.issues.tables import Issue
from ingot.markup.tasks import tick_task


def version_of(description: str | None) -> str:
    """Tells one wording of a description from another."""
    return blake2b((description or "").encode(), digest_size=12).hexdigest()


def tick(db: Connection, actor: Actor, found: Found, number: int, seen: str, *, done: bool) -> Issue:
    """Let a task be done, or open again, in the description that the caller has seen; a newer one stays as it is."""
    description = hold_issue(db, found.issue).description
    ticked = tick_task(description or "", number, done=done)
    if ticked is None or version_of(description) != seen:
        raise Conflict("The description has changed meanwhile")
    return edit_issue(db, actor, found, EditIssue(description=ticked))
