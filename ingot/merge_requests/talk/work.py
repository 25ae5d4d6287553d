"""Beginning discussions about merge requests: what git has to say of a line first, then one transaction."""

from collections.abc import Callable, Mapping

from ingot.access.actor import Actor
from ingot.api.params import Missing
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.errors import Invalid
from ingot.git.repository import Repository
from ingot.merge_requests.talk.params import BeginDiscussion, Place
from ingot.merge_requests.versions.placed import position_columns
from ingot.merge_requests.versions.positions import Position, is_placed
from ingot.merge_requests.versions.queries import version_with_head
from ingot.notes.service import IN_DISCUSSION, validate_body, write_note
from ingot.notes.tables import Note
from ingot.subjects import Reached

ON_LINE = "DiffNote"


def begin_discussion(
    database: Database,
    repository: Repository,
    actor: Actor,
    reached: Reached,
    wanted: BeginDiscussion,
    show: Callable[[Connection, Note], object],
    then: Callable[[Connection], object] | None = None,
) -> object:
    """Begin a discussion, on a line of a version where one is named; gives what ``show`` makes of it.

    What its text commands is done right ``then``, in the same transaction.
    """
    validate_body(wanted.body)
    placed: Mapping[str, object] | None = None
    if wanted.position not in (None, Place()):  # Some clients send one in which nothing is said.
        placed = _placed(database, repository, reached, wanted.position)

    def write(db: Connection) -> object:
        type = ON_LINE if placed else IN_DISCUSSION
        shown = show(db, write_note(db, actor, reached, wanted, type, placed))
        if then is not None:
            then(db)
        return shown

    return database.write(write)


def _placed(database: Database, repository: Repository, reached: Reached, wanted: Place) -> Mapping[str, object]:
    for name in ("base_sha", "start_sha", "head_sha"):
        if not getattr(wanted, name):
            raise Missing(f"position[{name}]")
    number = reached.subject.id or 0
    version = database.read(lambda db: version_with_head(db, number, wanted.head_sha.lower()))
    # Only commits of the merge request itself: any other may be hidden from some of its readers.
    if version is None or (version.base_oid or "") != wanted.base_sha.lower():
        raise Invalid(position=["is invalid"])
    position = Position(
        base_sha=version.base_oid,
        start_sha=version.start_oid,
        head_sha=version.head_oid,
        old_path=wanted.old_path or wanted.new_path,
        new_path=wanted.new_path or wanted.old_path,
        position_type=wanted.position_type,
        old_line=wanted.old_line,
        new_line=wanted.new_line,
    )
    if not is_placed(repository, position):
        raise Invalid(line_code=["can't be blank", "must be a valid line code"])
    columns = position_columns(position)
    return {**columns, "original_position": columns["position"]}
