"""How notes are found and listed."""

from sqlalchemy import bindparam, select

from ingot.db.connection import Connection
from ingot.db.paging import Listing, Page, fetch_page, list_query
from ingot.errors import NotFound
from ingot.notes.tables import Note, notes

COMMIT = "commit"

_BY_ID = select(notes).where(notes.c.id == bindparam("note"))
_WRITTEN = (
    select(notes.c.id)
    .where(
        notes.c.subject_kind == bindparam("kind"),
        notes.c.subject_id == bindparam("subject"),
        notes.c.author_id == bindparam("user"),
        notes.c.system.is_(False),
    )
    .limit(1)
)
_ON_COMMIT = list_query(
    select(notes).where(
        notes.c.project_id == bindparam("project"),
        notes.c.commit_oid == bindparam("oid"),
        notes.c.subject_kind == COMMIT,
    ),
    notes.c.id,
    notes.c.id.asc(),
)


def has_written(db: Connection, kind: str, subject_id: int, user_id: int) -> bool:
    """Whether somebody wrote a note about something."""
    return db.value(_WRITTEN, kind=kind, subject=subject_id, user=user_id) is not None


def find_note(db: Connection, note_id: int) -> Note:
    """The note with this number."""
    note = db.first(Note, _BY_ID, note=note_id)
    if note is None:
        raise NotFound("Note")
    return note


def list_comments(db: Connection, project_id: int, oid: str, page: Page) -> Listing[Note]:
    """A page of what was written about a commit in a project, the oldest first."""
    return fetch_page(db, Note, _ON_COMMIT, page, project=project_id, oid=oid)
