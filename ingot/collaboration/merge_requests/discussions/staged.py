"""Beginning discussions about merge requests: what git has to say of a line first, then one transaction."""

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
    then: Callable[[Connection], object] | None = None,
) -> T:
    """Begin a discussion, on a line of a version where one is named; gives what ``show`` makes of it.

    What its text commands is done right ``then``, in the same transaction.
    """
    validate_body(params.body)
    placed: Mapping[str, object] | None = None
    if params.position not in (None, PositionParams()):  # Some clients send one in which nothing is said.
        placed = _validated_position(database, repository, subject_access, params.position)

    def write(db: Connection) -> T:
        type = DIFF_NOTE if placed else IN_DISCUSSION
        shown = show(db, write_note(db, actor, subject_access, params, type, placed))
        if then is not None:
            then(db)
        return shown

    return database.write(write)


def _validated_position(
    database: Database, repository: Repository, subject_access: SubjectAccess, params: PositionParams
) -> Mapping[str, object]:
    for name in ("base_sha", "start_sha", "head_sha"):
        if not getattr(params, name):
            raise MissingParameter(f"position[{name}]")
    number = subject_access.subject.id or 0
    version = database.read(lambda db: version_with_head(db, number, params.head_sha.lower()))
    # Only commits of the merge request itself: any other may be hidden from some of its readers.
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
