"""Issues and merge requests of an archive as records."""

from collections.abc import Sequence
from typing import Any, Literal

from ingot.import_export.records import CommitNoteRecord
from ingot.import_export.sources.archive.people import People
from ingot.import_export.sources.archive.tree import (
    TreeAward,
    TreeCommitNote,
    TreeCommitNoteLine,
    TreeEvent,
    TreeIssue,
    TreeMergeRequest,
    TreeMetrics,
    TreeMilestone,
    TreeNote,
    TreePosition,
    TreeVersion,
    TreeWorkItem,
)
from ingot.import_export.work_item_records import (
    ApprovalRecord,
    AwardRecord,
    DiscussionRecord,
    IssueRecord,
    LabelEventRecord,
    MergeRequestRecord,
    MilestoneEventRecord,
    NoteRecord,
    PositionRecord,
    ReviewRecord,
    StateEventRecord,
    SuggestionRecord,
    TimelineEventRecord,
    TimelogRecord,
    VersionRecord,
)

OLDEST = "1970-01-01T00:00:00.000Z"
"""Time of rows for which the archive has none."""
_TRUE = (True, 1, "1", "true")
_STATES = {"opened", "closed", "merged"}
_REVIEW_STATES: dict[str, Literal["reviewed", "requested_changes"]] = {
    "reviewed": "reviewed",
    "requested_changes": "requested_changes",
}


def milestone_key(milestone: TreeMilestone) -> str:
    """Return the key of a milestone: ids are not part of all archives."""
    return f"group {milestone.title}" if milestone.group_id is not None else f"project {milestone.iid}"


def issue_record(row: TreeIssue, people: People) -> IssueRecord:
    """Return an issue."""
    return IssueRecord(
        **_shared_fields(row, people, f"issue {row.iid}"),
        assignees=people.find_all(row.issue_assignees),
        closed_at=row.closed_at,
        closed_by=people.find_or_none(row.closed_by_id),
        confidential=bool(row.confidential),
        due_date=row.due_date,
        position=row.relative_position,
        issue_type=row.issue_type or (row.work_item_type and row.work_item_type.base_type) or "issue",
        severity=row.severity or "unknown",
        timeline_events=[
            TimelineEventRecord(
                author=people.find(event.author_id),
                note=event.note,
                occurred_at=event.occurred_at or row.created_at or OLDEST,
                created_at=event.created_at or event.occurred_at or OLDEST,
                updated_at=event.updated_at or event.created_at or OLDEST,
                tags=list(event.tags),
                action=event.action,
            )
            for event in row.timeline_events
        ],
    )


def merge_request_record(row: TreeMergeRequest, people: People) -> MergeRequestRecord:
    """Return a merge request."""
    key = f"merge request {row.iid}"
    metrics = row.metrics or TreeMetrics()
    last = row.merge_request_diff or TreeVersion()
    params = row.merge_params or {}
    versions = row.merge_request_diffs or ((row.merge_request_diff,) if row.merge_request_diff else ())
    from_fork = row.source_project_id is None or row.source_project_id != row.target_project_id
    return MergeRequestRecord(
        **_shared_fields(row, people, key),
        assignees=people.find_all(row.merge_request_assignees),
        reviewers=people.find_all(row.merge_request_reviewers),
        reviews=[
            ReviewRecord(user=people.find(link.user_id), state=state)
            for link in row.merge_request_reviewers
            if link.user_id is not None and (state := _REVIEW_STATES.get(link.state or "")) is not None
        ],
        source_branch=row.source_branch,
        target_branch=row.target_branch,
        source_project=(row.source_project_path or "deleted fork") if from_fork else None,
        head_sha=row.diff_head_sha or last.head_commit_sha,
        base_sha=last.base_commit_sha,
        start_sha=last.start_commit_sha,
        squash=bool(row.squash),
        remove_source_branch=params.get("force_remove_source_branch") in _TRUE,
        merge_commit_sha=row.merge_commit_sha,
        squash_commit_sha=row.squash_commit_sha,
        merged_at=metrics.merged_at,
        merged_by=people.find_or_none(metrics.merged_by_id or (row.merge_user_id if metrics.merged_at else None)),
        closed_at=metrics.latest_closed_at,
        closed_by=people.find_or_none(metrics.latest_closed_by_id),
        approvals=[
            ApprovalRecord(user=people.find(link.user_id), created_at=link.created_at or OLDEST)
            for link in row.approvals
            if link.user_id is not None
        ],
        versions=[_version(version, key, index) for index, version in enumerate(versions) if version.head_commit_sha],
    )


def _timelogs(row: TreeWorkItem, people: People, key: str) -> list[TimelogRecord]:
    return [
        TimelogRecord(
            key=f"{key} timelog {number}",
            user=people.find(log.user_id),
            seconds=log.time_spent,
            spent_at=log.spent_at or log.created_at or row.created_at or OLDEST,
            summary=log.summary,
        )
        for number, log in enumerate(row.timelogs)
        if log.time_spent
    ]


def _shared_fields(row: TreeWorkItem, people: People, key: str) -> dict[str, Any]:
    created_at = row.created_at or OLDEST
    return {
        "key": key,
        "iid": row.iid,
        "title": row.title,
        "author": people.find(row.author_id),
        "created_at": created_at,
        "updated_at": row.updated_at or created_at,
        "description": row.description,
        "state": row.state if row.state in _STATES else "opened",
        "labels": [link.label.title for link in row.label_links if link.label is not None],
        "milestone": None if row.milestone is None else milestone_key(row.milestone),
        "discussion_locked": bool(row.discussion_locked),
        "time_estimate": row.time_estimate or 0,
        "total_time_spent": max(0, sum(log.time_spent for log in row.timelogs)),
        "timelogs": _timelogs(row, people, key),
        "subscribers": people.find_all([link for link in row.subscriptions if link.subscribed]),
        "awards": award_records(row.award_emoji, people, key),
        "discussions": discussion_records(row.notes, people, key, resolvable=isinstance(row, TreeMergeRequest)),
        **_events(row, people, key),
    }


def _events(row: TreeWorkItem, people: People, key: str) -> dict[str, Any]:
    def shared(event: TreeEvent, kind: str, index: int) -> dict[str, Any]:
        return {
            "key": str(event.id) if event.id is not None else f"{key} {kind} {index}",
            "user": people.find(event.user_id),
            "created_at": event.created_at or OLDEST,
        }

    return {
        "label_events": [
            LabelEventRecord(
                **shared(event, "label", index),
                action="remove" if event.action == "remove" else "add",
                label=None if event.label is None else event.label.title,
            )
            for index, event in enumerate(row.resource_label_events)
        ],
        "milestone_events": [
            MilestoneEventRecord(
                **shared(event, "milestone", index),
                action="remove" if event.action == "remove" else "add",
                milestone=None if event.milestone is None else milestone_key(event.milestone),
            )
            for index, event in enumerate(row.resource_milestone_events)
        ],
        "state_events": [
            StateEventRecord(**shared(event, "state", index), state=event.state)
            for index, event in enumerate(row.resource_state_events)
            if event.state is not None
        ],
    }


def award_records(awards: Sequence[TreeAward], people: People, key: str) -> list[AwardRecord]:
    """Return the reactions of a subject or note."""
    return [
        AwardRecord(
            key=str(award.id) if award.id is not None else f"{key} {award.name} {award.user_id}",
            name=award.name,
            user=people.find(award.user_id),
            created_at=award.created_at or OLDEST,
        )
        for award in awards
        if award.user_id is not None
    ]


def discussion_records(
    notes: Sequence[TreeNote], people: People, key: str, *, resolvable: bool = False
) -> list[DiscussionRecord]:
    """Return the discussions of a subject, in the order of their first notes."""
    groups: dict[str, list[NoteRecord]] = {}
    individual: dict[str, bool] = {}
    for index, row in enumerate(notes):
        note_key = str(row.id) if row.id is not None else f"{key} note {index}"
        discussion = row.discussion_id or note_key
        groups.setdefault(discussion, []).append(_note(row, people, note_key, resolvable=resolvable))
        individual.setdefault(discussion, row.type is None)
    return [
        DiscussionRecord(key=name, notes=group, individual_note=individual[name] and len(group) == 1)
        for name, group in groups.items()
    ]


def commit_note_record(row: TreeCommitNote, people: People, index: int) -> CommitNoteRecord | None:
    """Return a comment on a commit."""
    if not row.commit_id or row.system:
        return None
    key = str(row.id) if row.id is not None else f"commit note {index}"
    created_at, line = row.created_at or OLDEST, row.line or TreeCommitNoteLine()
    return CommitNoteRecord(
        key=key,
        sha=row.commit_id,
        author=people.find(row.author_id, row.author.name if row.author else None),
        body=row.note or "",
        created_at=created_at,
        updated_at=row.updated_at or created_at,
        discussion=row.discussion_id,
        path=line.new_path,
        old_path=line.old_path,
        old_line=line.old_line,
        new_line=line.new_line,
        awards=award_records(row.award_emoji, people, key),
    )


def _note(row: TreeNote, people: People, key: str, *, resolvable: bool) -> NoteRecord:
    system = bool(row.system)
    created_at = row.created_at or OLDEST
    position, original = _position(row.position), _position(row.original_position)
    return NoteRecord(
        key=key,
        author=people.find(row.author_id, row.author.name if row.author else None),
        body=row.note or "",
        created_at=created_at,
        updated_at=row.updated_at or created_at,
        system=system,
        internal=bool(row.confidential),
        resolvable=resolvable and row.type is not None and not system,
        resolved=row.resolved_at is not None,
        resolved_at=row.resolved_at,
        resolved_by=people.find_or_none(row.resolved_by_id),
        position=position,
        original_position=None if original == position else original,
        action=row.system_note_metadata.action if row.system_note_metadata else None,
        suggestions=[
            SuggestionRecord(
                from_content=each.from_content,
                to_content=each.to_content,
                lines_above=each.lines_above,
                lines_below=each.lines_below,
                applied=each.applied,
                outdated=each.outdated,
                commit_sha=each.commit_id,
            )
            for each in row.suggestions
        ],
        awards=award_records(row.award_emoji, people, key),
    )


def _position(row: TreePosition | str | None) -> PositionRecord | None:
    if not isinstance(row, TreePosition) or not row.head_sha or not (row.new_path or row.old_path):
        return None
    return PositionRecord(
        base_sha=row.base_sha or "",
        start_sha=row.start_sha or row.base_sha or "",
        head_sha=row.head_sha,
        old_path=row.old_path or row.new_path or "",
        new_path=row.new_path or row.old_path or "",
        position_type=row.position_type,
        old_line=row.old_line,
        new_line=row.new_line,
        line_range=row.line_range,
        width=row.width,
        height=row.height,
        x=row.x,
        y=row.y,
    )


def _version(row: TreeVersion, key: str, index: int) -> VersionRecord:
    return VersionRecord(
        key=f"{key} version {index + 1}",
        head_sha=row.head_commit_sha or "",
        base_sha=row.base_commit_sha,
        start_sha=row.start_commit_sha,
        created_at=row.created_at or OLDEST,
    )
