"""Rows of the tree of an export other than issues and merge requests, with GitLab's column names."""

from ingot.import_export.sources.archive.tree import (
    Number,
    TreeAward,
    TreeLabel,
    TreeMilestone,
    TreeNote,
    TreeRow,
)


class TreeSnippetFile(TreeRow, frozen=True, kw_only=True):
    """File of a snippet."""

    path: str
    content: str


class TreeSnippet(TreeRow, frozen=True, kw_only=True):
    """Snippet."""

    id: Number | None = None
    title: str
    content: str | None = None
    file_name: str | None = None
    author_id: Number | None = None
    description: str | None = None
    visibility_level: Number = 0
    created_at: str | None = None
    updated_at: str | None = None
    files: tuple[TreeSnippetFile, ...] = ()
    award_emoji: tuple[TreeAward, ...] = ()
    notes: tuple[TreeNote, ...] = ()


class TreeReleaseLink(TreeRow, frozen=True, kw_only=True):
    """Link of a release."""

    id: Number | None = None
    name: str
    url: str
    link_type: str | None = None
    filepath: str | None = None


class TreeMilestoneRelease(TreeRow, frozen=True, kw_only=True):
    """Milestone of a release."""

    milestone: TreeMilestone | None = None


class TreeRelease(TreeRow, frozen=True, kw_only=True):
    """Release."""

    tag: str
    name: str | None = None
    description: str | None = None
    author_id: Number | None = None
    created_at: str | None = None
    released_at: str | None = None
    links: tuple[TreeReleaseLink, ...] = ()
    milestone_releases: tuple[TreeMilestoneRelease, ...] = ()


class TreeBoardList(TreeRow, frozen=True, kw_only=True):
    """List of a board."""

    list_type: str | None = None
    position: Number | None = None
    label: TreeLabel | None = None
    max_issue_count: Number | None = None


class TreeBoard(TreeRow, frozen=True, kw_only=True):
    """Board."""

    id: Number | None = None
    name: str | None = None
    hide_backlog_list: bool = False
    hide_closed_list: bool = False
    lists: tuple[TreeBoardList, ...] = ()


class TreeAccessLevel(TreeRow, frozen=True, kw_only=True):
    """Level of a protected branch, tag or environment; None for a user or a group."""

    access_level: Number | None = None


class TreeProtectedRef(TreeRow, frozen=True, kw_only=True):
    """Protected branch or tag."""

    name: str
    allow_force_push: bool | None = None
    push_access_levels: tuple[TreeAccessLevel, ...] = ()
    merge_access_levels: tuple[TreeAccessLevel, ...] = ()
    create_access_levels: tuple[TreeAccessLevel, ...] = ()


class TreeProtectedEnvironment(TreeRow, frozen=True, kw_only=True):
    """Protected environment."""

    name: str
    deploy_access_levels: tuple[TreeAccessLevel, ...] = ()


class TreeBadge(TreeRow, frozen=True, kw_only=True):
    """Badge."""

    id: Number | None = None
    link_url: str
    image_url: str
    name: str | None = None


class TreeSchedule(TreeRow, frozen=True, kw_only=True):
    """Pipeline schedule."""

    id: Number | None = None
    description: str | None = None
    ref: str | None = None
    cron: str
    cron_timezone: str | None = None
    owner_id: Number | None = None
    created_at: str | None = None
    updated_at: str | None = None


class TreeStatus(TreeRow, frozen=True, kw_only=True):
    """Job or status of a pipeline."""

    id: Number | None = None
    name: str | None = None
    status: str | None = None
    user_id: Number | None = None
    target_url: str | None = None
    description: str | None = None
    coverage: float | None = None
    allow_failure: bool | None = None
    created_at: str | None = None
    started_at: str | None = None
    finished_at: str | None = None


class TreeStage(TreeRow, frozen=True, kw_only=True):
    """Stage of a pipeline; older exports contain all of its jobs as ``statuses``."""

    name: str | None = None
    builds: tuple[TreeStatus, ...] = ()
    generic_commit_statuses: tuple[TreeStatus, ...] = ()
    bridges: tuple[TreeStatus, ...] = ()
    statuses: tuple[TreeStatus, ...] = ()


class TreePipeline(TreeRow, frozen=True, kw_only=True):
    """Pipeline."""

    id: Number | None = None
    iid: Number | None = None
    sha: str | None = None
    ref: str | None = None
    stages: tuple[TreeStage, ...] = ()


class TreeIssueLink(TreeRow, frozen=True, kw_only=True):
    """Relation of two issues."""

    id: Number | None = None
    source_iid: Number
    target_iid: Number
    link_type: str = "relates_to"
    created_at: str | None = None
    updated_at: str | None = None


class TreeHook(TreeRow, frozen=True, kw_only=True):
    """Webhook without its secrets."""

    id: Number | None = None
    url: str
    name: str | None = None
    description: str | None = None
    enable_ssl_verification: bool = True
    push_events_branch_filter: str | None = None
    branch_filter_strategy: str | None = None
    created_at: str | None = None


class TreeDeployKey(TreeRow, frozen=True, kw_only=True):
    """Deploy key."""

    id: Number | None = None
    title: str
    key: str
    can_push: bool = False
    created_at: str | None = None


class TreeGroup(TreeRow, frozen=True, kw_only=True):
    """Group; the parent of the exported group is not part of the export."""

    id: Number
    name: str
    path: str
    parent_id: Number | None = None
    description: str | None = None
    visibility_level: Number = 0
    avatar_file: str | None = None
    lfs_enabled: bool | None = None
    request_access_enabled: bool | None = None
    share_with_group_lock: bool | None = None
    # A text in our archives, a number in those of GitLab.
    project_creation_level: str | Number | None = None
