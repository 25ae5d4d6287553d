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

SourceKind = Literal["gitlab", "github", "gitea"]
SOURCE_KINDS: tuple[SourceKind, ...] = ("gitlab", "github", "gitea")


def open_source(kind: SourceKind, url: str, token: str, key: str, *, guard: SsrfGuard) -> ProjectSource:
    """Return a project of another server; nothing is requested yet."""
    if kind == "gitlab":
        return GitLabProjectSource(_gitlab_client(guard, url, token), url, token, key)
    if kind == "github":
        return GitHubProjectSource(_github_client(guard, url, token), url, token, key)
    return GiteaProjectSource(_gitea_client(guard, url, token), url, token, key)


def open_group(kind: SourceKind, url: str, token: str, key: str, *, guard: SsrfGuard) -> GroupSource:
    """Return a group or an organization of another server; nothing is requested yet."""
    if kind == "gitlab":
        return GitLabGroupSource(_gitlab_client(guard, url, token), key)
    if kind == "github":
        return GitHubOrganizationSource(_github_client(guard, url, token), key)
    return GiteaOrganizationSource(_gitea_client(guard, url, token), key)


def _gitlab_client(guard: SsrfGuard, url: str, token: str) -> SourceClient:
    # A personal, group or project token, or an OAuth token: GitLab accepts all of them as a bearer.
    return SourceClient(guard, url, _authorization("Bearer", token), secrets=[token])


def _github_client(guard: SsrfGuard, url: str, token: str) -> SourceClient:
    headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
    headers |= _authorization("Bearer", token)
    return SourceClient(guard, api_url(url), headers, secrets=[token])


def _gitea_client(guard: SsrfGuard, url: str, token: str) -> SourceClient:
    return SourceClient(guard, url, _authorization("token", token), secrets=[token])


def _authorization(scheme: str, token: str) -> dict[str, str]:
    """Return the header with the token; public projects can be read without one."""
    return {"Authorization": f"{scheme} {token}"} if token else {}
