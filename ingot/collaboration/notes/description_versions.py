"""Versions of the descriptions of issues and merge requests, by the system notes about their changes."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, select, update

from ingot.collaboration.notes.tables import description_versions, notes
from ingot.collaboration.subjects import Subject, SubjectAccess
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import NotFound

DESCRIPTION = "description"
"""The ``action`` of the notes."""
DESCRIPTION_CHANGED = "changed the description"
_VERSIONED = select(description_versions.c.note_id).where(in_list(description_versions.c.note_id, "notes"))
_PUBLIC = _VERSIONED.where(description_versions.c.internal.is_(False))
# The note and the next one about the description, each with its version if it has one.
_FROM_NOTE = (
    select(notes.c.id, description_versions.c.id, description_versions.c.description, description_versions.c.internal)
    .outerjoin(description_versions, description_versions.c.note_id == notes.c.id)
    .where(
        notes.c.subject_kind == bindparam("kind"),
        notes.c.subject_id == bindparam("subject"),
        notes.c.id >= bindparam("note"),
        notes.c.action == DESCRIPTION,
    )
    .order_by(notes.c.id)
    .limit(2)
)
_DELETE = (
    update(description_versions).where(description_versions.c.note_id == bindparam("of_note")).values(description=None)
)


class DescriptionChange(NamedTuple):
    """Texts before and after a change; None for one that was deleted, or that the caller may not see."""

    before: str | None
    after: str | None


def record_version(db: Connection, note_id: int, before: str | None, *, internal: bool) -> None:
    """Keep the description before the change that a note is about."""
    db.insert_row(description_versions, note_id=note_id, description=before or "", internal=internal)


def versioned_notes(db: Connection, note_ids: Sequence[int], *, internal: bool) -> set[int]:
    """Return the notes that have a version which the caller may see; ``internal`` is whether internal ones count."""
    return {note_id for (note_id,) in db.rows(_VERSIONED if internal else _PUBLIC, notes=list(note_ids))}


def find_change(db: Connection, access: SubjectAccess, present: str | None, note_id: int) -> DescriptionChange:
    """Return the change that a note on a subject is about; raise NotFound without one that the caller may see."""
    rows = _versions_from(db, access.subject, note_id)
    if not rows or rows[0][0] != note_id or rows[0][1] is None:
        raise NotFound("Description version")
    texts = [None if internal and not access.may_see_internal else text for _, _, text, internal in rows]
    if rows[0][3] and not access.may_see_internal:
        raise NotFound("Description version")
    return DescriptionChange(texts[0], texts[1] if len(texts) > 1 else present or "")


def delete_version(db: Connection, access: SubjectAccess, note_id: int) -> None:
    """Delete the text before the change that a note is about; the change before it then has no text either."""
    find_change(db, access, None, note_id)
    db.run(_DELETE, of_note=note_id)


def _versions_from(db: Connection, subject: Subject, note_id: int) -> list[tuple[int, int | None, str | None, bool]]:
    rows = db.rows(_FROM_NOTE, kind=subject.kind, subject=subject.id, note=note_id)
    return [(found, version, text, bool(internal)) for found, version, text, internal in rows]
