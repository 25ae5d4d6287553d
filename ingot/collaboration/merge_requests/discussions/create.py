"""Creation of discussions: git checks the line first, then one transaction writes the note."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from ingot.collaboration.merge_requests.discussions.params import (
    CreateDiscussion,
    LineRangeParams,
    PositionParams,
    RangeEndParams,
)
from ingot.collaboration.merge_requests.versions.line_notes import DIFF_NOTE, note_position_columns
from ingot.collaboration.merge_requests.versions.positions import (
    DiffPosition,
    LineRange,
    RangeEnd,
    is_in_diff,
    range_end_or_none,
)
from ingot.collaboration.merge_requests.versions.queries import version_with_head
from ingot.collaboration.notes.service import IN_DISCUSSION, validate_body, write_note
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.api.params import MissingParameter
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Invalid
from ingot.git.core.repository import Repository

_LINE_CODE = re.compile(r"[0-9a-f]{40}_([0-9]{1,9})_([0-9]{1,9})")
T = TypeVar("T")


def create_discussion(
    database: Database,
    repository: Repository,
    actor: Actor,
    subject_access: SubjectAccess,
    params: CreateDiscussion,
    show: Callable[[Connection, Note], T],
    after_note: Callable[[Connection, T], object] | None = None,
) -> T:
    """Create a discussion, on a line of a version if the request names one; return the result of ``show``.

    ``after_note`` runs in the same transaction with that result; it executes the quick actions of the text.
    """
    validate_body(params.body)
    position: Mapping[str, object] | None = None
    if params.position not in (None, PositionParams()):  # Some clients send an empty position.
        merge_request_id = subject_access.subject.id or 0
        position = note_position_columns(validated_position(database, repository, merge_request_id, params.position))

    def write(db: Connection) -> T:
        type = DIFF_NOTE if position else IN_DISCUSSION
        view = show(db, write_note(db, actor, subject_access, params, type, position))
        if after_note is not None:
            after_note(db, view)
        return view

    return database.write(write)


def validated_position(
    database: Database, repository: Repository, merge_request_id: int, params: PositionParams
) -> DiffPosition:
    """Return the position that a request names; raise ``Invalid`` if it is not a line of a version."""
    for name in ("base_sha", "start_sha", "head_sha"):
        if not getattr(params, name):
            raise MissingParameter(f"position[{name}]")
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
    if params.line_range in (None, LineRangeParams()) or params.position_type != "text":
        return position
    return msgspec.structs.replace(position, line_range=_validated_range(repository, position, params.line_range))


def _validated_range(repository: Repository, position: DiffPosition, params: LineRangeParams) -> LineRange:
    """Return the range that a request names; raise ``Invalid`` if its lines are not in the diff, or not in order."""
    start, end = (
        range_end_or_none(repository, position, *_line_numbers(each or RangeEndParams()))
        for each in (params.start, params.end)
    )
    if start is None or end is None or _is_after(start, end):
        raise Invalid(line_range=["is invalid"])
    return LineRange(start, end)


def _line_numbers(params: RangeEndParams) -> tuple[int | None, int | None]:
    """Return the old and new number of a line; older clients send only its code, and its type unless unchanged."""
    if params.old_line is not None or params.new_line is not None:
        return params.old_line, params.new_line
    numbers = _LINE_CODE.fullmatch(params.line_code)
    if numbers is None:
        return None, None
    old, new = int(numbers[1]), int(numbers[2])
    return {"new": (None, new), "old": (old, None)}.get(params.type or "", (old, new))


def _is_after(start: RangeEnd, end: RangeEnd) -> bool:
    """Return whether a line comes after another one; a removed and an added line cannot be compared."""
    pairs = ((start.old_line, end.old_line), (start.new_line, end.new_line))
    return any(first is not None and last is not None and first > last for first, last in pairs)
