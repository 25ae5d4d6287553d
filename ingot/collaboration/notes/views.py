"""Response structs of notes and discussions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.collaboration.notes.queries import SUGGESTION_MARK, comments_on_lines, suggestions_of
from ingot.collaboration.notes.tables import Note, NoteSuggestion
from ingot.collaboration.quick_actions.command_context import CommandResult
from ingot.collaboration.subjects import Subject
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.git.diffs.line_positions import Side

TYPES = {"issue": "Issue", "merge_request": "MergeRequest", "snippet": "Snippet", "commit": "Commit", "note": "Note"}
"""The kinds of subjects as they are named in API responses."""


class CommentView(View):
    """A comment on a commit, with its line, if any."""

    note: str
    path: str | None
    line: int | None
    line_type: Side | None
    author: UserBrief
    created_at: Timestamp


class SuggestionView(View):
    """A change of lines that a note on a diff suggests."""

    id: int
    from_line: int
    to_line: int
    appliable: bool
    applied: bool
    from_content: str
    to_content: str


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
    suggestions: list[SuggestionView] | UnsetType = UNSET
    commands_changes: dict[str, Any] | UnsetType = UNSET
    """Edits by the quick actions in the text; only in the response to the creation of a note with some."""
    summary: list[str] | UnsetType = UNSET
    """A sentence for each executed quick action, likewise."""


class DiscussionView(View):
    """The notes of a discussion; ``individual_note`` is true for one without replies."""

    id: str
    individual_note: bool
    notes: list[NoteView]


def comment_views(db: Connection, comments: Sequence[Note], base: str) -> list[CommentView]:
    """Build the views of a page of comments, with one statement for all authors."""
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


def note_views(db: Connection, subject: Subject, notes: Sequence[Note], base: str) -> list[NoteView]:
    """Build the views of a page of notes on a subject, with one statement for all users."""
    views = views_of_notes(db, notes, lambda _: subject.iid, base)
    on_lines = [note for note in notes if note.position is not None]
    suggested = suggestions_of(db, [note.id for note in on_lines if SUGGESTION_MARK in note.body])
    for view, note in zip(views, notes, strict=True):
        if note.position is not None:
            found = suggested.get(note.id, [])
            view.suggestions = [suggestion_view(each, note, open=subject.state == "opened") for each in found]
    return views


def suggestion_view(suggestion: NoteSuggestion, note: Note, *, open: bool) -> SuggestionView:
    """Build the view of a suggestion; ``open`` is whether its merge request can still change."""
    last = (note.new_line or 0) + suggestion.lines_below
    differs = suggestion.from_content != suggestion.to_content
    return SuggestionView(
        id=suggestion.id,
        from_line=max(1, (note.new_line or 0) - suggestion.lines_above),
        to_line=last,
        appliable=open and differs and not suggestion.applied and not suggestion.outdated,
        applied=suggestion.applied,
        from_content=suggestion.from_content,
        to_content=suggestion.to_content,
    )


def views_of_notes(
    db: Connection, notes: Sequence[Note], iid_of: Callable[[Note], int | None], base: str
) -> list[NoteView]:
    """Build the views of notes on different subjects; ``iid_of`` returns the iid of a note's subject."""
    if not notes:
        return []
    user_ids = [user_id for note in notes for user_id in (note.author_id, note.resolved_by_id) if user_id is not None]
    briefs = user_briefs_by_ids(db, user_ids, base)
    # Positional arguments halve the construction time, which matters in lists.
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
        for note in notes
    ]


class CommandsView(View):
    """The result of a text that contained only quick actions."""

    commands_changes: dict[str, Any]
    summary: list[str]


def add_command_result(view: NoteView | DiscussionView, result: CommandResult) -> None:
    """Add the result of the quick actions in the text of a new note to its view."""
    note = view.notes[0] if isinstance(view, DiscussionView) else view
    note.commands_changes, note.summary = result


def _resolution_and_position(note: Note, briefs: Mapping[int, UserBrief]) -> dict[str, Any]:
    """Return the resolution fields of a resolvable note and the position of a diff note."""
    fields: dict[str, Any] = {}
    if note.resolvable:
        fields = {
            "resolved": note.resolved_at is not None,
            "resolved_by": briefs.get(note.resolved_by_id or 0),
            "resolved_at": note.resolved_at,
        }
    if note.position is not None:
        fields["position"] = msgspec.json.decode(note.position)
    return fields


def note_view(db: Connection, subject: Subject, note: Note, base: str) -> NoteView:
    """Build the view of a note."""
    return note_views(db, subject, [note], base)[0]


def discussion_views(
    db: Connection,
    subject: Subject,
    first: Sequence[Note],
    notes_by_discussion: Mapping[str, Sequence[Note]],
    base: str,
) -> list[DiscussionView]:
    """Build the views of a page of discussions, with one statement for all users."""
    notes = [note for start in first for note in notes_by_discussion[start.discussion_id]]
    views = {view.id: view for view in note_views(db, subject, notes, base)}
    return [
        DiscussionView(
            start.discussion_id,
            start.shown_type is None,
            [views[note.id] for note in notes_by_discussion[start.discussion_id]],
        )
        for start in first
    ]


def discussion_view(db: Connection, subject: Subject, notes: Sequence[Note], base: str) -> DiscussionView:
    """Build the view of a discussion."""
    return discussion_views(db, subject, notes[:1], {notes[0].discussion_id: notes}, base)[0]


class LineComment(NamedTuple):
    """The line of a commit's diff that a comment is about."""

    note_id: int
    path: str
    side: str
    line: int | None


def line_comments(db: Connection, project_id: int, oid: str) -> list[LineComment]:
    """Return the comments on lines that a commit changes, the oldest first."""
    return [_line_comment(comment) for comment in comments_on_lines(db, project_id, oid)]


def _line_comment(comment: Note) -> LineComment:
    side = comment.line_type or "new"
    line = comment.old_line if side == "old" else comment.new_line
    return LineComment(comment.id, comment.new_path or "", side, line)
