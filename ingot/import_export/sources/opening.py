"""Opening of the projects and groups of other servers by the kind of server."""

from typing import Literal

from ingot.core.outgoing.guard import SsrfGuard
from ingot.import_export.source import GroupSource, ProjectSource
from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.gitea.repository import GiteaOrganizationSource, GiteaProjectSource
from ingot.import_export.sources.github.repository import (
    GitHubOrganizationSource,
    GitHubProjectSource,
    api_url,
)
from ingot.import_export.sources.gitlab.group import GitLabGroupSource
from ingot.import_export.sources.gitlab.project import GitLabProjectSource
from ingot.import_export.sources.request_sender import MAX_FILE_BYTES

SourceKind = Literal["gitlab", "github", "gitea"]
SOURCE_KINDS: tuple[SourceKind, ...] = ("gitlab", "github", "gitea")


def open_source(
    kind: SourceKind, url: str, token: str, key: str, *, guard: SsrfGuard, max_file_bytes: int = MAX_FILE_BYTES
) -> ProjectSource:
    """Return a project of another server; nothing is requested yet."""
    client = _client(kind, url, token, guard, max_file_bytes)
    if kind == "gitlab":
        return GitLabProjectSource(client, url, token, key)
    if kind == "github":
        return GitHubProjectSource(client, url, token, key)
    return GiteaProjectSource(client, url, token, key)


def open_group(
    kind: SourceKind, url: str, token: str, key: str, *, guard: SsrfGuard, max_file_bytes: int = MAX_FILE_BYTES
) -> GroupSource:
    """Return a group or an organization of another server; nothing is requested yet."""
    client = _client(kind, url, token, guard, max_file_bytes)
    if kind == "gitlab":
        return GitLabGroupSource(client, key)
    if kind == "github":
        return GitHubOrganizationSource(client, key)
    return GiteaOrganizationSource(client, key)


def _client(kind: SourceKind, url: str, token: str, guard: SsrfGuard, max_file_bytes: int) -> SourceClient:
    # GitLab accepts personal, group and project tokens and those of OAuth as a bearer.
    headers = _authorization("token" if kind == "gitea" else "Bearer", token)
    if kind == "github":
        headers |= {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        url = api_url(url)
    return SourceClient(guard, url, headers, secrets=[token], max_file_bytes=max_file_bytes)


def _authorization(scheme: str, token: str) -> dict[str, str]:
    """Return the header with the token; public projects can be read without one."""
    return {"Authorization": f"{scheme} {token}"} if token else {}
