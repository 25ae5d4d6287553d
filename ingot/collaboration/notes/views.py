"""How notes are shown."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.subjects import Subject
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.git.diffs.line_positions import Side

TYPES = {"issue": "Issue", "merge_request": "MergeRequest", "snippet": "Snippet", "commit": "Commit", "note": "Note"}
"""What clients know the kinds of subjects as."""


class CommentView(View):
    """A comment on a commit, with the line that it is placed on, if any."""

    note: str
    path: str | None
    line: int | None
    line_type: Side | None
    author: UserBrief
    created_at: Timestamp


class NoteView(View):
    """A note."""

    id: int
    type: str | None
    body: str
    attachment: str | None
    author: UserBrief
    created_at: Timestamp
    updated_at: Timestamp
    system: bool
    noteable_id: int | None
    noteable_type: str
    project_id: int | None
    commit_id: str | None
    resolvable: bool
    confidential: bool
    internal: bool
    noteable_iid: int | None
    resolved: bool | UnsetType = UNSET
    resolved_by: UserBrief | UnsetType | None = UNSET
    resolved_at: Timestamp | UnsetType | None = UNSET
    position: dict[str, Any] | UnsetType = UNSET


class DiscussionView(View):
    """Notes that belong together; one that nobody answered stands alone."""

    id: str
    individual_note: bool
    notes: list[NoteView]


def comment_views(db: Connection, comments: Sequence[Note], base: str) -> list[CommentView]:
    """A page of comments, with one statement for all authors."""
    briefs = user_briefs_by_ids(db, [comment.author_id for comment in comments], base)
    return [
        CommentView(
            note=comment.body,
            path=comment.new_path,
            line=comment.old_line if comment.line_type == "old" else comment.new_line,
            line_type=comment.line_type,
            author=briefs[comment.author_id],
            created_at=comment.created_at,
        )
        for comment in comments
    ]


def note_views(db: Connection, subject: Subject, found: Sequence[Note], base: str) -> list[NoteView]:
    """A page of the notes about a subject, with one statement for all authors."""
    return views_of_notes(db, found, lambda _: subject.iid, base)


def views_of_notes(
    db: Connection, found: Sequence[Note], iid_of: Callable[[Note], int | None], base: str
) -> list[NoteView]:
    """The same of notes about different subjects; ``iid_of`` says which number in its project the subject has."""
    if not found:
        return []
    people = [number for note in found for number in (note.author_id, note.resolved_by_id) if number is not None]
    briefs = user_briefs_by_ids(db, people, base)
    # In the order of the fields and without their names, which takes half as long.
    return [
        NoteView(
            note.id,
            note.shown_type,
            note.body,
            None,
            briefs[note.author_id],
            note.created_at,
            note.updated_at,
            note.system,
            note.subject_id,
            TYPES[note.subject_kind],
            note.project_id,
            note.commit_oid,
            note.resolvable,
            note.internal,
            note.internal,
            iid_of(note),
            **_resolution_and_position(note, briefs),
        )
        for note in found
    ]


class CommandsView(View):
    """What came of a text that held nothing but commands."""

    commands_changes: dict[str, Any]
    summary: list[str]


def _resolution_and_position(note: Note, briefs: Mapping[int, UserBrief]) -> dict[str, Any]:
    """Whether what a note asks for is settled, of those that can be, and where in a diff it is."""
    shown: dict[str, Any] = {}
    if note.resolvable:
        shown = {
            "resolved": note.resolved_at is not None,
            "resolved_by": briefs.get(note.resolved_by_id or 0),
            "resolved_at": note.resolved_at,
        }
    if note.position is not None:
        shown["position"] = msgspec.json.decode(note.position)
    return shown


def note_view(db: Connection, subject: Subject, note: Note, base: str) -> NoteView:
    """One note."""
    return note_views(db, subject, [note], base)[0]


def discussion_views(
    db: Connection, subject: Subject, first: Sequence[Note], together: Mapping[str, Sequence[Note]], base: str
) -> list[DiscussionView]:
    """A page of discussions by the note that begins each, with one statement for all authors."""
    found = [note for start in first for note in together[start.discussion_id]]
    views = {view.id: view for view in note_views(db, subject, found, base)}
    return [
        DiscussionView(
            start.discussion_id, start.shown_type is None, [views[note.id] for note in together[start.discussion_id]]
        )
        for start in first
    ]


def discussion_view(db: Connection, subject: Subject, found: Sequence[Note], base: str) -> DiscussionView:
    """One discussion."""
    return discussion_views(db, subject, found[:1], {found[0].discussion_id: found}, base)[0]
