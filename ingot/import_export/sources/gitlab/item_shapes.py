"""Issues, merge requests and their notes in GitLab's API, as far as they are imported."""

from typing import Any

from msgspec import Struct

from ingot.import_export.sources.gitlab.shapes import GitLabLabelName, GitLabReference, GitLabUser


class GitLabTimeStats(Struct):
    """Time tracking of an issue or a merge request, in seconds."""

    time_estimate: int = 0
    total_time_spent: int = 0


class GitLabItem(Struct):
    """Fields that issues and merge requests share."""

    id: int
    iid: int
    title: str
    created_at: str
    updated_at: str
    description: str | None = None
    state: str = "opened"
    author: GitLabUser | None = None
    labels: list[str] = []
    milestone: GitLabReference | None = None
    assignees: list[GitLabUser] | None = None
    assignee: GitLabUser | None = None
    closed_at: str | None = None
    closed_by: GitLabUser | None = None
    discussion_locked: bool | None = None
    user_notes_count: int = 0
    upvotes: int = 0
    downvotes: int = 0
    time_stats: GitLabTimeStats | None = None


class GitLabIssue(GitLabItem):
    """Issue."""

    confidential: bool = False
    due_date: str | None = None
    issue_type: str | None = None
    severity: str | None = None


class GitLabMergeRequest(GitLabItem):
    """Merge request."""

    source_branch: str = ""
    target_branch: str = ""
    sha: str | None = None
    source_project_id: int | None = None
    target_project_id: int | None = None
    draft: bool | None = None
    work_in_progress: bool = False
    squash: bool | None = None
    force_remove_source_branch: bool | None = None
    merge_commit_sha: str | None = None
    squash_commit_sha: str | None = None
    merged_at: str | None = None
    merged_by: GitLabUser | None = None
    merge_user: GitLabUser | None = None
    reviewers: list[GitLabUser] | None = None


class GitLabPosition(Struct):
    """Position of a note in a diff."""

    base_sha: str | None = None
    start_sha: str | None = None
    head_sha: str | None = None
    old_path: str | None = None
    new_path: str | None = None
    position_type: str | None = None
    old_line: int | None = None
    new_line: int | None = None
    line_range: dict[str, Any] | None = None
    width: float | None = None
    height: float | None = None
    x: float | None = None
    y: float | None = None


class GitLabSuggestion(Struct):
    """Suggested change of lines."""

    from_line: int = 0
    to_line: int = 0
    applied: bool = False
    from_content: str = ""
    to_content: str = ""


class GitLabNote(Struct):
    """Note of a discussion."""

    id: int
    body: str
    created_at: str
    updated_at: str
    type: str | None = None
    author: GitLabUser | None = None
    system: bool = False
    confidential: bool | None = None
    internal: bool | None = None
    resolvable: bool = False
    resolved: bool | None = None
    resolved_by: GitLabUser | None = None
    resolved_at: str | None = None
    position: GitLabPosition | None = None
    suggestions: list[GitLabSuggestion] = []


class GitLabDiscussion(Struct):
    """Discussion with its notes."""

    id: str
    individual_note: bool = False
    notes: list[GitLabNote] = []


class GitLabAward(Struct):
    """Emoji reaction."""

    id: int
    name: str
    created_at: str
    user: GitLabUser | None = None


class GitLabResourceEvent(Struct):
    """Change of a label, of the milestone or of the state."""

    id: int
    created_at: str
    user: GitLabUser | None = None
    action: str = ""
    state: str = ""
    label: GitLabLabelName | None = None
    milestone: GitLabReference | None = None


class GitLabVersion(Struct):
    """Version of a merge request's diff."""

    id: int
    head_commit_sha: str
    created_at: str
    base_commit_sha: str | None = None
    start_commit_sha: str | None = None


class GitLabApprover(Struct):
    """User who approved a merge request."""

    user: GitLabUser
    approved_at: str | None = None


class GitLabApprovals(Struct):
    """Approvals of a merge request."""

    approved_by: list[GitLabApprover] = []


class GitLabIssueLink(Struct):
    """Issue that is linked to another one."""

    iid: int
    project_id: int
    issue_link_id: int
    link_type: str = "relates_to"
    link_created_at: str | None = None
    link_updated_at: str | None = None
