"""Sources of imported cross-references, by which related merge requests are found and confidential ones are hidden."""

import re

from sqlalchemy import bindparam, select

from ingot.collaboration.issues.tables import issues
from ingot.collaboration.merge_requests.tables import merge_requests
from ingot.collaboration.notes.service import MENTION
from ingot.collaboration.notes.tables import notes
from ingot.core.db.connection import Connection
from ingot.import_export.target.rows import rows_by_values, update_rows

_UNRESOLVED = select(notes.c.id, notes.c.body).where(
    notes.c.project_id == bindparam("project"),
    notes.c.system,
    notes.c.action == MENTION,
    notes.c.source_kind.is_(None),
)
_TEXT = re.compile(r"mentioned in (issue #|merge request !)([0-9]{1,9})")
_KINDS = {"issue #": "issue", "merge request !": "merge_request"}


def resolve_mentions(db: Connection, project_id: int) -> None:
    """Set the source of cross-references from issues and merge requests of the project, which all exist by now."""
    found = [
        (note_id, _KINDS[match[1]], int(match[2]))
        for note_id, body in db.rows(_UNRESOLVED, project=project_id)
        if (match := _TEXT.fullmatch(body)) is not None
    ]
    if not found:
        return
    numbers = {kind: {iid for _, each, iid in found if each == kind} for kind in _KINDS.values()}
    rows = {
        "issue": rows_by_values(db, issues, ("project_id", project_id), "iid", numbers["issue"], "id"),
        "merge_request": rows_by_values(
            db, merge_requests, ("target_project_id", project_id), "iid", numbers["merge_request"], "id"
        ),
    }
    resolved = [
        (note_id, {"source_kind": kind, "source_id": rows[kind][iid][0], "source_project_id": project_id})
        for note_id, kind, iid in found
        if iid in rows[kind]
    ]
    update_rows(db, notes, resolved)
