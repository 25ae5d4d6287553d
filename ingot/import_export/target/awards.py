"""Storage of award emoji."""

from collections.abc import Sequence

from ingot.collaboration.emoji.policy import DOWNVOTE, UPVOTE
from ingot.collaboration.emoji.tables import award_emoji
from ingot.core.markup.emoji import canonical_name
from ingot.import_export.target.context import StoreContext
from ingot.import_export.target.rows import Relation, moment, replace_rows
from ingot.import_export.work_item_records import AwardRecord

_KEY = ("subject_id", "user_id", "name")


def store_awards(context: StoreContext, kind: str, subjects: Sequence[tuple[int, Sequence[AwardRecord], bool]]) -> None:
    """Store the awards of subjects, given by id, with their awards and whether they are new."""
    rows = []
    for subject_id, awards, _ in subjects:
        for award in awards:
            name = canonical_name(award.name)
            if name is None:
                context.problem(f"The award emoji {award.name!r} is not known here and was omitted.")
                continue
            created_at = moment(award.created_at, context.db.now)
            rows.append(
                {
                    "project_id": context.project.id,
                    "subject_kind": kind,
                    "subject_id": subject_id,
                    "user_id": context.user(award.user),
                    "former_user_id": 0,
                    "name": name,
                    "created_at": created_at,
                    "updated_at": created_at,
                }
            )
    existing = [subject_id for subject_id, _, is_new in subjects if not is_new]
    replace_rows(context.db, Relation(award_emoji, "subject_id", _KEY, subject_kind=kind), existing, rows)


def votes(context: StoreContext, awards: Sequence[AwardRecord]) -> tuple[int, int]:
    """Return the number of up- and downvotes among awards; a user counts once."""
    given = {(context.user(award.user), canonical_name(award.name)) for award in awards}
    return sum(name == UPVOTE for _, name in given), sum(name == DOWNVOTE for _, name in given)
