"""Response structs of award emoji."""

from collections.abc import Sequence
from typing import NamedTuple

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.collaboration.emoji.queries import awards_by_subject, awards_with_notes
from ingot.collaboration.emoji.tables import Award
from ingot.collaboration.subjects import Subject
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp

_TYPES = {"issue": "Issue", "merge_request": "MergeRequest", "snippet": "Snippet", "note": "Note"}


class AwardView(View):
    """An award emoji given by a user to a subject."""

    id: int
    name: str
    user: UserBrief
    created_at: Timestamp
    updated_at: Timestamp
    awardable_id: int
    awardable_type: str


def award_views(db: Connection, awards: Sequence[Award], base: str) -> list[AwardView]:
    """Build the views of a page of awards, with one statement for all users."""
    if not awards:
        return []
    users = users_by_ids(db, [award.user_id for award in awards])
    briefs = {user_id: user_brief(user, base) for user_id, user in users.items()}
    return [
        AwardView(
            id=award.id,
            name=award.name,
            user=briefs[award.user_id],
            created_at=award.created_at,
            updated_at=award.updated_at,
            awardable_id=award.subject_id,
            awardable_type=_TYPES[award.subject_kind],
        )
        for award in awards
    ]


def award_view(db: Connection, award: Award, base: str) -> AwardView:
    """Build the view of an award."""
    return award_views(db, [award], base)[0]


class AwardGivers(NamedTuple):
    """An emoji of a subject, and the users who gave it."""

    name: str
    user_ids: list[int]


def awards_by_emoji(
    db: Connection, subject: Subject, note_ids: Sequence[int] = ()
) -> dict[tuple[str, int], list[AwardGivers]]:
    """Return the givers of each emoji of a subject and of notes about it, by kind and id; one statement for all."""
    found: dict[tuple[str, int], list[AwardGivers]] = {}
    for key, awards in awards_with_notes(db, subject, note_ids).items():
        givers: dict[str, list[int]] = {}
        for award in awards:
            givers.setdefault(award.name, []).append(award.user_id)
        found[key] = [AwardGivers(name, user_ids) for name, user_ids in givers.items()]
    return found


def own_award_id(db: Connection, user_id: int, subject: Subject, name: str) -> int | None:
    """Return the id of the emoji that a user gave to a subject already."""
    awards = awards_by_subject(db, subject.kind, [subject.id or 0]).get(subject.id or 0, [])
    return next((award.id for award in awards if award.user_id == user_id and award.name == name), None)
