"""Documents of GitLab's API, as far as they are imported. Fields that older versions lack are optional."""

from typing import Any

from msgspec import Struct, field


class GitLabUser(Struct):
    """User, also as a member of a project or group."""

    id: int
    username: str = ""
    name: str = ""
    email: str | None = None
    public_email: str | None = None
    bot: bool = False
    access_level: int = 0
    expires_at: str | None = None


class GitLabNamespace(Struct):
    """Namespace of a project."""

    id: int
    kind: str = "user"
    full_path: str = ""


class GitLabProject(Struct):
    """Project; ``attributes`` are read separately, by name."""

    id: int
    name: str
    path: str
    path_with_namespace: str
    namespace: GitLabNamespace | None = None
    empty_repo: bool = False
    archived: bool = False
    created_at: str | None = None
    avatar_url: str | None = None
    tag_list: list[str] = []
    topics: list[str] | None = None
    wiki_enabled: bool = True
    wiki_access_level: str | None = None
    lfs_enabled: bool = False


class GitLabGroup(Struct):
    """Group."""

    id: int
    name: str
    path: str
    full_path: str
    description: str | None = None
    visibility: str = "private"
    avatar_url: str | None = None
    parent_id: int | None = None
    lfs_enabled: bool | None = None
    request_access_enabled: bool | None = None
    share_with_group_lock: bool | None = None
    project_creation_level: str | None = None


class GitLabReference(Struct):
    """Object that is referred to by its id."""

    id: int


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


class GitLabLabelName(Struct):
    """Label that an event or a list of a board refers to."""

    name: str


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


class GitLabLabel(Struct):
    """Label."""

    id: int
    name: str
    color: str
    description: str | None = None
    priority: int | None = None
    is_project_label: bool = True


class GitLabMilestone(Struct):
    """Milestone."""

    id: int
    iid: int
    title: str
    description: str | None = None
    state: str = "active"
    start_date: str | None = None
    due_date: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    group_id: int | None = None


class GitLabBoardList(Struct):
    """List of a board."""

    id: int
    position: int | None = None
    label: GitLabLabelName | None = None


class GitLabBoard(Struct):
    """Board."""

    id: int
    name: str | None = None
    lists: list[GitLabBoardList] = []
    hide_backlog_list: bool = False
    hide_closed_list: bool = False


class GitLabReleaseLink(Struct):
    """Link of a release."""

    id: int
    name: str
    url: str
    link_type: str | None = None
    direct_asset_url: str | None = None


class GitLabAssets(Struct):
    """Assets of a release."""

    links: list[GitLabReleaseLink] = []


class GitLabRelease(Struct):
    """Release."""

    tag_name: str
    name: str | None = None
    description: str | None = None
    author: GitLabUser | None = None
    created_at: str | None = None
    released_at: str | None = None
    milestones: list[GitLabReference] = []
    assets: GitLabAssets = field(default_factory=GitLabAssets)


class GitLabSnippetFile(Struct):
    """File of a snippet."""

    path: str
    raw_url: str = ""


class GitLabSnippet(Struct):
    """Snippet."""

    id: int
    title: str
    created_at: str
    updated_at: str
    file_name: str | None = None
    description: str | None = None
    visibility: str = "private"
    author: GitLabUser | None = None
    files: list[GitLabSnippetFile] = []


class GitLabAccessLevel(Struct):
    """Access level of a protected branch or tag; for a single user or group it has no level that can be imported."""

    access_level: int | None = None


class GitLabProtectedRef(Struct):
    """Protected branch or tag."""

    name: str
    push_access_levels: list[GitLabAccessLevel] = []
    merge_access_levels: list[GitLabAccessLevel] = []
    create_access_levels: list[GitLabAccessLevel] = []
    allow_force_push: bool | None = None


class GitLabDeployKey(Struct):
    """Deploy key."""

    id: int
    title: str
    key: str
    can_push: bool = False
    created_at: str | None = None


class GitLabVariable(Struct):
    """CI variable."""

    key: str
    value: str | None = None
    variable_type: str = "env_var"
    protected: bool = False
    masked: bool = False
    raw: bool = False
    environment_scope: str = "*"
    description: str | None = None


class GitLabBadge(Struct):
    """Badge."""

    id: int
    link_url: str
    image_url: str
    name: str | None = None
    kind: str = "project"


class GitLabCommit(Struct):
    """Commit of a job."""

    id: str


class GitLabPipeline(Struct):
    """Pipeline."""

    id: int
    sha: str = ""
    source: str | None = None


class GitLabJob(Struct):
    """Job of a pipeline."""

    id: int
    name: str
    status: str
    stage: str | None = None
    ref: str | None = None
    coverage: float | None = None
    allow_failure: bool = False
    created_at: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    user: GitLabUser | None = None
    web_url: str | None = None
    commit: GitLabCommit | None = None
    pipeline: GitLabPipeline | None = None


class GitLabStatus(Struct):
    """External status of a commit."""

    id: int
    sha: str
    name: str
    status: str
    ref: str | None = None
    description: str | None = None
    target_url: str | None = None
    coverage: float | None = None
    allow_failure: bool = False
    created_at: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    author: GitLabUser | None = None


class GitLabSchedule(Struct):
    """Pipeline schedule."""

    id: int
    description: str
    ref: str
    cron: str
    cron_timezone: str = "UTC"
    owner: GitLabUser | None = None
    variables: list[GitLabVariable] = []
    created_at: str | None = None
    updated_at: str | None = None
