"""Draft notes on lines: git checks the line first, then one transaction writes the draft."""

from ingot.collaboration.merge_requests.discussions.create import validated_position
from ingot.collaboration.merge_requests.discussions.params import PositionParams
from ingot.collaboration.merge_requests.reviews import service
from ingot.collaboration.merge_requests.reviews.params import CreateDraftNote, EditDraftNote
from ingot.collaboration.merge_requests.reviews.queries import find_draft
from ingot.collaboration.merge_requests.tables import DraftNote
from ingot.collaboration.merge_requests.versions.positions import DiffPosition
from ingot.collaboration.notes.service import validate_body
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Invalid
from ingot.git.core.repository import Repository

_UNDEFINED = "undefined"
"""Sent by some clients instead of no commit."""


def create_draft(
    database: Database, repository: Repository, actor: Actor, subject_access: SubjectAccess, params: CreateDraftNote
) -> DraftNote:
    """Create a draft note, on a line if the request names one."""
    validate_body(params.note)
    position = _position(database, repository, subject_access, params.position)
    commit_oid = params.commit_id if params.commit_id != _UNDEFINED else None

    def write(db: Connection) -> DraftNote:
        return service.add_draft(
            db,
            actor,
            subject_access,
            params.note,
            discussion_id=params.in_reply_to_discussion_id or None,
            resolve=params.resolve_discussion,
            position=position,
            commit_oid=commit_oid or None,
        )

    return database.write(write)


def edit_draft(
    database: Database,
    repository: Repository,
    actor: Actor,
    subject_access: SubjectAccess,
    path: dict[str, str],
    params: EditDraftNote,
) -> DraftNote:
    """Change the text of a draft note, and its line if the request names one."""
    if not params.note.strip():
        raise Invalid("Missing params to modify")
    merge_request_id = subject_access.subject.id or 0
    database.read(lambda db: find_draft(db, actor, merge_request_id, path))
    position = _position(database, repository, subject_access, params.position)

    def write(db: Connection) -> DraftNote:
        return service.edit_draft(db, find_draft(db, actor, merge_request_id, path), params.note, position)

    return database.write(write)


def _position(
    database: Database, repository: Repository, subject_access: SubjectAccess, params: PositionParams | None
) -> DiffPosition | None:
    if params is None or params == PositionParams():  # Some clients send an empty position.
        return None
    return validated_position(database, repository, subject_access.subject.id or 0, params)
