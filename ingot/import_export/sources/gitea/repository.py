"""Repository of Gitea or Forgejo as a source of imports, and an organization as a list of repositories."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import IO
from urllib.parse import quote

from ingot.import_export.records import (
    HookRecord,
    Kind,
    MemberRecord,
    MilestoneRecord,
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
from ingot.import_export.sources.gitea.attachments import file_path
from ingot.import_export.sources.gitea.items import PAGE_SIZE, GiteaItems
from ingot.import_export.sources.gitea.shapes import (
    GiteaDeployKey,
    GiteaHook,
    GiteaItem,
    GiteaLabel,
    GiteaMilestone,
    GiteaPermission,
    GiteaProtection,
    GiteaPullRequest,
    GiteaRelease,
    GiteaRepository,
    GiteaStatus,
    GiteaUser,
    GiteaVariable,
)
from ingot.import_export.sources.gitea.users import user_record
from ingot.import_export.sources.hosted_repository import (
    Conventions,
    HostedOrganizationSource,
    HostedRepositorySource,
    RepositoryIdentity,
    deploy_key_records,
    label_record,
    milestone_record,
)

_PAGE = {"limit": str(PAGE_SIZE)}
_LEVELS = {"read": 20, "write": 30, "admin": 40, "owner": 50}
_HOOK_EVENTS = {
    "push": "push_events",
    "create": "tag_push_events",
    "issues": "issues_events",
    "issue_comment": "note_events",
    "pull_request": "merge_requests_events",
    "pull_request_comment": "note_events",
    "release": "releases_events",
    "wiki": "wiki_page_events",
}
_COUNTED: tuple[tuple[Kind, str, dict[str, str]], ...] = (
    ("members", "collaborators", {}),
    ("labels", "labels", {}),
    ("milestones", "milestones", {"state": "all"}),
    ("issues", "issues", {"state": "all", "type": "issues"}),
    ("merge_requests", "pulls", {"state": "all"}),
    ("releases", "releases", {}),
    ("protected_branches", "branch_protections", {}),
    ("hooks", "hooks", {}),
    ("deploy_keys", "keys", {}),
    ("variables", "actions/variables", {}),
)
_OMITTED = (
    "Secrets of actions and of webhooks: the source does not show them.",
    "Runs of actions, projects and packages: they have no counterpart.",
)
_CONVENTIONS = Conventions(
    git_username="oauth2",
    page=_PAGE,
    page_size=PAGE_SIZE,
    counted=_COUNTED,
    # Timeline, comments and reactions; the reactions of comments depend on their number.
    requests_per_item={"issues": 3, "merge_requests": 5},
    omitted=_OMITTED,
)


class GiteaProjectSource(HostedRepositorySource):
    """Source of one repository; ``key`` is ``owner/name``."""

    conventions = _CONVENTIONS

    def __init__(self, client: SourceClient, url: str, token: str, key: str) -> None:
        super().__init__(client, url, token)
        self._path = f"/api/v1/repos/{quote(key)}"
        self._loaded: GiteaRepository | None = None

    @property
    def path(self) -> str:
        """The path of the repository below the URL of the server."""
        return self._path

    def identity(self) -> RepositoryIdentity:
        """Return the names of the repository."""
        repository = self._repository()
        return RepositoryIdentity(repository.name, repository.full_name, repository.empty, repository.has_wiki)

    def counted(self, kind: Kind, total: int, counts: Sequence[KindCount]) -> int:  # noqa: ARG002 - Of the base.
        """Return the number of records of a kind; labels of the organization are imported, too."""
        return total + len(self._shared_labels()) if kind == "labels" else total

    def item_batches(self, kind: Kind, cursor: str | None, since: str | None) -> Iterator[Batch] | None:
        """Return the batches of a kind that is read page by page."""
        items = GiteaItems(self.client, self.path, self.numbers)
        match kind:
            case "issues":
                return items.issues(cursor, since)
            case "merge_requests":
                return items.pull_requests(cursor, since)
            case "issue_links":
                return items.links(cursor, since)
            case "statuses":
                return status_batches(self._heads(since), cursor, self._statuses)
        return None

    def pull_request_numbers(self) -> Iterator[int]:
        """Yield the numbers of all pull requests; the list of issues is lighter than that of pull requests."""
        return (item.number for item in self.entries_or_empty("issues", GiteaItem, state="all", type="pulls"))

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open an attachment, a file of a release or the avatar; None for any other link."""
        # Links contain the server's own idea of its URL, which may differ from the one that the user named.
        own = self._repository().html_url.removesuffix(f"/{self._repository().full_name}")
        path = file_path(link, [self.url, own])
        return None if path is None else self.client.open_file(self.client.url(path))

    def readers(self) -> Mapping[Kind, Callable[[], Sequence[ProjectRecord]]]:
        """Return the functions that read the kinds whose lists are short."""
        return {
            "settings": lambda: [self._settings()],
            "members": self._members,
            "labels": lambda: [
                *(label_record(label) for label in self.entries("labels", GiteaLabel)),
                *(label_record(label, of_group=True) for label in self._shared_labels()),
            ],
            "milestones": self._milestones,
            "releases": self._releases,
            "protected_branches": self._protected_branches,
            "hooks": self._hooks,
            "deploy_keys": lambda: deploy_key_records(self.entries("keys", GiteaDeployKey)),
            "variables": self._variables,
        }

    def _repository(self) -> GiteaRepository:
        if self._loaded is None:
            self._loaded = self.client.get(self.path, GiteaRepository)
        return self._loaded

    def _shared_labels(self) -> list[GiteaLabel]:
        owner = quote(self._repository().owner.login)
        return self.client.entries_or_none(f"/api/v1/orgs/{owner}/labels", GiteaLabel, _PAGE) or []

    def _heads(self, since: str | None) -> Iterator[HeadCommit]:
        parameters = {**_PAGE, "state": "all", "sort": "recentupdate"}
        pulls = self.client.pages(f"{self.path}/pulls", GiteaPullRequest, parameters)
        branches = partial(self.entries, "branches", ListedBranch)
        return head_commits(pulls, branches, self._repository().default_branch, since)

    def _statuses(self, heads: Sequence[HeadCommit]) -> list[StatusRecord]:
        targets = [self.client.target(f"{self.path}/commits/{head.sha}/statuses", _PAGE) for head in heads]
        return [
            status_record(status, head, user_record(status.creator) if status.creator else None)
            for head, found in zip(heads, self.client.lists(targets, GiteaStatus), strict=True)
            for status in found
        ]

    def _settings(self) -> SettingsRecord:
        repository = self._repository()
        visibility = "private" if repository.private else "internal" if repository.internal else "public"
        return SettingsRecord(
            attributes={
                "name": repository.name,
                "description": repository.description,
                "visibility": visibility,
                "issues_enabled": repository.has_issues,
                "merge_requests_enabled": repository.has_pull_requests,
                "wiki_enabled": repository.has_wiki,
                "remove_source_branch_after_merge": repository.default_delete_branch_after_merge,
                **({"default_branch": repository.default_branch} if repository.default_branch else {}),
            },
            topics=repository.topics or [],
            avatar=repository.avatar_url or None,
            created_at=repository.created_at,
            archived=repository.archived,
        )

    def _members(self) -> list[MemberRecord]:
        records = []
        for user in self.entries("collaborators", GiteaUser):
            path = f"{self.path}/collaborators/{quote(user.login)}/permission"
            permission = (self.client.get_or_none(path, GiteaPermission) or GiteaPermission("write")).permission
            records.append(MemberRecord(user=user_record(user), access_level=_LEVELS.get(permission, 30)))
        return records

    def _milestones(self) -> list[MilestoneRecord]:
        """Return the milestones; they have no numbers at the source, so that they are numbered by age."""
        milestones = sorted(self.entries("milestones", GiteaMilestone, state="all"), key=lambda each: each.id)
        return [milestone_record(milestone, milestone.id, number) for number, milestone in enumerate(milestones, 1)]

    def _releases(self) -> list[ReleaseRecord]:
        return [
            ReleaseRecord(
                tag=release.tag_name,
                name=release.name or None,
                description=release.body,
                author=user_record(release.author),
                created_at=release.created_at,
                released_at=release.published_at,
                links=[
                    ReleaseLinkRecord(
                        key=str(asset.id),
                        name=asset.name,
                        url=asset.browser_download_url,
                        file=asset.browser_download_url,
                    )
                    for asset in release.assets or []
                ],
            )
            for release in self.entries("releases", GiteaRelease)
            if not release.draft
        ]

    def _protected_branches(self) -> list[ProtectedRefRecord]:
        rules = self.entries("branch_protections", GiteaProtection)
        return [
            ProtectedRefRecord(
                name=rule.rule_name or rule.branch_name,
                push_level=40 if rule.enable_push else 0,
                allow_force_push=rule.enable_force_push,
            )
            for rule in rules
            if rule.rule_name or rule.branch_name
        ]

    def _hooks(self) -> list[HookRecord]:
        return [
            HookRecord(
                key=str(hook.id),
                url=hook.config.url,
                events=sorted({_HOOK_EVENTS[event] for event in hook.events or [] if event in _HOOK_EVENTS}),
            )
            for hook in self.entries("hooks", GiteaHook)
            if hook.config.url
        ]

    def _variables(self) -> list[VariableRecord]:
        variables = self.entries("actions/variables", GiteaVariable)
        return [VariableRecord(name=variable.name, value=variable.data) for variable in variables]


class GiteaOrganizationSource(HostedOrganizationSource):
    """Source of the repositories of an organization or a user."""

    def __init__(self, client: SourceClient, key: str) -> None:
        super().__init__(client, key, "/api/v1", _PAGE)
