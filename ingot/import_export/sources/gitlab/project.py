"""Project of a GitLab as a source of imports."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import IO, Any
from urllib.parse import quote

from ingot.import_export.records import Kind, ProjectRecord, SettingsRecord
from ingot.import_export.source import Batch, Inventory, RepositoryLocation
from ingot.import_export.sources.client import SourceClient, StatusError
from ingot.import_export.sources.gitlab import access, resources
from ingot.import_export.sources.gitlab.attachments import upload_of
from ingot.import_export.sources.gitlab.commit_notes import CommitNoteReader
from ingot.import_export.sources.gitlab.inventory import take_inventory
from ingot.import_export.sources.gitlab.items import IssueReader, MergeRequestReader
from ingot.import_export.sources.gitlab.pipelines import schedule_records, status_batches
from ingot.import_export.sources.gitlab.shapes import (
    GitLabBadge,
    GitLabBoard,
    GitLabDeployKey,
    GitLabLabel,
    GitLabMilestone,
    GitLabProject,
    GitLabProtectedEnvironment,
    GitLabProtectedRef,
    GitLabRelease,
    GitLabSnippet,
    GitLabUser,
    GitLabVariable,
)
from ingot.import_export.sources.gitlab.users import GitLabUsers
from ingot.import_export.sources.times import changed_since

MERGE_REQUEST_REFS = "refs/merge-requests/*/head"
_GIT_USERNAME = "oauth2"
_PAGE = {"per_page": 100}
_ATTRIBUTES = (
    "name",
    "description",
    "visibility",
    "default_branch",
    "issues_enabled",
    "merge_requests_enabled",
    "wiki_enabled",
    "snippets_enabled",
    "jobs_enabled",
    "container_registry_enabled",
    "lfs_enabled",
    "issues_access_level",
    "repository_access_level",
    "merge_requests_access_level",
    "forking_access_level",
    "wiki_access_level",
    "builds_access_level",
    "snippets_access_level",
    "pages_access_level",
    "analytics_access_level",
    "releases_access_level",
    "request_access_enabled",
    "shared_runners_enabled",
    "only_allow_merge_if_pipeline_succeeds",
    "allow_merge_on_skipped_pipeline",
    "merge_pipelines_enabled",
    "only_allow_merge_if_all_discussions_are_resolved",
    "remove_source_branch_after_merge",
    "printing_merge_request_link_enabled",
    "merge_method",
    "squash_option",
    "merge_commit_template",
    "squash_commit_template",
    "suggestion_commit_message",
    "public_jobs",
    "ci_config_path",
    "ci_default_git_depth",
    "build_timeout",
    "build_git_strategy",
    "auto_cancel_pending_pipelines",
    "auto_devops_enabled",
    "autoclose_referenced_issues",
    "emails_enabled",
    "resolve_outdated_diff_discussions",
)


class GitLabProjectSource:
    """Source of one project; ``key`` is its id or its full path."""

    def __init__(self, client: SourceClient, url: str, token: str, key: str) -> None:
        self._client = client
        self._url = url.rstrip("/")
        self._token = token
        self._path = f"/api/v4/projects/{quote(key, safe='')}"
        self._users = GitLabUsers(client)
        self._loaded: dict[str, Any] | None = None

    def inventory(self) -> Inventory:
        """Count the project's data."""
        return take_inventory(self._client, self._path, self._project())

    def repository(self) -> RepositoryLocation | None:
        """Return the URL of the repository, with the token as password."""
        project = self._project()
        if project.empty_repo:
            return None
        return RepositoryLocation(
            url=f"{self._url}/{project.path_with_namespace}.git",
            username=_GIT_USERNAME if self._token else None,
            password=self._token or None,
            merge_request_refs=MERGE_REQUEST_REFS,
            lfs=project.lfs_enabled,
        )

    def wiki(self) -> RepositoryLocation | None:
        """Return the URL of the wiki's repository if it has a page."""
        project = self._project()
        if not project.wiki_enabled or project.wiki_access_level == "disabled":
            return None
        if not self._client.get_or_none(f"{self._path}/wikis", list[dict[str, Any]]):
            return None
        url = f"{self._url}/{project.path_with_namespace}.wiki.git"
        username = _GIT_USERNAME if self._token else None
        return RepositoryLocation(url=url, username=username, password=self._token or None)

    def batches(self, kind: Kind, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the records of a kind."""
        full_path = self._project().path_with_namespace
        try:
            match kind:
                case "issues":
                    yield from IssueReader(self._client, self._users, self._path, full_path).batches(cursor, since)
                case "issue_links":
                    reader = IssueReader(self._client, self._users, self._path, full_path)
                    yield from reader.links(self._project().id, cursor, since)
                case "merge_requests":
                    requests = MergeRequestReader(self._client, self._users, self._path, full_path)
                    yield from requests.batches(cursor, since)
                case "commit_notes":
                    yield from CommitNoteReader(self._client, self._users, self._path).batches(cursor, since)
                case "statuses":
                    yield from status_batches(self._client, self._users, self._path, cursor, since)
                case _ if cursor is None:
                    # All other lists are short: one batch, whose cursor means that there is nothing left.
                    yield Batch(self._records(kind, since), "done")
        except StatusError as error:
            # The feature is disabled or needs a higher role; the inventory says so. A refused token is an error.
            if error.status not in (403, 404) and (self._token or error.status != 401):
                raise

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open an upload or the avatar; None for any other link."""
        project = self._project()
        if link == project.avatar_url:
            return self._download([f"{self._path}/avatar"])
        upload = upload_of(link, self._url, project.path_with_namespace, project.id)
        if upload is None:
            return None
        secret, name = upload
        file = f"uploads/{secret}/{quote(name, safe='')}"
        return self._download([f"{self._path}/{file}", f"/{quote(project.path_with_namespace)}/{file}"])

    def request_count(self) -> int:
        """Return the number of requests sent."""
        return self._client.requests

    def take_problems(self) -> list[str]:
        """Return sentences about the parts that were left out since the last call."""
        return self._client.take_problems()

    def skip_failures(self) -> None:
        """Leave out what fails temporarily, too; raise SourceError if all fails."""
        self._client.skip_failures(self._path)

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def _download(self, paths: Sequence[str]) -> AbstractContextManager[IO[bytes]] | None:
        """Return a file from the first path that has it; older versions offer uploads on their pages only."""
        for path in paths:
            opened = self._client.open_file(self._client.url(path))
            if opened is not None:
                return opened
        return None

    def _project(self) -> GitLabProject:
        return self._client.convert(self._document(), GitLabProject)

    def _document(self) -> dict[str, Any]:
        if self._loaded is None:
            self._loaded = self._client.get(self._path, dict[str, Any])
        return self._loaded

    def _records(self, kind: Kind, since: str | None) -> Sequence[ProjectRecord]:
        readers: dict[Kind, Callable[[], Sequence[ProjectRecord]]] = {
            "settings": lambda: [self._settings()],
            "members": lambda: access.member_records(self._users, self._list("members", GitLabUser)),
            "labels": lambda: resources.label_records(
                self._list("labels", GitLabLabel, include_ancestor_groups="true")
            ),
            "milestones": lambda: resources.milestone_records(
                self._list("milestones", GitLabMilestone, include_ancestors="true", include_parent_milestones="true")
            ),
            "boards": lambda: resources.board_records(self._list("boards", GitLabBoard)),
            "releases": lambda: resources.release_records(
                self._users, self._list("releases", GitLabRelease), self._project().path_with_namespace
            ),
            "snippets": lambda: [
                resources.snippet_record(self._client, self._users, f"{self._path}/snippets", snippet)
                for snippet in self._list("snippets", GitLabSnippet)
                if changed_since(snippet.updated_at, since)
            ],
            "protected_branches": lambda: access.protected_ref_records(
                self._list("protected_branches", GitLabProtectedRef)
            ),
            "protected_tags": lambda: access.protected_ref_records(self._list("protected_tags", GitLabProtectedRef)),
            "protected_environments": lambda: access.protected_environment_records(
                self._list("protected_environments", GitLabProtectedEnvironment)
            ),
            "hooks": lambda: access.hook_records(self._list("hooks", dict[str, Any])),
            "deploy_keys": lambda: access.deploy_key_records(self._list("deploy_keys", GitLabDeployKey)),
            "variables": lambda: access.variable_records(self._list("variables", GitLabVariable)),
            "badges": lambda: access.badge_records(self._list("badges", GitLabBadge), "project"),
            "schedules": lambda: schedule_records(self._client, self._users, self._path),
        }
        return readers[kind]() if kind in readers else []

    def _list(self, name: str, shape: type[Any], **parameters: str) -> list[Any]:
        return self._client.entries(f"{self._path}/{name}", shape, {**_PAGE, **parameters})

    def _settings(self) -> SettingsRecord:
        document, project = self._document(), self._project()
        return SettingsRecord(
            attributes={name: document[name] for name in _ATTRIBUTES if document.get(name) is not None},
            topics=project.topics if project.topics is not None else project.tag_list,
            avatar=project.avatar_url,
            created_at=project.created_at,
            archived=project.archived,
        )
