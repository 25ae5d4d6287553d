"""Documents of the REST API of Gitea and Forgejo, as far as they are imported."""

from msgspec import Struct, field

from ingot.import_export.sources.commit_statuses import HostedStatus


class GiteaUser(Struct):
    """User; deleted users have a negative id."""

    id: int
    login: str = ""
    full_name: str = ""
    email: str = ""


class GiteaRepository(Struct):
    """Repository."""

    id: int
    name: str
    full_name: str
    owner: GiteaUser
    html_url: str = ""
    description: str = ""
    private: bool = False
    internal: bool = False
    empty: bool = False
    archived: bool = False
    default_branch: str = ""
    has_issues: bool = True
    has_pull_requests: bool = True
    has_wiki: bool = False
    topics: list[str] | None = None
    avatar_url: str = ""
    created_at: str | None = None
    default_delete_branch_after_merge: bool = False


class GiteaAttachment(Struct):
    """Attached file."""

    id: int
    name: str
    uuid: str = ""
    browser_download_url: str = ""


class GiteaLabel(Struct):
    """Label."""

    id: int
    name: str
    color: str
    description: str = ""


class GiteaMilestone(Struct):
    """Milestone; it has no number."""

    id: int
    title: str
    description: str = ""
    state: str = "open"
    due_on: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


class GiteaItem(Struct):
    """Fields that issues and pull requests share."""

    id: int
    number: int
    title: str
    created_at: str
    updated_at: str
    state: str = "open"
    body: str | None = None
    user: GiteaUser | None = None
    original_author: str = ""
    labels: list[GiteaLabel] | None = None
    milestone: GiteaMilestone | None = None
    assignees: list[GiteaUser] | None = None
    assets: list[GiteaAttachment] | None = None
    comments: int = 0
    is_locked: bool = False
    due_date: str | None = None
    closed_at: str | None = None
    time_estimate: int = 0


class GiteaBranchName(Struct):
    """Branch of a pull request."""

    ref: str
    sha: str = ""
    repo_id: int = 0
    repo: GiteaRepository | None = None


class GiteaPullRequest(GiteaItem):
    """Pull request."""

    head: GiteaBranchName = field(default_factory=lambda: GiteaBranchName(""))
    base: GiteaBranchName = field(default_factory=lambda: GiteaBranchName(""))
    merge_base: str = ""
    draft: bool = False
    merged: bool = False
    merged_at: str | None = None
    merged_by: GiteaUser | None = None
    merge_commit_sha: str | None = None
    requested_reviewers: list[GiteaUser | None] | None = None


class GiteaComment(Struct):
    """Comment."""

    id: int
    body: str
    created_at: str
    updated_at: str
    user: GiteaUser | None = None
    original_author: str = ""
    assets: list[GiteaAttachment] | None = None


class GiteaReference(Struct):
    """Issue or pull request that an event refers to."""

    number: int
    html_url: str = ""
    pull_request: dict[str, object] | None = None


class GiteaEvent(Struct):
    """Entry of a timeline."""

    id: int
    type: str
    created_at: str
    body: str = ""
    user: GiteaUser | None = None
    label: GiteaLabel | None = None
    milestone: GiteaMilestone | None = None
    old_milestone: GiteaMilestone | None = None
    assignee: GiteaUser | None = None
    removed_assignee: bool = False
    old_title: str = ""
    new_title: str = ""
    old_ref: str = ""
    new_ref: str = ""
    ref_issue: GiteaReference | None = None
    ref_commit_sha: str = ""
    dependent_issue: GiteaReference | None = None


class GiteaReview(Struct):
    """Review of a pull request."""

    id: int
    state: str = ""
    body: str = ""
    user: GiteaUser | None = None
    commit_id: str = ""
    dismissed: bool = False
    submitted_at: str | None = None
    comments_count: int = 0


class GiteaReviewComment(Struct):
    """Comment on a line; ``position`` is its number after the change, ``original_position`` before it."""

    id: int
    body: str
    path: str
    created_at: str
    updated_at: str
    user: GiteaUser | None = None
    resolver: GiteaUser | None = None
    commit_id: str = ""
    original_commit_id: str = ""
    diff_hunk: str = ""
    position: int = 0
    original_position: int = 0


class GiteaReaction(Struct):
    """Reaction."""

    content: str
    created_at: str
    user: GiteaUser | None = None


class GiteaTime(Struct):
    """Tracked time in seconds."""

    id: int
    created: str
    time: int
    user_id: int = 0
    user_name: str = ""
    issue: GiteaReference | None = None


class GiteaRelease(Struct):
    """Release."""

    id: int
    tag_name: str
    name: str = ""
    body: str = ""
    draft: bool = False
    author: GiteaUser | None = None
    created_at: str | None = None
    published_at: str | None = None
    assets: list[GiteaAttachment] | None = None


class GiteaProtection(Struct):
    """Rule that protects branches."""

    rule_name: str = ""
    branch_name: str = ""
    enable_push: bool = False
    enable_force_push: bool = False


class GiteaPermission(Struct):
    """Permission of a collaborator."""

    permission: str = ""


class GiteaHookConfig(Struct):
    """Destination of a webhook."""

    url: str = ""


class GiteaHook(Struct):
    """Webhook."""

    id: int
    config: GiteaHookConfig
    events: list[str] | None = None


class GiteaDeployKey(Struct):
    """Deploy key."""

    id: int
    title: str
    key: str
    read_only: bool = True


class GiteaVariable(Struct):
    """Variable of actions."""

    name: str
    data: str = ""


class GiteaStatus(HostedStatus, kw_only=True):
    """Status of a commit."""

    creator: GiteaUser | None = None
