"""Repository of GitHub or GitHub Enterprise as a source of imports, and an organization as a list of repositories."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import IO
from urllib.parse import quote, urlsplit

from ingot.import_export.records import (
    CommitNoteRecord,
    HookRecord,
    Kind,
    MemberRecord,
    ProjectRecord,
    ProtectedRefRecord,
    ReleaseLinkRecord,
    ReleaseRecord,
    SettingsRecord,
    StatusRecord,
    VariableRecord,
)
from ingot.import_export.source import Batch, KindCount
from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.commit_statuses import (
    HeadCommit,
    ListedBranch,
    head_commits,
    status_batches,
    status_record,
)
from ingot.import_export.sources.github.attachments import attachment_url
from ingot.import_export.sources.github.check_runs import GitHubCheckRuns, GitHubStatus, check_run_record
from ingot.import_export.sources.github.items import GitHubItems
from ingot.import_export.sources.github.shapes import (
    GitHubCommitComment,
    GitHubDeployKey,
    GitHubHook,
    GitHubLabel,
    GitHubMilestone,
    GitHubProtectedBranch,
    GitHubProtection,
    GitHubPullRequest,
    GitHubRelease,
    GitHubRepository,
    GitHubUser,
    GitHubVariable,
    GitHubVariables,
)
from ingot.import_export.sources.github.timeline import Timeline
from ingot.import_export.sources.github.users import GitHubUsers
from ingot.import_export.sources.hosted_repository import (
    Conventions,
    HostedOrganizationSource,
    HostedRepositorySource,
    RepositoryIdentity,
    deploy_key_records,
    label_record,
    milestone_record,
)

_PAGE = {"per_page": "100"}
_VARIABLES_PER_PAGE = 30
_BINARY = {"Accept": "application/octet-stream"}
_LEVELS = {"read": 10, "pull": 10, "triage": 20, "write": 30, "push": 30, "maintain": 40, "admin": 50}
_HOOK_EVENTS = {
    "push": ("push_events",),
    "create": ("tag_push_events",),
    "issues": ("issues_events",),
    "issue_comment": ("note_events",),
    "pull_request_review_comment": ("note_events",),
    "commit_comment": ("note_events",),
    "pull_request": ("merge_requests_events",),
    "release": ("releases_events",),
    "gollum": ("wiki_page_events",),
    "deployment": ("deployment_events",),
    "status": ("pipeline_events",),
    "check_run": ("job_events",),
}
_COUNTED: tuple[tuple[Kind, str, dict[str, str]], ...] = (
    ("members", "collaborators", {"affiliation": "direct"}),
    ("labels", "labels", {}),
    ("milestones", "milestones", {"state": "all"}),
    ("merge_requests", "pulls", {"state": "all"}),
    ("issues", "issues", {"state": "all"}),
    ("releases", "releases", {}),
    ("commit_notes", "comments", {}),
    ("protected_branches", "branches", {"protected": "true"}),
    ("hooks", "hooks", {}),
    ("deploy_keys", "keys", {}),
)
_OMITTED = (
    "Resolved state of review comments: GitHub's REST API does not show it.",
    "Secrets of GitHub Actions and of webhooks: GitHub does not show them.",
    "Workflow runs, discussions, projects and packages: they have no counterpart.",
)
_CONVENTIONS = Conventions(
    git_username="x-access-token",
    page=_PAGE,
    page_size=100,
    counted=_COUNTED,
    # Timeline; of a pull request also its own document.
    requests_per_item={"issues": 1, "merge_requests": 2},
    omitted=_OMITTED,
)


class GitHubProjectSource(HostedRepositorySource):
    """Source of one repository; ``key`` is ``owner/name`` or the repository's id."""

    conventions = _CONVENTIONS

    def __init__(self, client: SourceClient, url: str, token: str, key: str) -> None:
        super().__init__(client, url, token)
        self._key = key
        self._users = GitHubUsers(client)
        self._loaded: GitHubRepository | None = None

    @property
    def path(self) -> str:
        """The path of the repository below the URL of the API."""
        return f"/repos/{quote(self._repository().full_name)}"

    def identity(self) -> RepositoryIdentity:
        """Return the names of the repository."""
        repository = self._repository()
        empty = repository.pushed_at is None and repository.size == 0
        return RepositoryIdentity(repository.name, repository.full_name, empty, repository.has_wiki)

    def counted(self, kind: Kind, total: int, counts: Sequence[KindCount]) -> int:
        """Return the number of records of a kind; the list of issues contains the pull requests, too."""
        pulls = next((each.count for each in counts if each.kind == "merge_requests"), 0)
        return total - pulls if kind == "issues" else total

    def item_batches(self, kind: Kind, cursor: str | None, since: str | None) -> Iterator[Batch] | None:
        """Return the batches of a kind that is read page by page."""
        if kind == "issues":
            return self._items().issues(cursor, since)
        if kind == "merge_requests":
            return self._items().pull_requests(cursor, since)
        if kind == "statuses":
            return status_batches(self._heads(since), cursor, self._statuses)
        return None

    def pull_request_numbers(self) -> Iterator[int]:
        """Yield the numbers of all pull requests."""
        return (pull.number for pull in self.entries_or_empty("pulls", GitHubPullRequest, state="all"))

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open an attachment or a file of a release; None for any other link."""
        if link.startswith(self.client.url("/repos/")) and "/releases/assets/" in link:
            return self.client.open_file(link, _BINARY)
        url = attachment_url(link, self.url)
        if url is None:
            return None
        # Attachments of private repositories are on the server of the pages, not of the API.
        own = url.startswith(f"{self.url}/")
        return self.client.open_file(url, {"Authorization": f"Bearer {self.token}"} if own and self.token else None)

    def readers(self) -> Mapping[Kind, Callable[[], Sequence[ProjectRecord]]]:
        """Return the functions that read the kinds whose lists are short."""
        return {
            "settings": lambda: [self._settings()],
            "members": self._members,
            "labels": lambda: [label_record(label) for label in self.entries("labels", GitHubLabel)],
            "milestones": lambda: [
                milestone_record(each, each.number, each.number)
                for each in self.entries("milestones", GitHubMilestone, state="all")
            ],
            "releases": self._releases,
            "commit_notes": self._commit_notes,
            "protected_branches": self._protected_branches,
            "hooks": self._hooks,
            "deploy_keys": lambda: deploy_key_records(self.entries("keys", GitHubDeployKey)),
            "variables": self._variables,
        }

    def _repository(self) -> GitHubRepository:
        if self._loaded is None:
            path = f"/repositories/{self._key}" if self._key.isdecimal() else f"/repos/{quote(self._key)}"
            self._loaded = self.client.get(path, GitHubRepository)
        return self._loaded

    def _items(self) -> GitHubItems:
        milestones = self.entries_or_empty("milestones", GitHubMilestone, state="all")
        titles = {milestone.title: str(milestone.number) for milestone in milestones}
        timeline = Timeline(self._users, self._repository().full_name, titles)
        return GitHubItems(self.client, self._users, self.path, timeline, self.numbers)

    def _heads(self, since: str | None) -> Iterator[HeadCommit]:
        parameters = {**_PAGE, "state": "all", "sort": "updated", "direction": "desc"}
        pulls = self.client.pages(f"{self.path}/pulls", GitHubPullRequest, parameters)
        branches = partial(self.entries, "branches", ListedBranch)
        return head_commits(pulls, branches, self._repository().default_branch, since)

    def _statuses(self, heads: Sequence[HeadCommit]) -> list[StatusRecord]:
        """Return the statuses and the check runs of commits; only the first hundred check runs of each."""
        targets = [self.client.target(f"{self.path}/commits/{head.sha}/statuses", _PAGE) for head in heads]
        records = [
            status_record(status, head, self._users.record_or_none(status.creator))
            for head, found in zip(heads, self.client.lists(targets, GitHubStatus), strict=True)
            for status in found
        ]
        by_sha = {head.sha: head for head in heads}
        targets = [self.client.target(f"{self.path}/commits/{head.sha}/check-runs", _PAGE) for head in heads]
        for listed in self.client.documents(targets, GitHubCheckRuns):
            records += [check_run_record(run, by_sha[run.head_sha]) for run in listed.check_runs]
        return records

    def _settings(self) -> SettingsRecord:
        repository = self._repository()
        visibility = repository.visibility or ("private" if repository.private else "public")
        return SettingsRecord(
            attributes={
                "name": repository.name,
                "description": repository.description or "",
                "visibility": visibility,
                "issues_enabled": repository.has_issues,
                "wiki_enabled": repository.has_wiki,
                "remove_source_branch_after_merge": repository.delete_branch_on_merge,
                **({"default_branch": repository.default_branch} if repository.default_branch else {}),
            },
            topics=repository.topics,
            created_at=repository.created_at,
            archived=repository.archived,
        )

    def _members(self) -> list[MemberRecord]:
        members = self.entries("collaborators", GitHubUser, affiliation="direct")
        return [MemberRecord(user=self._users.record(user), access_level=_level(user)) for user in members]

    def _releases(self) -> list[ReleaseRecord]:
        return [
            ReleaseRecord(
                tag=release.tag_name,
                name=release.name,
                description=release.body,
                author=self._users.record_or_none(release.author),
                created_at=release.created_at,
                released_at=release.published_at,
                links=[
                    ReleaseLinkRecord(
                        key=str(asset.id), name=asset.name, url=asset.browser_download_url, file=asset.url
                    )
                    for asset in release.assets
                ],
            )
            for release in self.entries("releases", GitHubRelease)
            if not release.draft
        ]

    def _protected_branches(self) -> list[ProtectedRefRecord]:
        """Return the protected branches; only administrators may read the rules, others get the default levels."""
        records = []
        for branch in self.entries("branches", GitHubProtectedBranch, protected="true"):
            path = f"{self.path}/branches/{quote(branch.name, safe='')}/protection"
            rules = self.client.get_or_none(path, GitHubProtection) or GitHubProtection()
            records.append(
                ProtectedRefRecord(
                    name=branch.name,
                    push_level=0 if rules.required_pull_request_reviews is not None else 40,
                    allow_force_push=rules.allow_force_pushes.enabled,
                )
            )
        return records

    def _hooks(self) -> list[HookRecord]:
        return [
            HookRecord(
                key=str(hook.id),
                url=hook.config.url,
                events=sorted({flag for event in _hook_events(hook) for flag in _HOOK_EVENTS.get(event, ())}),
                enable_ssl_verification=str(hook.config.insecure_ssl) != "1",
            )
            for hook in self.entries("hooks", GitHubHook)
            if hook.config.url
        ]

    def _commit_notes(self) -> list[CommitNoteRecord]:
        return [
            CommitNoteRecord(
                key=str(comment.id),
                sha=comment.commit_id,
                author=self._users.record(comment.user),
                body=self.numbers.rewrite(comment.body),
                created_at=comment.created_at,
                updated_at=comment.updated_at,
                path=comment.path,
                new_line=comment.line,
            )
            for comment in self.entries("comments", GitHubCommitComment)
        ]

    def _variables(self) -> list[VariableRecord]:
        found: list[GitHubVariable] = []
        for page in range(1, 1000):
            parameters = {"per_page": _VARIABLES_PER_PAGE, "page": page}
            listed = self.client.get(f"{self.path}/actions/variables", GitHubVariables, parameters)
            found += listed.variables
            if len(found) >= listed.total_count or not listed.variables:
                break
        return [VariableRecord(name=variable.name, value=variable.value) for variable in found]


class GitHubOrganizationSource(HostedOrganizationSource):
    """Source of the repositories of an organization or a user."""

    def __init__(self, client: SourceClient, key: str) -> None:
        super().__init__(client, key, "", _PAGE)


def api_url(url: str) -> str:
    """Return the URL of the REST API of github.com or of a GitHub Enterprise server."""
    if urlsplit(url).hostname in ("github.com", "www.github.com", "api.github.com"):
        return "https://api.github.com"
    return f"{url.rstrip('/')}/api/v3"


def _level(user: GitHubUser) -> int:
    """Return the access level of a collaborator."""
    if user.role_name in _LEVELS:
        return _LEVELS[user.role_name]
    return max((_LEVELS[name] for name, given in user.permissions.items() if given and name in _LEVELS), default=10)


def _hook_events(hook: GitHubHook) -> Sequence[str]:
    return list(_HOOK_EVENTS) if "*" in hook.events else hook.events
