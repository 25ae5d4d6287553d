"""State changes of draft notes and suggestions."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import bindparam, select, update

from ingot.collaboration.merge_requests.discussions.service import resolve_discussion_notes
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.quick_actions.definitions import MERGE_REQUEST_COMMANDS
from ingot.collaboration.merge_requests.quick_actions.execute import execute_commands
from ingot.collaboration.merge_requests.tables import DraftNote, draft_notes
from ingot.collaboration.merge_requests.versions.line_notes import DIFF_NOTE, note_position_columns
from ingot.collaboration.merge_requests.versions.positions import DiffPosition, position_of
from ingot.collaboration.notes.params import WriteNote
from ingot.collaboration.notes.queries import find_discussion
from ingot.collaboration.notes.service import IN_DISCUSSION, reply_to_discussion, validate_body, write_note
from ingot.collaboration.notes.tables import suggestions
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import Invalid, NotFound
from ingot.core.markup.quick_actions import extract_commands
from ingot.git.maintenance.store import RepositoryStore

MAX_DRAFTS = 500
"""Number of draft notes of one user on one merge request."""
_COUNT = select(draft_notes.c.id).where(
    draft_notes.c.merge_request_id == bindparam("merge_request"), draft_notes.c.author_id == bindparam("author")
)
_BY_ID = select(draft_notes).where(draft_notes.c.id == bindparam("draft"))
_APPLIED = update(suggestions).where(in_list(suggestions.c.id, "ids")).values(applied=True, commit_oid=bindparam("oid"))


def add_draft(
    db: Connection,
    actor: Actor,
    subject_access: SubjectAccess,
    note: str,
    *,
    discussion_id: str | None = None,
    resolve: bool = False,
    position: DiffPosition | None = None,
    commit_oid: str | None = None,
) -> DraftNote:
    """Store a draft note, which replies to a discussion if one is given."""
    validate_body(note)
    merge_request_id = subject_access.subject.id or 0
    if discussion_id is not None:
        find_discussion(db, actor, subject_access, discussion_id)
    if len(db.rows(_COUNT, merge_request=merge_request_id, author=actor.user_id)) >= MAX_DRAFTS:
        raise Invalid(f"A review may have {MAX_DRAFTS} draft notes at most. Submit it first.")
    row_id = db.insert(
        draft_notes,
        merge_request_id=merge_request_id,
        author_id=actor.user_id,
        discussion_id=discussion_id,
        resolve_discussion=resolve,
        note=note,
        position=None if discussion_id or position is None else msgspec.json.encode(position).decode(),
        commit_oid=commit_oid,
        created_at=db.now,
        updated_at=db.now,
    )
    return _draft(db, row_id)


def edit_draft(db: Connection, draft: DraftNote, note: str, position: DiffPosition | None) -> DraftNote:
    """Change the text of a draft note, and its line if one is given."""
    validate_body(note)
    columns: dict[str, Any] = {"note": note, "updated_at": db.now}
    if position is not None and draft.discussion_id is None:
        columns["position"] = msgspec.json.encode(position).decode()
    db.update(draft_notes, draft.id, **columns)
    return _draft(db, draft.id)


def delete_draft(db: Connection, draft: DraftNote) -> None:
    """Delete a draft note."""
    db.delete(draft_notes, draft.id)


def publish_drafts(
    db: Connection,
    store: RepositoryStore,
    actor: Actor,
    lookup: MergeRequestLookup,
    subject_access: SubjectAccess,
    drafts: Sequence[DraftNote],
) -> None:
    """Turn draft notes into notes, in order, and execute their quick actions.

    A draft whose discussion was deleted meanwhile becomes a note of its own.
    """
    for draft in drafts:
        if not db.delete_counted(draft_notes, draft.id):
            continue  # A concurrent request has published it.
        body, commands = extract_commands(draft.note, MERGE_REQUEST_COMMANDS.names)
        if body:
            _publish(db, actor, subject_access, draft, WriteNote(body=body))
        if commands:
            execute_commands(db, store, actor, lookup, commands, None)


def publish_summary(
    db: Connection,
    store: RepositoryStore,
    actor: Actor,
    lookup: MergeRequestLookup,
    subject_access: SubjectAccess,
    params: WriteNote,
) -> None:
    """Write the summary of a review as a note, and execute its quick actions."""
    body, commands = extract_commands(params.body, MERGE_REQUEST_COMMANDS.names)
    if body:
        write_note(db, actor, subject_access, msgspec.structs.replace(params, body=body))
    if commands:
        execute_commands(db, store, actor, lookup, commands, None)


def _publish(
    db: Connection,
    actor: Actor,
    subject_access: SubjectAccess,
    draft: DraftNote,
    params: WriteNote,
) -> None:
    try:
        discussion = find_discussion(db, actor, subject_access, draft.discussion_id) if draft.discussion_id else []
    except NotFound:
        discussion = []
    if not discussion:
        position = position_of(draft.position)
        placed = note_position_columns(position) if position else None
        write_note(db, actor, subject_access, params, DIFF_NOTE if placed else IN_DISCUSSION, placed)
        return
    reply_to_discussion(db, actor, subject_access, discussion, params)
    if draft.resolve_discussion and subject_access.may_resolve:
        replied = find_discussion(db, actor, subject_access, discussion[0].discussion_id)
        resolve_discussion_notes(db, actor, subject_access.subject, replied, resolved=True)


def mark_suggestions_applied(db: Connection, ids: Sequence[int], oid: str) -> None:
    """Record that suggestions became a commit."""
    db.run(_APPLIED, ids=list(ids), oid=oid)


def _draft(db: Connection, draft_id: int) -> DraftNote:
    draft = db.first(DraftNote, _BY_ID, draft=draft_id)
    if draft is None:
        raise NotFound("Draft Note")
    return draft
