"""Queries of award emoji."""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Select, bindparam, or_, select

from ingot.collaboration.emoji.tables import Award, award_emoji
from ingot.collaboration.subjects import Subject
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import Invalid, NotFound

_OF_SUBJECT = select(award_emoji).where(
    award_emoji.c.subject_kind == bindparam("kind"), award_emoji.c.subject_id == bindparam("subject")
)
_LIST = list_query(_OF_SUBJECT, award_emoji.c.id, award_emoji.c.id.asc())
_OF_MANY = (
    select(award_emoji)
    .where(award_emoji.c.subject_kind == bindparam("kind"), in_list(award_emoji.c.subject_id, "subjects"))
    .order_by(award_emoji.c.id)
)
_WITH_NOTES = (
    select(award_emoji)
    .where(
        or_(
            (award_emoji.c.subject_kind == bindparam("kind")) & (award_emoji.c.subject_id == bindparam("subject")),
            (award_emoji.c.subject_kind == "note") & in_list(award_emoji.c.subject_id, "notes"),
        )
    )
    .order_by(award_emoji.c.id)
)
_ONE = _OF_SUBJECT.where(award_emoji.c.id == bindparam("award"))


def list_awards(db: Connection, subject: Subject, page: Page) -> Listing[Award]:
    """Return a page of the awards of a subject, oldest first."""
    return fetch_page(db, Award, _LIST, page, kind=subject.kind, subject=subject.id)


def awards_by_subject(db: Connection, kind: str, subject_ids: Sequence[int]) -> dict[int, list[Award]]:
    """Map subject ids to their awards, oldest first, with one statement for all."""
    awards: defaultdict[int, list[Award]] = defaultdict(list)
    for award in db.all(Award, _OF_MANY, kind=kind, subjects=list(subject_ids)):
        awards[award.subject_id].append(award)
    return awards


def awards_with_notes(db: Connection, subject: Subject, note_ids: Sequence[int]) -> dict[tuple[str, int], list[Award]]:
    """Return the awards of a subject and of notes about it, by kind and id, the oldest first; one statement for all."""
    given: defaultdict[tuple[str, int], list[Award]] = defaultdict(list)
    for award in db.all(Award, _WITH_NOTES, kind=subject.kind, subject=subject.id, notes=list(note_ids)):
        given[award.subject_kind, award.subject_id].append(award)
    return given


def award_or_none(db: Connection, subject: Subject, number: str) -> Award | None:
    """Return an award of a subject by its id, or None; raise Invalid if the id is not a number."""
    award_id = number_or_none(number)
    if award_id is None:
        raise Invalid(award_id=["is invalid"])
    return db.first(Award, _ONE, kind=subject.kind, subject=subject.id, award=award_id)


def find_award(db: Connection, subject: Subject, number: str) -> Award:
    """Return an award of a subject by its id; raise NotFound if there is none."""
    award = award_or_none(db, subject, number)
    if award is None:
        raise NotFound("Award Emoji")
    return award


def has_award_from(kind: str, name: str | None = None) -> Select[tuple[int]]:
    """Select the ids of the subjects that the user bound to ``giver`` gave an emoji to.

    With ``name``, only the emoji bound to that parameter counts.
    """
    query = select(award_emoji.c.subject_id).where(
        award_emoji.c.user_id == bindparam("giver"), award_emoji.c.subject_kind == kind
    )
    return query if name is None else query.where(award_emoji.c.name == bindparam(name))
