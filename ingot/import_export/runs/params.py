"""Request parameters of imports."""

from typing import Annotated, Literal

from msgspec import Meta

from ingot.accounts.instance.settings import Visibility
from ingot.core.api.params import Params, Upload

SourceUrl = Annotated[str, Meta(max_length=2000)]
SourceToken = Annotated[str, Meta(max_length=2000)]
SourcePath = Annotated[str, Meta(max_length=1000)]
Server = Literal["gitlab", "github", "gitea"]


class SourceConfiguration(Params):
    """Server that is imported from."""

    url: SourceUrl
    access_token: SourceToken = ""
    source_type: Server = "gitlab"


class RequestedEntity(Params):
    """Project or group of the source, and its destination."""

    source_type: Literal["group_entity", "project_entity"]
    source_full_path: SourcePath
    destination_namespace: SourcePath = ""
    destination_slug: str | None = None
    destination_name: str | None = None
    migrate_projects: bool = True
    migrate_memberships: bool = True


class StartImport(Params):
    """Import of projects and groups of another server.

    ``user_mapping`` names users of this instance by usernames, ids or e-mail addresses of the source.
    """

    configuration: SourceConfiguration
    entities: list[RequestedEntity]
    user_mapping: dict[str, str] | None = None
    visibility: Visibility | None = None


class ListImports(Params):
    """Order and status of the imports to list."""

    sort: Literal["asc", "desc"] = "desc"
    status: Literal["created", "started", "finished", "failed", "canceled"] | None = None


class GetReport(Params):
    """Format of the report."""

    format: Literal["json", "text"] = "json"


class ImportFromGitHub(Params):
    """Repository of GitHub or GitHub Enterprise; options of GitLab's importer that have no meaning here are ignored."""

    personal_access_token: SourceToken
    repo_id: str
    target_namespace: SourcePath
    new_name: str | None = None
    github_hostname: SourceUrl | None = None
    user_mapping: dict[str, str] | None = None


class ImportFromGitea(Params):
    """Repository of a Gitea or Forgejo server, by its full name."""

    gitea_host_url: SourceUrl
    repository: SourcePath
    target_namespace: SourcePath
    personal_access_token: SourceToken = ""
    new_name: str | None = None
    user_mapping: dict[str, str] | None = None


class CancelImport(Params):
    """Project whose import is canceled."""

    project_id: int


class ImportArchive(Params):
    """Archive of a project, and the path of the new project."""

    file: Upload
    path: str
    name: str | None = None
    namespace: str | None = None
    overwrite: bool = False
    override_params: dict[str, str] | None = None


class ImportGroup(Params):
    """Archive of a group, and the name, path and parent of the new group."""

    file: Upload
    path: str
    name: str
    parent_id: int | None = None


class ImportRemoteArchive(Params):
    """Address of an archive of a project, and the path of the new project."""

    url: SourceUrl
    path: str
    name: str | None = None
    namespace: str | None = None
    overwrite: bool = False
    override_params: dict[str, str] | None = None
