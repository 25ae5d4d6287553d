"""State changes of award emoji."""

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, select, text

from ingot.collaboration.emoji import policy
from ingot.collaboration.emoji.events import AwardGiven, AwardRemoved, VotesChanged
from ingot.collaboration.emoji.queries import find_award
from ingot.collaboration.emoji.tables import Award, award_emoji
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import NotFound
from ingot.core.events.bus import emit
from ingot.core.markup.emoji import canonical_name

# Concurrent identical requests insert one row; no row is returned when it already exists.
_INSERT = text(
    "INSERT INTO award_emoji"
    " (project_id, subject_kind, subject_id, user_id, former_user_id, name, created_at, updated_at)"
    " VALUES (:project, :kind, :subject, :giver, 0, :name, :now, :now)"
    " ON CONFLICT (subject_kind, subject_id, user_id, name, former_user_id) DO NOTHING RETURNING id"
)
_EXISTING = select(award_emoji).where(
    award_emoji.c.subject_kind == bindparam("kind"),
    award_emoji.c.subject_id == bindparam("subject"),
    award_emoji.c.user_id == bindparam("giver"),
    award_emoji.c.name == bindparam("emoji"),
)
_DELETE = delete(award_emoji).where(
    award_emoji.c.subject_kind == bindparam("kind"), in_list(award_emoji.c.subject_id, "subjects")
)


def give_award(db: Connection, actor: Actor, subject: Subject, typed: str) -> Award:
    """Add an award to a subject; raise NotFound if the emoji is unknown, not allowed or already given."""
    name = canonical_name(typed)
    if name is None:
        raise NotFound(message="404 Award Emoji Name is not included in the list Not Found")
    if not policy.may_give_award(actor, subject, name):
        raise NotFound("Award Emoji")
    row = {"project": subject.project_id, "kind": subject.kind, "subject": subject.id}
    award_id = db.value(_INSERT, **row, giver=actor.user_id, name=name, now=db.now)
    if award_id is None:
        raise NotFound(message="404 Award Emoji Name has already been taken Not Found")
    _update_votes(db, subject.kind, subject.id, name, 1)
    if subject.id is not None:
        emit(db, AwardGiven(subject.kind, subject.id, actor.user_id))
    return find_award(db, subject, str(award_id))


def toggle_award(db: Connection, actor: Actor, subject: Subject, name: str) -> None:
    """Add an award to a subject, or remove it if the caller already gave it."""
    award = db.first(Award, _EXISTING, kind=subject.kind, subject=subject.id, giver=actor.user_id, emoji=name)
    if award is None:
        give_award(db, actor, subject, name)
    else:
        remove_award(db, award)


def remove_award(db: Connection, award: Award) -> None:
    """Remove an award; a concurrent second removal changes nothing."""
    if db.delete_counted(award_emoji, award.id):
        _update_votes(db, award.subject_kind, award.subject_id, award.name, -1)
        emit(db, AwardRemoved(award.subject_kind, award.subject_id))


def delete_awards(db: Connection, kind: str, subject_ids: Sequence[int]) -> None:
    """Delete all awards of subjects that are being deleted."""
    db.run(_DELETE, kind=kind, subjects=list(subject_ids))


def _update_votes(db: Connection, kind: str, subject_id: int | None, name: str, by: int) -> None:
    if subject_id is None:
        return
    if name == policy.UPVOTE:
        emit(db, VotesChanged(kind, subject_id, upvotes=by))
    elif name == policy.DOWNVOTE:
        emit(db, VotesChanged(kind, subject_id, downvotes=by))
