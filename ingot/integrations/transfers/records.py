"""Records that sources deliver and that the target stores; they are independent of the format of any source.

``key`` identifies an object at its source and never changes; the target remembers which row was created for it. Times
are in ISO 8601 with a zone. Text is Markdown with the references and attachment links of the source.
"""

from typing import Literal

import msgspec

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
    "protected_branches",
    "protected_tags",
    "hooks",
    "deploy_keys",
    "variables",
    "badges",
    "statuses",
    "schedules",
]
KINDS: tuple[Kind, ...] = Kind.__args__  # type: ignore[attr-defined] # Not in the stubs of typing.
"""Kinds of records of a project, in the order in which they are imported: each refers only to earlier ones."""


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


class IssueRecord(WorkItemRecord, frozen=True, kw_only=True):
    """Issue with all that belongs to it."""

    confidential: bool = False
    due_date: str | None = None
    position: int | None = None


class VersionRecord(Transferred, frozen=True, kw_only=True):
    """State of a merge request after one push."""

    key: str
    head_sha: str
    base_sha: str | None
    start_sha: str | None
    created_at: str


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
    approvals: list[ApprovalRecord] = []
    versions: list[VersionRecord] = []


class IssueLinkRecord(Transferred, frozen=True, kw_only=True):
    """Relation of two issues of the project, by iid."""

    key: str
    source_iid: int
    target_iid: int
    link_type: str = "relates_to"


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


class BoardRecord(Transferred, frozen=True, kw_only=True):
    """Issue board with its label lists."""

    key: str
    name: str
    lists: list[BoardListRecord] = []
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
    milestones: list[str] = []
    links: list[ReleaseLinkRecord] = []


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
    files: list[SnippetFileRecord] = []
    discussions: list[DiscussionRecord] = []
    awards: list[AwardRecord] = []


class ProtectedRefRecord(Transferred, frozen=True, kw_only=True):
    """Protected branch or tag with the lowest access levels; tags use ``create_level`` only."""

    name: str
    push_level: int = 40
    merge_level: int = 40
    create_level: int = 40
    allow_force_push: bool = False


class HookRecord(Transferred, frozen=True, kw_only=True):
    """Webhook without its secret token; ``events`` are the names of the flags that are set."""

    key: str
    url: str
    events: list[str] = []
    enable_ssl_verification: bool = True
    push_events_branch_filter: str | None = None
    branch_filter_strategy: str | None = None
    name: str | None = None
    description: str | None = None


class DeployKeyRecord(Transferred, frozen=True, kw_only=True):
    """Deploy key of the project."""

    key: str
    title: str
    public_key: str
    can_push: bool = False


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
    variables: list[VariableRecord] = []


class SettingsRecord(Transferred, frozen=True, kw_only=True):
    """Attributes of the project, by the names of ``PUT /projects/:id``, and where its files are.

    ``avatar`` can be opened at the source.
    """

    attributes: dict[str, object]
    topics: list[str] = []
    avatar: str | None = None
    created_at: str | None = None
    archived: bool = False


class GroupRecord(Transferred, frozen=True, kw_only=True):
    """Group of the source with its path below the imported root; the parent comes first."""

    key: str
    full_path: str
    name: str
    description: str | None = None
    visibility: str = "private"
    avatar: str | None = None
    members: list[MemberRecord] = []
    labels: list[LabelRecord] = []
    milestones: list[MilestoneRecord] = []
    variables: list[VariableRecord] = []
    badges: list[BadgeRecord] = []
    hooks: list[HookRecord] = []


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
    | ProtectedRefRecord
    | HookRecord
    | DeployKeyRecord
    | VariableRecord
    | BadgeRecord
    | StatusRecord
    | ScheduleRecord
)
"""Record of a project."""
