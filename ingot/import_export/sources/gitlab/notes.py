"""Discussions, notes, awards and resource events of GitLab's API as records."""

from collections.abc import Mapping, Sequence
from typing import Any

from ingot.import_export.sources.gitlab.item_shapes import (
    GitLabAward,
    GitLabDiscussion,
    GitLabNote,
    GitLabPosition,
    GitLabResourceEvent,
    GitLabSuggestion,
)
from ingot.import_export.sources.gitlab.users import GitLabUsers
from ingot.import_export.work_item_records import (
    AwardRecord,
    DiscussionRecord,
    LabelEventRecord,
    MilestoneEventRecord,
    NoteRecord,
    PositionRecord,
    StateEventRecord,
    SuggestionRecord,
)

Awards = Mapping[int, Sequence[GitLabAward]]


def discussion_records(
    users: GitLabUsers, discussions: Sequence[GitLabDiscussion], awards: Awards
) -> list[DiscussionRecord]:
    """Build the records of discussions; ``awards`` are those of their notes, by the note's id."""
    return [
        DiscussionRecord(
            key=discussion.id,
            individual_note=discussion.individual_note,
            notes=[_note_record(users, note, awards.get(note.id, ())) for note in discussion.notes],
        )
        for discussion in discussions
        if discussion.notes
    ]


def award_records(users: GitLabUsers, awards: Sequence[GitLabAward]) -> list[AwardRecord]:
    """Build the records of awards."""
    return [
        AwardRecord(key=str(award.id), name=award.name, user=users.record(award.user), created_at=award.created_at)
        for award in awards
    ]


def label_event_records(users: GitLabUsers, events: Sequence[GitLabResourceEvent]) -> list[LabelEventRecord]:
    """Build the records of label events."""
    return [
        LabelEventRecord(
            key=str(event.id),
            user=users.record(event.user),
            action="remove" if event.action == "remove" else "add",
            label=event.label.name if event.label else None,
            created_at=event.created_at,
        )
        for event in events
    ]


def milestone_event_records(users: GitLabUsers, events: Sequence[GitLabResourceEvent]) -> list[MilestoneEventRecord]:
    """Build the records of milestone events."""
    return [
        MilestoneEventRecord(
            key=str(event.id),
            user=users.record(event.user),
            action="remove" if event.action == "remove" else "add",
            milestone=str(event.milestone.id) if event.milestone else None,
            created_at=event.created_at,
        )
        for event in events
    ]


def state_event_records(users: GitLabUsers, events: Sequence[GitLabResourceEvent]) -> list[StateEventRecord]:
    """Build the records of state events."""
    return [
        StateEventRecord(
            key=str(event.id), user=users.record(event.user), state=event.state, created_at=event.created_at
        )
        for event in events
    ]


def _note_record(users: GitLabUsers, note: GitLabNote, awards: Sequence[GitLabAward]) -> NoteRecord:
    return NoteRecord(
        key=str(note.id),
        author=users.record(note.author),
        body=note.body,
        created_at=note.created_at,
        updated_at=note.updated_at,
        system=note.system,
        internal=bool(note.confidential or note.internal),
        resolvable=note.resolvable,
        resolved=bool(note.resolved),
        resolved_by=users.record_or_none(note.resolved_by),
        resolved_at=note.resolved_at,
        position=position_record(note.position) if note.position is not None else None,
        suggestions=[_suggestion_record(each, note.position) for each in note.suggestions],
        awards=award_records(users, awards),
    )


def position_record(position: GitLabPosition) -> PositionRecord | None:
    """Build the record of a position, or return None if it names no commit or file."""
    path = position.new_path or position.old_path
    if not (position.start_sha and position.head_sha and path):
        return None
    points: dict[str, Any] = {
        name: round(value) for name in ("width", "height", "x", "y") if (value := getattr(position, name)) is not None
    }
    return PositionRecord(
        base_sha=position.base_sha or position.start_sha,
        start_sha=position.start_sha,
        head_sha=position.head_sha,
        old_path=position.old_path or path,
        new_path=path,
        position_type=position.position_type or "text",
        old_line=position.old_line,
        new_line=position.new_line,
        line_range=position.line_range,
        **points,
    )


def _suggestion_record(suggestion: GitLabSuggestion, position: GitLabPosition | None) -> SuggestionRecord:
    line = (position.new_line if position else None) or suggestion.from_line
    return SuggestionRecord(
        from_content=suggestion.from_content,
        to_content=suggestion.to_content,
        lines_above=max(0, line - suggestion.from_line),
        lines_below=max(0, suggestion.to_line - line),
        applied=suggestion.applied,
    )
