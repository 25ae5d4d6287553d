"""Award emoji of a page: each with its count and whether the viewer awarded it."""

from collections.abc import Mapping, Sequence

import msgspec

from ingot.accounts.users.views import names_by_ids
from ingot.collaboration.emoji.views import AwardGivers, awards_by_emoji, own_award_id
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.core.markup.emoji import emoji_by_name, search_emoji
from ingot.web.page_routes import Visit

SUGGESTED_EMOJI = ("thumbsup", "thumbsdown", "smile", "tada", "heart", "rocket", "eyes", "confused", "pray", "100")
_MAX_NAMES = 10
_MAX_SUGGESTIONS = 60


class AwardSummary(msgspec.Struct, frozen=True):
    """Emoji that was awarded to a subject, with its count."""

    name: str
    character: str
    count: int
    given_by_viewer: bool
    names: str


class EmojiOption(msgspec.Struct, frozen=True):
    """Emoji in the picker."""

    name: str
    character: str


def emoji_options(search: str = "") -> list[EmojiOption]:
    """Return the emoji of the picker: common ones, or the matches of a search among all."""
    if search.strip():
        return [EmojiOption(name, character) for name, character in search_emoji(search, _MAX_SUGGESTIONS)]
    return [EmojiOption(name, emoji_character(name)) for name in SUGGESTED_EMOJI]


def emoji_character(name: str) -> str:
    """Return the character of an emoji, or its name if it has none."""
    return emoji_by_name().get(name, f":{name}:")


def award_summaries(
    visit: Visit, subject: Subject, notes: Sequence[int] = ()
) -> dict[tuple[str, int], list[AwardSummary]]:
    """Return the awards of a subject and of notes about it, by kind and id."""

    user = visit.viewer.user
    viewer_id = user.id if user else None

    def read(db: Connection) -> dict[tuple[str, int], list[AwardSummary]]:
        awards_by_subject = awards_by_emoji(db, subject, notes)
        names = names_by_ids(
            db, [number for awards in awards_by_subject.values() for award in awards for number in award.user_ids]
        )
        return {
            key: [_award_summary(award, names, viewer_id) for award in awards]
            for key, awards in awards_by_subject.items()
        }

    return visit.database.read(read)


def with_default_awards(awarded: Sequence[AwardSummary], names: Sequence[str]) -> list[AwardSummary]:
    """Return the awards of a subject, first those of the emoji that its page always offers."""
    by_name = {award.name: award for award in awarded}
    defaults = {name: AwardSummary(name, emoji_character(name), 0, False, "") for name in names}
    return list((defaults | by_name).values())


def own_award(visit: Visit, subject: Subject, name: str) -> int | None:
    """Return the id of the viewer's award of this emoji, or None."""
    return visit.database.read(lambda db: own_award_id(db, visit.viewer.signed_in.id, subject, name))


def _award_summary(award: AwardGivers, names: Mapping[int, str], viewer_id: int | None) -> AwardSummary:
    user_ids = award.user_ids
    return AwardSummary(
        award.name, emoji_character(award.name), len(user_ids), viewer_id in user_ids, _names_text(user_ids, names)
    )


def _names_text(user_ids: Sequence[int], names: Mapping[int, str]) -> str:
    first = ", ".join(names.get(user_id, "Deleted user") for user_id in user_ids[:_MAX_NAMES])
    return first if len(user_ids) <= _MAX_NAMES else f"{first} and {len(user_ids) - _MAX_NAMES} more"
