"""Repository of Gitea or Forgejo as a source of imports, and an organization as a list of repositories."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import IO
from urllib.parse import quote

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
from ingot.integrations.transfers.sources.gitea.attachments import file_path
from ingot.integrations.transfers.sources.gitea.items import PAGE_SIZE, GiteaItems
from ingot.integrations.transfers.sources.gitea.shapes import (
    GiteaDeployKey,
    GiteaHook,
    GiteaLabel,
    GiteaMilestone,
    GiteaPermission,
    GiteaProtection,
    GiteaRelease,
    GiteaRepository,
    GiteaUser,
    GiteaVariable,
)
from ingot.integrations.transfers.sources.gitea.users import user_record
from ingot.integrations.transfers.sources.wikis import repository_exists

PULL_REQUEST_REFS = "refs/pull/*/head"
_GIT_USERNAME = "oauth2"
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
# Requests for each item besides its page: timeline and reactions; those of comments depend on their number.
_REQUESTS_PER_ITEM: dict[Kind, int] = {"issues": 3, "merge_requests": 3}
_OMITTED = (
    "Secrets of actions and of webhooks: the source does not show them.",
    "Runs of actions, projects and packages: they have no counterpart.",
)


class GiteaProjectSource:
    """Source of one repository; ``key`` is ``owner/name``."""

    def __init__(self, client: SourceClient, guard: SsrfGuard, url: str, token: str, key: str) -> None:
        self._client = client
        self._guard = guard
        self._url = url.rstrip("/")
        self._token = token
        self._path = f"/api/v1/repos/{quote(key)}"
        self._loaded: GiteaRepository | None = None

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
                omitted.append(f"{kind.replace('_', ' ').capitalize()}: disabled, or the token may not read them.")
                continue
            counts.append(KindCount(kind, total or 0, exact=total is not None))
            requests += max(1, -(-(total or 0) // PAGE_SIZE)) + (total or 0) * _REQUESTS_PER_ITEM.get(kind, 0)
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
        if repository.empty:
            return None
        return RepositoryLocation(
            url=f"{self._url}/{repository.full_name}.git",
            username=_GIT_USERNAME if self._token else None,
            password=self._token or None,
            merge_request_refs=PULL_REQUEST_REFS,
            lfs=True,
        )

    def wiki(self) -> RepositoryLocation | None:
        """Return the URL of the wiki's repository if it has a page."""
        repository = self._repository()
        url = f"{self._url}/{repository.full_name}.wiki.git"
        username = _GIT_USERNAME if self._token else ""
        if not repository.has_wiki or not repository_exists(self._guard, url, username, self._token):
            return None
        return RepositoryLocation(url=url, username=username or None, password=self._token or None)

    def batches(self, kind: Kind, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the records of a kind."""
        items = GiteaItems(self._client, self._path)
        try:
            match kind:
                case "issues":
                    yield from items.issues(cursor, since)
                case "merge_requests":
                    yield from items.pull_requests(cursor, since)
                case "issue_links":
                    yield from items.links(cursor, since)
                case _ if cursor is None:
                    yield Batch(self._records(kind), "done")
        except StatusError as error:
            # The feature is disabled or needs a higher role; the inventory says so. A refused token is an error.
            if error.status == 401 and not self._token:
                return
            if error.status not in (403, 404):
                raise

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open an attachment, a file of a release or the avatar; None for any other link."""
        # Links contain the server's own idea of its URL, which may differ from the one that the user named.
        own = self._repository().html_url.removesuffix(f"/{self._repository().full_name}")
        path = file_path(link, [self._url, own])
        return None if path is None else self._client.open_file(self._client.url(path))

    def request_count(self) -> int:
        """Return the number of requests sent."""
        return self._client.requests

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def _repository(self) -> GiteaRepository:
        if self._loaded is None:
            self._loaded = self._client.get(self._path, GiteaRepository)
        return self._loaded

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
        for user in self._client.entries(f"{self._path}/collaborators", GiteaUser, _PAGE):
            path = f"{self._path}/collaborators/{quote(user.login)}/permission"
            permission = (self._client.get_or_none(path, GiteaPermission) or GiteaPermission("write")).permission
            records.append(MemberRecord(user=user_record(user), access_level=_LEVELS.get(permission, 30)))
        return records

    def _labels(self) -> list[LabelRecord]:
        own = self._client.entries(f"{self._path}/labels", GiteaLabel, _PAGE)
        owner = quote(self._repository().owner.login)
        shared = self._client.entries_or_none(f"/api/v1/orgs/{owner}/labels", GiteaLabel, _PAGE) or []
        return [
            LabelRecord(
                key=str(label.id),
                title=label.name,
                color=f"#{label.color.lstrip('#')}",
                description=label.description or None,
                of_group=of_group,
            )
            for labels, of_group in ((own, False), (shared, True))
            for label in labels
        ]

    def _milestones(self) -> list[MilestoneRecord]:
        """Return the milestones; they have no numbers at the source, so that they are numbered by age."""
        milestones = self._client.entries(f"{self._path}/milestones", GiteaMilestone, {**_PAGE, "state": "all"})
        return [
            MilestoneRecord(
                key=str(milestone.id),
                iid=number,
                title=milestone.title,
                description=milestone.description or None,
                state="active" if milestone.state == "open" else "closed",
                due_date=(milestone.due_on or "")[:10] or None,
                created_at=milestone.created_at,
                updated_at=milestone.updated_at,
            )
            for number, milestone in enumerate(sorted(milestones, key=lambda each: each.id), 1)
        ]

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
            for release in self._client.entries(f"{self._path}/releases", GiteaRelease, _PAGE)
            if not release.draft
        ]

    def _protected_branches(self) -> list[ProtectedRefRecord]:
        rules = self._client.entries(f"{self._path}/branch_protections", GiteaProtection, _PAGE)
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
            for hook in self._client.entries(f"{self._path}/hooks", GiteaHook, _PAGE)
            if hook.config.url
        ]

    def _deploy_keys(self) -> list[DeployKeyRecord]:
        return [
            DeployKeyRecord(key=str(key.id), title=key.title, public_key=key.key, can_push=not key.read_only)
            for key in self._client.entries(f"{self._path}/keys", GiteaDeployKey, _PAGE)
        ]

    def _variables(self) -> list[VariableRecord]:
        variables = self._client.entries(f"{self._path}/actions/variables", GiteaVariable, _PAGE)
        return [VariableRecord(name=variable.name, value=variable.data) for variable in variables]


class GiteaOrganizationSource:
    """Source of an organization's, or a user's, repositories."""

    def __init__(self, client: SourceClient, key: str) -> None:
        self._client = client
        self._key = key

    def groups(self) -> Iterator[GroupRecord]:
        """Yield the organization."""
        yield GroupRecord(key=self._key, full_path=self._key, name=self._key)

    def project_keys(self) -> Iterator[tuple[str, str]]:
        """Yield the full name of each repository."""
        kind = "orgs" if self._client.get_or_none(f"/api/v1/orgs/{quote(self._key)}", dict) is not None else "users"
        for page in self._client.pages(f"/api/v1/{kind}/{quote(self._key)}/repos", GiteaRepository, _PAGE):
            for repository in page:
                yield repository.full_name, repository.full_name

    def close(self) -> None:
        """Close connections."""
        self._client.close()
