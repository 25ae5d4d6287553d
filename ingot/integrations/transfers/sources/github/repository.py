"""Repository of GitHub or GitHub Enterprise as a source of imports, and an organization as a list of repositories."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import IO
from urllib.parse import quote, urlsplit

from ingot.core.outgoing.guard import SsrfGuard
from ingot.integrations.transfers.records import (
    DeployKeyRecord,
    GroupRecord,
    HookRecord,
    Kind,
    LabelRecord,
    MemberRecord,
    MilestoneRecord,
    ProjectRecord,
    ProtectedRefRecord,
    ReleaseLinkRecord,
    ReleaseRecord,
    SettingsRecord,
    VariableRecord,
)
from ingot.integrations.transfers.source import Batch, Inventory, KindCount, RepositoryLocation
from ingot.integrations.transfers.sources.client import SourceClient, StatusError
from ingot.integrations.transfers.sources.github.attachments import attachment_url
from ingot.integrations.transfers.sources.github.items import GitHubItems
from ingot.integrations.transfers.sources.github.shapes import (
    GitHubDeployKey,
    GitHubHook,
    GitHubLabel,
    GitHubMilestone,
    GitHubProtectedBranch,
    GitHubProtection,
    GitHubRelease,
    GitHubRepository,
    GitHubUser,
    GitHubVariable,
    GitHubVariables,
)
from ingot.integrations.transfers.sources.github.timeline import Timeline
from ingot.integrations.transfers.sources.github.users import GitHubUsers
from ingot.integrations.transfers.sources.wikis import repository_exists

PULL_REQUEST_REFS = "refs/pull/*/head"
_GIT_USERNAME = "x-access-token"
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
    ("protected_branches", "branches", {"protected": "true"}),
    ("hooks", "hooks", {}),
    ("deploy_keys", "keys", {}),
)
_OMITTED = (
    "Resolved state of review comments: GitHub's REST API does not show it.",
    "Secrets of GitHub Actions and of webhooks: GitHub does not show them.",
    "Workflow runs, discussions, projects and packages: they have no counterpart.",
)


class GitHubProjectSource:
    """Source of one repository; ``key`` is ``owner/name`` or the repository's id."""

    def __init__(self, client: SourceClient, guard: SsrfGuard, url: str, token: str, key: str) -> None:
        self._client = client
        self._guard = guard
        self._url = url.rstrip("/")
        self._token = token
        self._key = key
        self._users = GitHubUsers(client)
        self._loaded: GitHubRepository | None = None

    def inventory(self) -> Inventory:
        """Count the repository's data."""
        repository = self._repository()
        counts, omitted = [KindCount("settings", 1)], list(_OMITTED)
        requests = 1
        for kind, name, parameters in _COUNTED:
            try:
                total = self._client.total(f"{self._path}/{name}", parameters)
            except StatusError as error:
                if not error.denied:
                    raise
                omitted.append(f"{kind.replace('_', ' ').capitalize()}: the token may not read them.")
                continue
            if kind == "issues":
                # The list contains the pull requests, too.
                total = (total or 0) - next((each.count for each in counts if each.kind == "merge_requests"), 0)
            counts.append(KindCount(kind, total or 0, exact=total is not None))
            per_item = {"issues": 1, "merge_requests": 2}.get(kind, 0)
            requests += max(1, -(-(total or 0) // 100)) + (total or 0) * per_item
        return Inventory(
            name=repository.name,
            path=repository.name,
            full_path=repository.full_name,
            counts=counts,
            omitted=omitted,
            requests=requests,
        )

    def repository(self) -> RepositoryLocation | None:
        """Return the URL of the repository, with the token as password."""
        repository = self._repository()
        if repository.pushed_at is None and repository.size == 0:
            return None
        return RepositoryLocation(
            url=self._clone_url("git"),
            username=_GIT_USERNAME if self._token else None,
            password=self._token or None,
            merge_request_refs=PULL_REQUEST_REFS,
            lfs=True,
        )

    def wiki(self) -> RepositoryLocation | None:
        """Return the URL of the wiki's repository if there is one; GitHub creates it with the first page."""
        url = self._clone_url("wiki.git")
        username = _GIT_USERNAME if self._token else ""
        if not self._repository().has_wiki or not repository_exists(self._guard, url, username, self._token):
            return None
        return RepositoryLocation(url=url, username=username or None, password=self._token or None)

    def batches(self, kind: Kind, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the records of a kind."""
        try:
            if kind == "issues":
                yield from self._items().issues(cursor, since)
            elif kind == "merge_requests":
                yield from self._items().pull_requests(cursor, since)
            elif cursor is None:
                yield Batch(self._records(kind), "done")
        except StatusError as error:
            # The feature is disabled or needs a higher role; the inventory says so. A refused token is an error.
            if error.status == 401 and not self._token:
                return
            if error.status not in (403, 404, 410):
                raise

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open an attachment or a file of a release; None for any other link."""
        if link.startswith(self._client.url("/repos/")) and "/releases/assets/" in link:
            return self._client.open_file(link, _BINARY)
        url = attachment_url(link, self._url)
        if url is None:
            return None
        # Attachments of private repositories are on the server of the pages, not of the API.
        own = url.startswith(f"{self._url}/")
        return self._client.open_file(url, {"Authorization": f"Bearer {self._token}"} if own and self._token else None)

    def request_count(self) -> int:
        """Return the number of requests sent."""
        return self._client.requests

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    @property
    def _path(self) -> str:
        return f"/repos/{quote(self._repository().full_name)}"

    def _repository(self) -> GitHubRepository:
        if self._loaded is None:
            path = f"/repositories/{self._key}" if self._key.isdecimal() else f"/repos/{quote(self._key)}"
            self._loaded = self._client.get(path, GitHubRepository)
        return self._loaded

    def _clone_url(self, suffix: str) -> str:
        """Return the URL of a repository on the server that the user named, not on one that the server names."""
        return f"{self._url}/{self._repository().full_name}.{suffix}"

    def _items(self) -> GitHubItems:
        milestones = self._client.entries(f"{self._path}/milestones", GitHubMilestone, {**_PAGE, "state": "all"})
        titles = {milestone.title: str(milestone.number) for milestone in milestones}
        timeline = Timeline(self._users, self._repository().full_name, titles)
        return GitHubItems(self._client, self._users, self._path, timeline)

    def _records(self, kind: Kind) -> Sequence[ProjectRecord]:
        readers: dict[Kind, Callable[[], Sequence[ProjectRecord]]] = {
            "settings": lambda: [self._settings()],
            "members": self._members,
            "labels": self._labels,
            "milestones": self._milestones,
            "releases": self._releases,
            "protected_branches": self._protected_branches,
            "hooks": self._hooks,
            "deploy_keys": self._deploy_keys,
            "variables": self._variables,
        }
        return readers[kind]() if kind in readers else []

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
        parameters = {**_PAGE, "affiliation": "direct"}
        members = self._client.entries(f"{self._path}/collaborators", GitHubUser, parameters)
        return [MemberRecord(user=self._users.record(user), access_level=_level(user)) for user in members]

    def _labels(self) -> list[LabelRecord]:
        labels = self._client.entries(f"{self._path}/labels", GitHubLabel, _PAGE)
        return [
            LabelRecord(key=str(label.id), title=label.name, color=f"#{label.color}", description=label.description)
            for label in labels
        ]

    def _milestones(self) -> list[MilestoneRecord]:
        return [
            MilestoneRecord(
                key=str(milestone.number),
                iid=milestone.number,
                title=milestone.title,
                description=milestone.description,
                state="active" if milestone.state == "open" else "closed",
                due_date=(milestone.due_on or "")[:10] or None,
                created_at=milestone.created_at,
                updated_at=milestone.updated_at,
            )
            for milestone in self._client.entries(
                f"{self._path}/milestones", GitHubMilestone, {**_PAGE, "state": "all"}
            )
        ]

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
            for release in self._client.entries(f"{self._path}/releases", GitHubRelease, _PAGE)
            if not release.draft
        ]

    def _protected_branches(self) -> list[ProtectedRefRecord]:
        """Return the protected branches; only administrators may read the rules, others get the default levels."""
        records = []
        parameters = {**_PAGE, "protected": "true"}
        for branch in self._client.entries(f"{self._path}/branches", GitHubProtectedBranch, parameters):
            path = f"{self._path}/branches/{quote(branch.name, safe='')}/protection"
            rules = self._client.get_or_none(path, GitHubProtection) or GitHubProtection()
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
            for hook in self._client.entries(f"{self._path}/hooks", GitHubHook, _PAGE)
            if hook.config.url
        ]

    def _deploy_keys(self) -> list[DeployKeyRecord]:
        return [
            DeployKeyRecord(key=str(key.id), title=key.title, public_key=key.key, can_push=not key.read_only)
            for key in self._client.entries(f"{self._path}/keys", GitHubDeployKey, _PAGE)
        ]

    def _variables(self) -> list[VariableRecord]:
        found: list[GitHubVariable] = []
        for page in range(1, 1000):
            parameters = {"per_page": _VARIABLES_PER_PAGE, "page": page}
            listed = self._client.get(f"{self._path}/actions/variables", GitHubVariables, parameters)
            found += listed.variables
            if len(found) >= listed.total_count or not listed.variables:
                break
        return [VariableRecord(name=variable.name, value=variable.value) for variable in found]


class GitHubOrganizationSource:
    """Source of an organization's, or a user's, repositories."""

    def __init__(self, client: SourceClient, key: str) -> None:
        self._client = client
        self._key = key

    def groups(self) -> Iterator[GroupRecord]:
        """Yield the organization."""
        yield GroupRecord(key=self._key, full_path=self._key, name=self._key)

    def project_keys(self) -> Iterator[tuple[str, str]]:
        """Yield the full name of each repository."""
        kind = "orgs" if self._client.get_or_none(f"/orgs/{quote(self._key)}", dict) is not None else "users"
        for page in self._client.pages(f"/{kind}/{quote(self._key)}/repos", GitHubRepository, _PAGE):
            for repository in page:
                yield repository.full_name, repository.full_name

    def close(self) -> None:
        """Close connections."""
        self._client.close()


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
