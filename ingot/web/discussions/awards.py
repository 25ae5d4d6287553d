"""Emoji as pages show them: each once, with how many gave it and whether the visitor did."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ingot.db.connection import Connection
from ingot.emoji.queries import awards_of
from ingot.emoji.tables import Award
from ingot.markup.emoji import emoji_by_name, find_emoji
from ingot.users.accounts.queries import users_by_ids
from ingot.web.pages import Visit

OFFERED = ("thumbsup", "thumbsdown", "smile", "tada", "heart", "rocket", "eyes", "confused", "pray", "100")
_MOST_NAMES = 10
_MOST_OFFERED = 60


class Given(msgspec.Struct, frozen=True):
    """An emoji that some people gave to something."""

    name: str
    sign: str
    count: int
    mine: bool
    people: str


class Offer(msgspec.Struct, frozen=True):
    """An emoji that can be given."""

    name: str
    sign: str


def offers(search: str = "") -> list[Offer]:
    """What the picker shows: some that people like, or what a search finds among all."""
    if search.strip():
        return [Offer(name, sign) for name, sign in find_emoji(search, _MOST_OFFERED)]
    return [Offer(name, sign_of(name)) for name in OFFERED]


def sign_of(name: str) -> str:
    """The emoji itself; one that has no sign is shown by its name."""
    return emoji_by_name().get(name, f":{name}:")


def given_to(visit: Visit, wanted: Mapping[str, Sequence[int]]) -> dict[tuple[str, int], list[Given]]:
    """What subjects of some kinds were given, by kind and number; one statement for each kind, and one for people."""

    def look(db: Connection) -> dict[tuple[str, int], list[Given]]:
        found = {
            (kind, number): awards
            for kind, numbers in wanted.items()
            if numbers
            for number, awards in awards_of(db, kind, numbers).items()
        }
        if not found:
            return {}
        people = users_by_ids(db, [award.user_id for awards in found.values() for award in awards])
        names = {number: person.name for number, person in people.items()}
        me = visit.user.id if visit.user else None
        return {key: _counted(awards, names, me) for key, awards in found.items()}

    return visit.database.read(look)


def own_award(visit: Visit, kind: str, number: int, name: str) -> int | None:
    """The number of what the visitor gave to something already."""

    def look(db: Connection) -> int | None:
        awards = awards_of(db, kind, [number]).get(number, [])
        return next((award.id for award in awards if award.user_id == visit.signed_in.id and award.name == name), None)

    return visit.database.read(look)


def _counted(awards: Iterable[Award], names: Mapping[int, str], me: int | None) -> list[Given]:
    givers: dict[str, list[int]] = {}
    for award in awards:
        givers.setdefault(award.name, []).append(award.user_id)
    return [
        Given(name, sign_of(name), len(people), me in people, _said(people, names)) for name, people in givers.items()
    ]


def _said(people: Sequence[int], names: Mapping[int, str]) -> str:
    first = ", ".join(names.get(person, "somebody") for person in people[:_MOST_NAMES])
    return first if len(people) <= _MOST_NAMES else f"{first} and {len(people) - _MOST_NAMES} more"
