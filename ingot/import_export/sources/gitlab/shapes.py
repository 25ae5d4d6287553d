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


class GitLabLabelName(Struct):
    """Label that an event or a list of a board refers to."""

    name: str


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
    max_issue_count: int | None = None


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
    """Access level of a protected branch, tag or environment; one of a single user or group cannot be imported."""

    access_level: int | None = None


class GitLabProtectedRef(Struct):
    """Protected branch or tag."""

    name: str
    push_access_levels: list[GitLabAccessLevel] = []
    merge_access_levels: list[GitLabAccessLevel] = []
    create_access_levels: list[GitLabAccessLevel] = []
    allow_force_push: bool | None = None


class GitLabProtectedEnvironment(Struct):
    """Protected environment."""

    name: str
    deploy_access_levels: list[GitLabAccessLevel] = []


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


class GitLabInput(Struct):
    """Input of a pipeline schedule."""

    name: str
    value: Any = None


class GitLabSchedule(Struct):
    """Pipeline schedule."""

    id: int
    description: str
    ref: str
    cron: str
    cron_timezone: str = "UTC"
    owner: GitLabUser | None = None
    variables: list[GitLabVariable] = []
    inputs: list[GitLabInput] = []
    created_at: str | None = None
    updated_at: str | None = None
