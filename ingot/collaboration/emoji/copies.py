"""Copying of award emoji to another subject, used when an issue is moved."""

from sqlalchemy import bindparam, insert, select

from ingot.collaboration.emoji.tables import award_emoji
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection

_MATCHING = ("user_id", "former_user_id", "name", "created_at", "updated_at")
_COPY = insert(award_emoji).from_select(
    ["project_id", "subject_kind", "subject_id", *_MATCHING],
    select(
        bindparam("project", type_=award_emoji.c.project_id.type),
        bindparam("kind", type_=award_emoji.c.subject_kind.type),
        bindparam("subject", type_=award_emoji.c.subject_id.type),
        *(award_emoji.c[name] for name in _MATCHING),
    )
    .where(award_emoji.c.subject_kind == bindparam("kind"), award_emoji.c.subject_id == bindparam("source"))
    .order_by(award_emoji.c.id),
)


def copy_awards(db: Connection, source: Subject, target: Subject) -> None:
    """Copy the awards of ``source`` to ``target``, with the same users; the caller updates the vote counts."""
    db.run(_COPY, source=source.id, project=target.project_id, kind=target.kind, subject=target.id)
