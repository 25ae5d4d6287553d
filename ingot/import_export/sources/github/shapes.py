"""Documents of GitHub's REST API, as far as they are imported."""

from typing import Any

from msgspec import Struct, field


class GitHubUser(Struct):
    """User or bot; name and e-mail address are only in the document of a single user."""

    id: int
    login: str
    type: str = "User"
    name: str | None = None
    email: str | None = None
    role_name: str | None = None
    permissions: dict[str, bool] = {}


class GitHubRepository(Struct):
    """Repository."""

    id: int
    name: str
    full_name: str
    html_url: str = ""
    description: str | None = None
    private: bool = False
    visibility: str | None = None
    default_branch: str | None = None
    size: int = 0
    has_issues: bool = True
    has_wiki: bool = False
    archived: bool = False
    topics: list[str] = []
    created_at: str | None = None
    pushed_at: str | None = None
    delete_branch_on_merge: bool = False


class GitHubTitle(Struct):
    """Label or milestone that an item or event names."""

    name: str = ""
    title: str = ""
    number: int = 0


class GitHubReactionCounts(Struct):
    """Number of reactions."""

    total_count: int = 0


class GitHubIssue(Struct):
    """Issue, or the issue part of a pull request."""

    id: int
    number: int
    title: str
    created_at: str
    updated_at: str
    state: str = "open"
    body: str | None = None
    user: GitHubUser | None = None
    labels: list[GitHubTitle] = []
    milestone: GitHubTitle | None = None
    assignees: list[GitHubUser] = []
    closed_at: str | None = None
    closed_by: GitHubUser | None = None
    locked: bool = False
    reactions: GitHubReactionCounts = field(default_factory=GitHubReactionCounts)
    pull_request: dict[str, Any] | None = None


class GitHubForkName(Struct):
    """Repository of a pull request's branch."""

    id: int
    full_name: str


class GitHubBranch(Struct):
    """Branch of a pull request; the repository is None if it was deleted."""

    ref: str
    sha: str
    repo: GitHubForkName | None = None


class GitHubPullRequest(Struct):
    """Fields of a pull request that its issue part lacks."""

    number: int
    head: GitHubBranch
    base: GitHubBranch
    draft: bool = False
    merged: bool = False
    merged_at: str | None = None
    merged_by: GitHubUser | None = None
    merge_commit_sha: str | None = None
    requested_reviewers: list[GitHubUser] = []
    review_comments: int = 0
    updated_at: str = ""


class GitHubCommitComment(Struct):
    """Comment on a commit; ``line`` is a line of the new file."""

    id: int
    commit_id: str
    body: str
    created_at: str
    updated_at: str
    user: GitHubUser | None = None
    path: str | None = None
    line: int | None = None


class GitHubRename(Struct):
    """Change of a title."""

    before: str = field(default="", name="from")
    to: str = ""


class GitHubMention(Struct):
    """Issue in which another one is mentioned."""

    number: int
    repository: GitHubForkName | None = None
    pull_request: dict[str, Any] | None = None


class GitHubMentionSource(Struct):
    """Source of a mention."""

    issue: GitHubMention | None = None


class GitHubEvent(Struct):
    """Entry of a timeline: a comment, a review, or a change. Commits have neither an actor nor a time."""

    event: str = ""
    id: int | None = None
    node_id: str | None = None
    actor: GitHubUser | None = None
    user: GitHubUser | None = None
    body: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    submitted_at: str | None = None
    state: str | None = None
    reactions: GitHubReactionCounts = field(default_factory=GitHubReactionCounts)
    label: GitHubTitle | None = None
    milestone: GitHubTitle | None = None
    assignee: GitHubUser | None = None
    requested_reviewer: GitHubUser | None = None
    rename: GitHubRename | None = None
    commit_id: str | None = None
    source: GitHubMentionSource | None = None


class GitHubReviewComment(Struct):
    """Comment on a line of a pull request."""

    id: int
    body: str
    path: str
    created_at: str
    updated_at: str
    user: GitHubUser | None = None
    in_reply_to_id: int | None = None
    diff_hunk: str = ""
    commit_id: str = ""
    original_commit_id: str = ""
    side: str | None = None
    line: int | None = None
    original_line: int | None = None
    subject_type: str = "line"
    reactions: GitHubReactionCounts = field(default_factory=GitHubReactionCounts)


class GitHubReaction(Struct):
    """Reaction."""

    id: int
    content: str
    created_at: str
    user: GitHubUser | None = None


class GitHubLabel(Struct):
    """Label."""

    id: int
    name: str
    color: str
    description: str | None = None


class GitHubMilestone(Struct):
    """Milestone."""

    number: int
    title: str
    state: str = "open"
    description: str | None = None
    due_on: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


class GitHubAsset(Struct):
    """File of a release."""

    id: int
    name: str
    url: str
    browser_download_url: str


class GitHubRelease(Struct):
    """Release."""

    id: int
    tag_name: str
    name: str | None = None
    body: str | None = None
    draft: bool = False
    author: GitHubUser | None = None
    created_at: str | None = None
    published_at: str | None = None
    assets: list[GitHubAsset] = []


class GitHubProtectedBranch(Struct):
    """Name of a protected branch."""

    name: str


class GitHubSwitch(Struct):
    """Setting that is on or off."""

    enabled: bool = False


class GitHubProtection(Struct):
    """Protection of a branch."""

    allow_force_pushes: GitHubSwitch = field(default_factory=GitHubSwitch)
    required_pull_request_reviews: dict[str, Any] | None = None


class GitHubHookConfig(Struct):
    """Destination of a webhook."""

    url: str = ""
    insecure_ssl: str | int = "0"


class GitHubHook(Struct):
    """Webhook."""

    id: int
    config: GitHubHookConfig
    events: list[str] = []


class GitHubDeployKey(Struct):
    """Deploy key."""

    id: int
    title: str
    key: str
    read_only: bool = True


class GitHubVariable(Struct):
    """Variable of GitHub Actions."""

    name: str
    value: str


class GitHubVariables(Struct):
    """Page of variables."""

    total_count: int = 0
    variables: list[GitHubVariable] = []
