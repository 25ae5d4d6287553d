"""Subscribers that update an issue's counts and record its changes as system notes."""

from sqlalchemy import bindparam, update

from ingot.collaboration.emoji.events import VotesChanged
from ingot.collaboration.issues.discussions.system_notes import record_changes, record_move, record_opening
from ingot.collaboration.issues.events import IssueChanged, IssueMoved
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.tables import issues
from ingot.collaboration.notes.events import NoteAdded, NoteRemoved
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()
_ISSUE = issues.c.id == bindparam("issue")
_COUNT_NOTES = (
    update(issues)
    .where(_ISSUE)
    .values(user_notes_count=issues.c.user_notes_count + bindparam("more"), updated_at=bindparam("now"))
)
_COUNT_VOTES = (
    update(issues)
    .where(_ISSUE)
    .values(upvotes=issues.c.upvotes + bindparam("up"), downvotes=issues.c.downvotes + bindparam("down"))
)


@subscriptions.on(NoteAdded)
def count_note(db: Connection, event: NoteAdded) -> None:
    """Count a new note; internal notes are not counted, because not all readers see them."""
    if event.subject_kind == "issue" and not event.internal:
        db.run(_COUNT_NOTES, issue=event.subject_id, more=1, now=db.now)


@subscriptions.on(NoteRemoved)
def uncount_note(db: Connection, event: NoteRemoved) -> None:
    """Subtract a deleted note from the count."""
    if event.subject_kind == "issue" and not event.internal:
        db.run(_COUNT_NOTES, issue=event.subject_id, more=-1, now=db.now)


@subscriptions.on(VotesChanged)
def count_votes(db: Connection, event: VotesChanged) -> None:
    """Update the number of up- and downvotes."""
    if event.subject_kind == "issue":
        db.run(_COUNT_VOTES, issue=event.subject_id, up=event.upvotes, down=event.downvotes)


@subscriptions.on(IssueChanged)
def record_change(db: Connection, event: IssueChanged) -> None:
    """Record a change as system notes and resource events."""
    if event.action == "deleted":
        return
    issue = event.issue or issue_by_id(db, event.issue_id)
    if event.action == "opened":
        record_opening(db, event, issue)
    else:
        record_changes(db, event, issue)


@subscriptions.on(IssueMoved)
def record_issue_moved(db: Connection, event: IssueMoved) -> None:
    """Add system notes to the original and to the copy."""
    record_move(db, event.actor_id, issue_by_id(db, event.issue_id), issue_by_id(db, event.moved_to_id))
