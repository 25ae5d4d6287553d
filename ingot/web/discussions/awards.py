"""Emoji as pages show them: each once, with how many gave it and whether the visitor did."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.emoji.queries import awards_by_subject
from ingot.collaboration.emoji.tables import Award
from ingot.core.db.connection import Connection
from ingot.core.markup.emoji import emoji_by_name, search_emoji
from ingot.web.page_routes import Visit

SUGGESTED_EMOJI = ("thumbsup", "thumbsdown", "smile", "tada", "heart", "rocket", "eyes", "confused", "pray", "100")
_MAX_NAMES = 10
_MAX_SUGGESTIONS = 60


class AwardSummary(msgspec.Struct, frozen=True):
    """An emoji that some people gave to something."""

    name: str
    sign: str
    count: int
    given_by_visitor: bool
    people: str


class EmojiOption(msgspec.Struct, frozen=True):
    """An emoji that can be given."""

    name: str
    sign: str


def emoji_options(search: str = "") -> list[EmojiOption]:
    """What the picker shows: some that people like, or what a search finds among all."""
    if search.strip():
        return [EmojiOption(name, sign) for name, sign in search_emoji(search, _MAX_SUGGESTIONS)]
    return [EmojiOption(name, emoji_character(name)) for name in SUGGESTED_EMOJI]


def emoji_character(name: str) -> str:
    """The emoji itself; one that has no sign is shown by its name."""
    return emoji_by_name().get(name, f":{name}:")


def award_summaries(visit: Visit, wanted: Mapping[str, Sequence[int]]) -> dict[tuple[str, int], list[AwardSummary]]:
    """What subjects of some kinds were given, by kind and number; one statement for each kind, and one for people."""

    def look(db: Connection) -> dict[tuple[str, int], list[AwardSummary]]:
        found = {
            (kind, number): awards
            for kind, numbers in wanted.items()
            if numbers
            for number, awards in awards_by_subject(db, kind, numbers).items()
        }
        if not found:
            return {}
        people = users_by_ids(db, [award.user_id for awards in found.values() for award in awards])
        names = {number: person.name for number, person in people.items()}
        me = visit.user.id if visit.user else None
        return {key: _summarize(awards, names, me) for key, awards in found.items()}

    return visit.database.read(look)


def own_award_id(visit: Visit, kind: str, number: int, name: str) -> int | None:
    """The number of what the visitor gave to something already."""

    def look(db: Connection) -> int | None:
        awards = awards_by_subject(db, kind, [number]).get(number, [])
        return next((award.id for award in awards if award.user_id == visit.signed_in.id and award.name == name), None)

    return visit.database.read(look)


def _summarize(awards: Iterable[Award], names: Mapping[int, str], me: int | None) -> list[AwardSummary]:
    givers: dict[str, list[int]] = {}
    for award in awards:
        givers.setdefault(award.name, []).append(award.user_id)
    return [
        AwardSummary(name, emoji_character(name), len(people), me in people, _names_text(people, names))
        for name, people in givers.items()
    ]


def _names_text(people: Sequence[int], names: Mapping[int, str]) -> str:
    first = ", ".join(names.get(person, "somebody") for person in people[:_MAX_NAMES])
    return first if len(people) <= _MAX_NAMES else f"{first} and {len(people) - _MAX_NAMES} more"
