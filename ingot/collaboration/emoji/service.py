"""What changes award emoji."""

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, select, text

from ingot.collaboration.emoji import policy
from ingot.collaboration.emoji.events import AwardGiven, VotesChanged
from ingot.collaboration.emoji.queries import find_award
from ingot.collaboration.emoji.tables import Award, award_emoji
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.events.bus import emit
from ingot.core.markup.emoji import canonical_name
from ingot.errors import NotFound

# Who gives the same twice at once gives it once; no row comes back where it was there.
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
    award_emoji.c.name == bindparam("wanted"),
)
_DELETE = delete(award_emoji).where(
    award_emoji.c.subject_kind == bindparam("kind"), in_list(award_emoji.c.subject_id, "subjects")
)


def give_award(db: Connection, actor: Actor, subject: Subject, typed: str) -> Award:
    """Give an emoji to something, once."""
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
    """Give an emoji to something, or take back what one gave."""
    given = db.first(Award, _EXISTING, kind=subject.kind, subject=subject.id, giver=actor.user_id, wanted=name)
    if given is None:
        give_award(db, actor, subject, name)
    else:
        remove_award(db, given)


def remove_award(db: Connection, award: Award) -> None:
    """Take back what was given; what happened twice at once happened once."""
    if db.delete(award_emoji, award.id):
        _update_votes(db, award.subject_kind, award.subject_id, award.name, -1)


def delete_awards(db: Connection, kind: str, subject_ids: Sequence[int]) -> None:
    """Remove what was given to things that go."""
    db.run(_DELETE, kind=kind, subjects=list(subject_ids))


def _update_votes(db: Connection, kind: str, subject_id: int | None, name: str, by: int) -> None:
    if subject_id is None:
        return
    if name == policy.UPVOTE:
        emit(db, VotesChanged(kind, subject_id, upvotes=by))
    elif name == policy.DOWNVOTE:
        emit(db, VotesChanged(kind, subject_id, downvotes=by))
