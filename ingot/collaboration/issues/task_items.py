"""Task items in the descriptions of issues."""

from hashlib import blake2b

from ingot.collaboration.issues.params import EditIssue
from ingot.collaboration.issues.policy import IssueLookup, may_edit_issue
from ingot.collaboration.issues.queries import find_issue
from ingot.collaboration.issues.service import edit_issue, lock_issue_row
from ingot.collaboration.issues.tables import Issue
from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict
from ingot.core.markup.tasks import tick_task


def description_version(description: str | None) -> str:
    """Return a hash of a description, by which a concurrent edit is detected."""
    return blake2b((description or "").encode(), digest_size=12).hexdigest()


def tick_issue_task(db: Connection, actor: Actor, lookup: IssueLookup, number: int, seen: str, *, done: bool) -> Issue:
    """Check or uncheck a task item; raise ``Conflict`` if the description is not the version ``seen`` any more."""
    description = lock_issue_row(db, lookup.issue).description
    ticked = tick_task(description or "", number, done=done)
    if ticked is None or description_version(description) != seen:
        raise Conflict("The description has changed meanwhile")
    return edit_issue(db, actor, lookup, EditIssue(description=ticked))


def tick_task_of(
    db: Connection, actor: Actor, project_id: int, iid: str, number: int, seen: str, *, done: bool
) -> Issue:
    """Tick a task of an issue, or untick it; raise NotFound or Denied for callers who may not edit the issue."""
    found = find_issue(db, actor, str(project_id), iid)
    require(may_edit_issue(actor, found.access, found))
    return tick_issue_task(db, actor, found, number, seen, done=done)
