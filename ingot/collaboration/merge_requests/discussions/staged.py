"""Creation of discussions: git checks the line first, then one transaction writes the note."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from ingot.collaboration.merge_requests.discussions.params import CreateDiscussion, PositionParams
from ingot.collaboration.merge_requests.versions.line_notes import position_columns
from ingot.collaboration.merge_requests.versions.positions import DiffPosition, is_in_diff
from ingot.collaboration.merge_requests.versions.queries import version_with_head
from ingot.collaboration.notes.service import IN_DISCUSSION, validate_body, write_note
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.api.params import MissingParameter
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.errors import Invalid
from ingot.git.core.repository import Repository

DIFF_NOTE = "DiffNote"
T = TypeVar("T")


def create_discussion(
    database: Database,
    repository: Repository,
    actor: Actor,
    subject_access: SubjectAccess,
    params: CreateDiscussion,
    show: Callable[[Connection, Note], T],
    after_note: Callable[[Connection], object] | None = None,
) -> T:
    """Create a discussion, on a line of a version if the request names one; return the result of ``show``.

    ``after_note`` runs in the same transaction; it executes the quick actions of the text.
    """
    validate_body(params.body)
    position: Mapping[str, object] | None = None
    if params.position not in (None, PositionParams()):  # Some clients send an empty position.
        position = _validated_position(database, repository, subject_access, params.position)

    def write(db: Connection) -> T:
        type = DIFF_NOTE if position else IN_DISCUSSION
        view = show(db, write_note(db, actor, subject_access, params, type, position))
        if after_note is not None:
            after_note(db)
        return view

    return database.write(write)


def _validated_position(
    database: Database, repository: Repository, subject_access: SubjectAccess, params: PositionParams
) -> Mapping[str, object]:
    for name in ("base_sha", "start_sha", "head_sha"):
        if not getattr(params, name):
            raise MissingParameter(f"position[{name}]")
    merge_request_id = subject_access.subject.id or 0
    version = database.read(lambda db: version_with_head(db, merge_request_id, params.head_sha.lower()))
    # Accept only commits of the merge request itself, because others may be hidden from some of its readers.
    if version is None or (version.base_oid or "") != params.base_sha.lower():
        raise Invalid(position=["is invalid"])
    position = DiffPosition(
        base_sha=version.base_oid,
        start_sha=version.start_oid,
        head_sha=version.head_oid,
        old_path=params.old_path or params.new_path,
        new_path=params.new_path or params.old_path,
        position_type=params.position_type,
        old_line=params.old_line,
        new_line=params.new_line,
    )
    if not is_in_diff(repository, position):
        raise Invalid(line_code=["can't be blank", "must be a valid line code"])
    columns = position_columns(position)
    return {**columns, "original_position": columns["position"]}
