"""Records of users, issues, merge requests and their discussions, as imports and exports transfer them."""

from typing import Literal

import msgspec


class Transferred(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all records."""


class UserRecord(Transferred, frozen=True, kw_only=True):
    """User of the source. The e-mail address is known only if the source shows it."""

    key: str
    username: str
    name: str
    email: str | None = None
    bot: bool = False


class AwardRecord(Transferred, frozen=True, kw_only=True):
    """Emoji reaction."""

    key: str
    name: str
    user: UserRecord
    created_at: str


class PositionRecord(Transferred, frozen=True, kw_only=True):
    """Lines of a diff, or the point of an image, that a discussion is about."""

    base_sha: str
    start_sha: str
    head_sha: str
    old_path: str
    new_path: str
    position_type: str = "text"
    old_line: int | None = None
    new_line: int | None = None
    # The range of lines in GitLab's form: {"start": {...}, "end": {...}}.
    line_range: dict[str, object] | None = None
    width: int | None = None
    height: int | None = None
    x: int | None = None
    y: int | None = None


class SuggestionRecord(Transferred, frozen=True, kw_only=True):
    """Change of lines that a note on a diff suggests."""

    from_content: str
    to_content: str
    lines_above: int = 0
    lines_below: int = 0
    applied: bool = False
    outdated: bool = False
    commit_sha: str | None = None


class NoteRecord(Transferred, frozen=True, kw_only=True):
    """Comment, or the description of a change (``system``)."""

    key: str
    author: UserRecord
    body: str
    created_at: str
    updated_at: str
    system: bool = False
    internal: bool = False
    resolvable: bool = False
    resolved: bool = False
    resolved_by: UserRecord | None = None
    resolved_at: str | None = None
    position: PositionRecord | None = None
    # Position at which the note was written, if a push has moved it since.
    original_position: PositionRecord | None = None
    # Kind of change that a system note describes, by GitLab's names.
    action: str | None = None
    suggestions: list[SuggestionRecord] = []
    awards: list[AwardRecord] = []


class DiscussionRecord(Transferred, frozen=True, kw_only=True):
    """Notes that reply to each other; a note without replies is a discussion of one note (``individual_note``)."""

    key: str
    notes: list[NoteRecord]
    individual_note: bool = False


class LabelEventRecord(Transferred, frozen=True, kw_only=True):
    """Addition or removal of a label, with the label's title; None if the label was deleted."""

    key: str
    user: UserRecord
    action: Literal["add", "remove"]
    label: str | None
    created_at: str


class StateEventRecord(Transferred, frozen=True, kw_only=True):
    """Change of the state of an issue or a merge request."""

    key: str
    user: UserRecord
    state: str
    created_at: str


class MilestoneEventRecord(Transferred, frozen=True, kw_only=True):
    """Addition or removal of a milestone, with the milestone's key; None if it was deleted."""

    key: str
    user: UserRecord
    action: Literal["add", "remove"]
    milestone: str | None
    created_at: str


class TimelogRecord(Transferred, frozen=True, kw_only=True):
    """Time that a user spent, in seconds."""

    key: str
    user: UserRecord
    seconds: int
    spent_at: str
    summary: str | None = None


class WorkItemRecord(Transferred, frozen=True, kw_only=True):
    """Fields that issues and merge requests share. Labels are titles, the milestone is a key."""

    key: str
    iid: int
    title: str
    author: UserRecord
    created_at: str
    updated_at: str
    description: str | None = None
    state: str = "opened"
    labels: list[str] = []
    milestone: str | None = None
    assignees: list[UserRecord] = []
    closed_at: str | None = None
    closed_by: UserRecord | None = None
    discussion_locked: bool = False
    time_estimate: int = 0
    total_time_spent: int = 0
    subscribers: list[UserRecord] = []
    awards: list[AwardRecord] = []
    discussions: list[DiscussionRecord] = []
    label_events: list[LabelEventRecord] = []
    state_events: list[StateEventRecord] = []
    milestone_events: list[MilestoneEventRecord] = []
    timelogs: list[TimelogRecord] = []


class TimelineEventRecord(Transferred, frozen=True, kw_only=True):
    """Event in the timeline of an incident."""

    author: UserRecord
    note: str
    occurred_at: str
    created_at: str
    updated_at: str
    tags: list[str] = []
    action: str = "comment"


class IssueRecord(WorkItemRecord, frozen=True, kw_only=True):
    """Issue with all that belongs to it."""

    confidential: bool = False
    due_date: str | None = None
    position: int | None = None
    issue_type: str = "issue"
    severity: str = "unknown"
    timeline_events: list[TimelineEventRecord] = []


class VersionRecord(Transferred, frozen=True, kw_only=True):
    """State of a merge request after one push."""

    key: str
    head_sha: str
    base_sha: str | None
    start_sha: str | None
    created_at: str


class ReviewRecord(Transferred, frozen=True, kw_only=True):
    """Result of a review besides an approval: ``reviewed`` or ``requested_changes``."""

    user: UserRecord
    state: Literal["reviewed", "requested_changes"]


class ApprovalRecord(Transferred, frozen=True, kw_only=True):
    """Approval of a merge request."""

    user: UserRecord
    created_at: str


class MergeRequestRecord(WorkItemRecord, frozen=True, kw_only=True):
    """Merge request with all that belongs to it.

    ``head_sha`` is fetched with the repository (``RepositoryLocation.merge_request_refs``). A merge request from a fork
    names the fork in ``source_project``; the fork itself is not imported.
    """

    source_branch: str
    target_branch: str
    head_sha: str | None
    base_sha: str | None = None
    start_sha: str | None = None
    source_project: str | None = None
    draft: bool = False
    squash: bool = False
    remove_source_branch: bool = False
    merge_commit_sha: str | None = None
    squash_commit_sha: str | None = None
    merged_at: str | None = None
    merged_by: UserRecord | None = None
    reviewers: list[UserRecord] = []
    reviews: list[ReviewRecord] = []
    approvals: list[ApprovalRecord] = []
    versions: list[VersionRecord] = []


PARENT = "parent"
"""Type of the link from an issue to one of its tasks."""


class IssueLinkRecord(Transferred, frozen=True, kw_only=True):
    """Relation of two issues of the project, by iid; the source of ``parent`` contains the target, a task."""

    key: str
    source_iid: int
    target_iid: int
    link_type: str = "relates_to"
    created_at: str | None = None
    updated_at: str | None = None
