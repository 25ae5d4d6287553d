"""Rows of the tree of an export, with GitLab's column names; columns that are not imported are skipped unread."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

Number = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Signed = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class TreeRow(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all rows."""


class TreeUser(TreeRow, frozen=True, kw_only=True):
    """User; the address is exported for administrators only."""

    id: Number | None = None
    username: str | None = None
    name: str | None = None
    public_email: str | None = None
    email: str | None = None
    bot: bool = False


class TreeMember(TreeRow, frozen=True, kw_only=True):
    """Member of the project or group."""

    access_level: Number
    user_id: Number | None = None
    expires_at: str | None = None
    user: TreeUser | None = None


class TreePriority(TreeRow, frozen=True, kw_only=True):
    """Priority of a label in the project."""

    priority: Number | None = None


class TreeLabel(TreeRow, frozen=True, kw_only=True):
    """Label of the project or of a group; system notes name it by its id."""

    id: Number | None = None
    title: str
    color: str | None = None
    description: str | None = None
    type: str | None = None
    priorities: tuple[TreePriority, ...] = ()


class TreeMilestone(TreeRow, frozen=True, kw_only=True):
    """Milestone of the project or of a group."""

    iid: Number
    title: str
    group_id: Number | None = None
    description: str | None = None
    state: str = "active"
    start_date: str | None = None
    due_date: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


class TreeAward(TreeRow, frozen=True, kw_only=True):
    """Reaction."""

    name: str
    id: Number | None = None
    user_id: Number | None = None
    created_at: str | None = None


class TreePosition(TreeRow, frozen=True, kw_only=True):
    """Position in a diff."""

    base_sha: str | None = None
    start_sha: str | None = None
    head_sha: str | None = None
    old_path: str | None = None
    new_path: str | None = None
    position_type: str = "text"
    old_line: Number | None = None
    new_line: Number | None = None
    line_range: dict[str, Any] | None = None
    width: Number | None = None
    height: Number | None = None
    x: Number | None = None
    y: Number | None = None


class TreeSuggestion(TreeRow, frozen=True, kw_only=True):
    """Suggested change of a note."""

    from_content: str = ""
    to_content: str = ""
    lines_above: Number = 0
    lines_below: Number = 0
    applied: bool = False
    outdated: bool = False
    commit_id: str | None = None


class TreeAuthor(TreeRow, frozen=True, kw_only=True):
    """Name of a note's author, who may be no member."""

    name: str | None = None


class TreeNoteAction(TreeRow, frozen=True, kw_only=True):
    """Kind of change that a system note describes."""

    action: str | None = None


class TreeNote(TreeRow, frozen=True, kw_only=True):
    """Note."""

    id: Number | None = None
    note: str | None = None
    author_id: Number | None = None
    author: TreeAuthor | None = None
    created_at: str | None = None
    updated_at: str | None = None
    system: bool | None = None
    type: str | None = None
    # GitLab's older exports contain serialized Ruby objects here.
    position: TreePosition | str | None = None
    original_position: TreePosition | str | None = None
    resolved_at: str | None = None
    resolved_by_id: Number | None = None
    discussion_id: str | None = None
    confidential: bool | None = None
    commit_id: str | None = None
    award_emoji: tuple[TreeAward, ...] = ()
    system_note_metadata: TreeNoteAction | None = None
    suggestions: tuple[TreeSuggestion, ...] = ()


class TreeCommitNoteLine(TreeRow, frozen=True, kw_only=True):
    """Line of a commit's diff that a comment is on; only our archives have it."""

    old_path: str | None = None
    new_path: str | None = None
    old_line: Number | None = None
    new_line: Number | None = None


class TreeCommitNote(TreeNote, frozen=True, kw_only=True):
    """Comment on a commit."""

    line: TreeCommitNoteLine | None = None


class TreeLabelLink(TreeRow, frozen=True, kw_only=True):
    """Label of an issue or merge request."""

    label: TreeLabel | None = None


class TreeUserLink(TreeRow, frozen=True, kw_only=True):
    """Assignee, reviewer, approver or subscriber."""

    user_id: Number | None = None
    created_at: str | None = None
    subscribed: bool = True
    state: str | None = None
    """Of a reviewer: the result of the review."""


class TreeTimelog(TreeRow, frozen=True, kw_only=True):
    """Time that was spent, in seconds; negative if it was subtracted."""

    time_spent: Signed = 0
    user_id: Number | None = None
    spent_at: str | None = None
    created_at: str | None = None
    summary: str | None = None


class TreeEvent(TreeRow, frozen=True, kw_only=True):
    """Change of a label, milestone or state."""

    id: Number | None = None
    user_id: Number | None = None
    action: str | None = None
    state: str | None = None
    created_at: str | None = None
    label: TreeLabel | None = None
    milestone: TreeMilestone | None = None


class TreePlanning(TreeRow, frozen=True, kw_only=True):
    """Labels and milestones of an issue or merge request; those of groups occur nowhere else."""

    milestone: TreeMilestone | None = None
    label_links: tuple[TreeLabelLink, ...] = ()
    resource_label_events: tuple[TreeEvent, ...] = ()
    resource_milestone_events: tuple[TreeEvent, ...] = ()


class TreeWorkItem(TreePlanning, frozen=True, kw_only=True):
    """Columns that issues and merge requests share."""

    iid: Number
    title: str
    author_id: Number | None = None
    created_at: str | None = None
    updated_at: str | None = None
    description: str | None = None
    state: str = "opened"
    discussion_locked: bool | None = None
    time_estimate: Number | None = None
    subscriptions: tuple[TreeUserLink, ...] = ()
    timelogs: tuple[TreeTimelog, ...] = ()
    award_emoji: tuple[TreeAward, ...] = ()
    notes: tuple[TreeNote, ...] = ()
    resource_state_events: tuple[TreeEvent, ...] = ()


class TreeWorkItemType(TreeRow, frozen=True, kw_only=True):
    """Type of an issue."""

    base_type: str | None = None


class TreeTimelineEvent(TreeRow, frozen=True, kw_only=True):
    """Event in the timeline of an incident; not part of GitLab's format."""

    author_id: Number | None = None
    note: str = ""
    occurred_at: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    tags: tuple[str, ...] = ()
    action: str = "comment"


class TreeIssue(TreeWorkItem, frozen=True, kw_only=True):
    """Issue."""

    confidential: bool | None = None
    closed_at: str | None = None
    closed_by_id: Number | None = None
    due_date: str | None = None
    relative_position: Signed | None = None
    issue_assignees: tuple[TreeUserLink, ...] = ()
    issue_type: str | None = None
    severity: str | None = None
    work_item_type: TreeWorkItemType | None = None
    timeline_events: tuple[TreeTimelineEvent, ...] = ()


class TreeVersion(TreeRow, frozen=True, kw_only=True):
    """State of a merge request after a push."""

    id: Number | None = None
    head_commit_sha: str | None = None
    base_commit_sha: str | None = None
    start_commit_sha: str | None = None
    created_at: str | None = None


class TreeMetrics(TreeRow, frozen=True, kw_only=True):
    """Ends of a merge request."""

    merged_at: str | None = None
    merged_by_id: Number | None = None
    latest_closed_at: str | None = None
    latest_closed_by_id: Number | None = None


class TreeMergeRequest(TreeWorkItem, frozen=True, kw_only=True):
    """Merge request; ``merge_request_diffs`` and ``source_project_path`` are not part of GitLab's format."""

    source_branch: str
    target_branch: str
    source_project_id: Number | None = None
    target_project_id: Number | None = None
    source_project_path: str | None = None
    merge_commit_sha: str | None = None
    squash_commit_sha: str | None = None
    diff_head_sha: str | None = None
    squash: bool | None = None
    merge_params: dict[str, Any] | None = None
    metrics: TreeMetrics | None = None
    merge_user_id: Number | None = None
    merge_request_diff: TreeVersion | None = None
    merge_request_diffs: tuple[TreeVersion, ...] = ()
    merge_request_assignees: tuple[TreeUserLink, ...] = ()
    merge_request_reviewers: tuple[TreeUserLink, ...] = ()
    approvals: tuple[TreeUserLink, ...] = ()
