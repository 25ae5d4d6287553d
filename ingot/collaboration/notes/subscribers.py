"""Subscribers that handle the notes of deleted users and the award emoji of notes."""

from sqlalchemy import bindparam, select, update

from ingot.accounts.users.events import UserDeleting
from ingot.collaboration.emoji.events import AwardGiven, AwardRemoved
from ingot.collaboration.notes.queries import find_note
from ingot.collaboration.notes.service import delete_note
from ingot.collaboration.notes.tables import Note, notes
from ingot.collaboration.subjects import subject_topic
from ingot.core.db.announcements import announce
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()
_OF_USER = notes.c.author_id == bindparam("user")
_REASSIGN = update(notes).where(_OF_USER).values(author_id=bindparam("placeholder"))
_ALL = select(notes).where(_OF_USER).order_by(notes.c.id)


@subscriptions.on(UserDeleting)
def reassign_notes(db: Connection, event: UserDeleting) -> None:
    """Transfer the notes of a deleted user to the placeholder user, or delete them on a hard delete.

    They are deleted one by one because subscribers count them; system notes emit no event.
    """
    if not event.hard:
        db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
        return
    for note in db.all(Note, _ALL, user=event.user_id):
        delete_note(db, note)


@subscriptions.on(AwardGiven)
def announce_award_of_note(db: Connection, event: AwardGiven) -> None:
    """Announce the subject of a note to which an award was given."""
    _announce_note(db, event)


@subscriptions.on(AwardRemoved)
def announce_removed_award_of_note(db: Connection, event: AwardRemoved) -> None:
    """Announce the subject of a note from which an award was removed."""
    _announce_note(db, event)


def _announce_note(db: Connection, event: AwardGiven | AwardRemoved) -> None:
    if event.subject_kind == "note":
        note = find_note(db, event.subject_id)
        announce(db, subject_topic(note.subject_kind, note.subject_id))
