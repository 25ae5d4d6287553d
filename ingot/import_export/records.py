"""Records that sources deliver and that the target stores; they are independent of the format of any source.

``key`` identifies an object at its source and never changes; the target remembers which row was created for it. Times
are in ISO 8601 with a zone. Text is Markdown with the references and attachment links of the source.
"""

from typing import Any, Literal

from msgspec import field

from ingot.import_export.work_item_records import (
    AwardRecord,
    DiscussionRecord,
    IssueLinkRecord,
    IssueRecord,
    MergeRequestRecord,
    Transferred,
    UserRecord,
)

Kind = Literal[
    "settings",
    "members",
    "labels",
    "milestones",
    "issues",
    "merge_requests",
    "issue_links",
    "boards",
    "releases",
    "snippets",
    "commit_notes",
    "protected_branches",
    "protected_tags",
    "protected_environments",
    "hooks",
    "deploy_keys",
    "variables",
    "badges",
    "statuses",
    "schedules",
]
KINDS: tuple[Kind, ...] = Kind.__args__  # type: ignore[attr-defined] # Not in the stubs of typing.
"""Kinds of records of a project, in the order in which they are imported: each refers only to earlier ones."""


class LabelRecord(Transferred, frozen=True, kw_only=True):
    """Label of the project, or of its group."""

    key: str
    title: str
    color: str
    description: str | None = None
    priority: int | None = None
    of_group: bool = False


class MilestoneRecord(Transferred, frozen=True, kw_only=True):
    """Milestone of the project, or of its group."""

    key: str
    iid: int
    title: str
    description: str | None = None
    state: str = "active"
    start_date: str | None = None
    due_date: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    of_group: bool = False


class MemberRecord(Transferred, frozen=True, kw_only=True):
    """Member with the access level of the API (10 to 50)."""

    user: UserRecord
    access_level: int
    expires_at: str | None = None


class BoardListRecord(Transferred, frozen=True, kw_only=True):
    """List of a board, by the label's title."""

    label: str
    position: int
    max_issue_count: int = 0


class BoardRecord(Transferred, frozen=True, kw_only=True):
    """Issue board with its label lists."""

    key: str
    name: str
    lists: list[BoardListRecord] = field(default_factory=list)
    hide_backlog_list: bool = False
    hide_closed_list: bool = False


class ReleaseLinkRecord(Transferred, frozen=True, kw_only=True):
    """Link or file of a release. ``file`` can be opened at the source and is stored as an upload."""

    key: str
    name: str
    url: str
    link_type: str = "other"
    file: str | None = None
    filepath: str | None = None


class ReleaseRecord(Transferred, frozen=True, kw_only=True):
    """Release of a tag."""

    tag: str
    name: str | None = None
    description: str | None = None
    author: UserRecord | None = None
    created_at: str | None = None
    released_at: str | None = None
    milestones: list[str] = field(default_factory=list)
    links: list[ReleaseLinkRecord] = field(default_factory=list)


class SnippetFileRecord(Transferred, frozen=True, kw_only=True):
    """File of a snippet."""

    path: str
    content: str


class SnippetRecord(Transferred, frozen=True, kw_only=True):
    """Snippet of the project."""

    key: str
    title: str
    file_name: str
    content: str
    author: UserRecord
    description: str | None = None
    visibility: str = "private"
    created_at: str
    updated_at: str
    # All files, if there are several; the first is ``file_name`` with ``content``.
    files: list[SnippetFileRecord] = field(default_factory=list)
    discussions: list[DiscussionRecord] = field(default_factory=list)
    awards: list[AwardRecord] = field(default_factory=list)


class CommitNoteRecord(Transferred, frozen=True, kw_only=True):
    """Comment on a commit, or on a line of its diff."""

    key: str
    sha: str
    author: UserRecord
    body: str
    created_at: str
    updated_at: str
    # Discussion that the comment belongs to; a comment without one is a discussion of its own.
    discussion: str | None = None
    path: str | None = None
    old_path: str | None = None
    old_line: int | None = None
    new_line: int | None = None
    awards: list[AwardRecord] = field(default_factory=list)


class ProtectedRefRecord(Transferred, frozen=True, kw_only=True):
    """Protected branch or tag with the lowest access levels; tags use ``create_level`` only."""

    name: str
    push_level: int = 40
    merge_level: int = 40
    create_level: int = 40
    allow_force_push: bool = False


class ProtectedEnvironmentRecord(Transferred, frozen=True, kw_only=True):
    """Protected environment with the roles that may deploy to it; ``others`` if users or groups may too."""

    name: str
    access_levels: tuple[int, ...] = ()
    others: bool = False


class HookRecord(Transferred, frozen=True, kw_only=True):
    """Webhook without its secret token; ``events`` are the names of the flags that are set."""

    key: str
    url: str
    events: list[str] = field(default_factory=list)
    enable_ssl_verification: bool = True
    push_events_branch_filter: str | None = None
    branch_filter_strategy: str | None = None
    name: str | None = None
    description: str | None = None
    created_at: str | None = None


class DeployKeyRecord(Transferred, frozen=True, kw_only=True):
    """Deploy key of the project."""

    key: str
    title: str
    public_key: str
    can_push: bool = False
    created_at: str | None = None


class VariableRecord(Transferred, frozen=True, kw_only=True):
    """CI variable, if the token may read it."""

    name: str
    value: str
    variable_type: str = "env_var"
    protected: bool = False
    masked: bool = False
    raw: bool = False
    environment_scope: str = "*"
    description: str | None = None


class BadgeRecord(Transferred, frozen=True, kw_only=True):
    """Badge of the project."""

    key: str
    link_url: str
    image_url: str
    name: str | None = None


class StatusRecord(Transferred, frozen=True, kw_only=True):
    """Status of a commit: the result of a job of the source's pipelines, or an external one."""

    key: str
    sha: str
    ref: str | None
    name: str
    state: str
    author: UserRecord | None = None
    target_url: str | None = None
    description: str | None = None
    coverage: float | None = None
    # Key of the pipeline, if the source has some, so that its statuses stay together.
    pipeline: str | None = None
    stage: str | None = None
    allow_failure: bool = False
    created_at: str | None = None
    started_at: str | None = None
    finished_at: str | None = None


class ScheduleRecord(Transferred, frozen=True, kw_only=True):
    """Pipeline schedule; imported as inactive, because its owner must confirm it."""

    key: str
    description: str
    ref: str
    cron: str
    cron_timezone: str = "UTC"
    owner: UserRecord | None = None
    variables: list[VariableRecord] = field(default_factory=list)
    inputs: dict[str, Any] = field(default_factory=dict)
    created_at: str | None = None
    updated_at: str | None = None


class SettingsRecord(Transferred, frozen=True, kw_only=True):
    """Attributes of the project, by the names of ``PUT /projects/:id``, and where its files are.

    ``avatar`` can be opened at the source.
    """

    attributes: dict[str, object]
    topics: list[str] = field(default_factory=list)
    avatar: str | None = None
    created_at: str | None = None
    archived: bool = False


GROUP_ATTRIBUTES = ("lfs_enabled", "request_access_enabled", "share_with_group_lock", "project_creation_level")
"""Attributes of groups that are imported, besides the name, the description and the visibility."""


class GroupRecord(Transferred, frozen=True, kw_only=True):
    """Group of the source with its path below the imported root; the parent comes first."""

    key: str
    full_path: str
    name: str
    description: str | None = None
    visibility: str = "private"
    avatar: str | None = None
    members: list[MemberRecord] = field(default_factory=list)
    labels: list[LabelRecord] = field(default_factory=list)
    milestones: list[MilestoneRecord] = field(default_factory=list)
    variables: list[VariableRecord] = field(default_factory=list)
    badges: list[BadgeRecord] = field(default_factory=list)
    hooks: list[HookRecord] = field(default_factory=list)
    boards: list[BoardRecord] = field(default_factory=list)
    # Attributes by the names of ``PUT /groups/:id``.
    attributes: dict[str, object] = field(default_factory=dict)


ProjectRecord = (
    SettingsRecord
    | MemberRecord
    | LabelRecord
    | MilestoneRecord
    | IssueRecord
    | MergeRequestRecord
    | IssueLinkRecord
    | BoardRecord
    | ReleaseRecord
    | SnippetRecord
    | CommitNoteRecord
    | ProtectedRefRecord
    | ProtectedEnvironmentRecord
    | HookRecord
    | DeployKeyRecord
    | VariableRecord
    | BadgeRecord
    | StatusRecord
    | ScheduleRecord
)
"""Record of a project."""
