"""Endpoints of imports from other servers and from archives."""

import os
import secrets

import msgspec

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.rules import require, signed_in
from ingot.core.api.params import Upload, path_number
from ingot.core.api.routes import Call, RawResponse, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Denied, Invalid
from ingot.import_export.runs import queries, service
from ingot.import_export.runs.opening import ArchiveFile, store_archive
from ingot.import_export.runs.params import (
    CancelImport,
    GetReport,
    ImportArchive,
    ImportFromGitea,
    ImportFromGitHub,
    ImportGroup,
    ImportRemoteArchive,
    ListImports,
    StartImport,
)
from ingot.import_export.runs.report import report_of, report_text
from ingot.import_export.runs.requests import ImportRequests, ServerProject
from ingot.import_export.runs.views import (
    EntityView,
    FailureView,
    GroupImportView,
    ImportedProjectView,
    PlanView,
    RunView,
    entity_views,
    failure_views,
    imported_project_view,
    planned_project_view,
    run_views,
)
from ingot.import_export.tables import ImportEntity, ImportRun, SourceType
from ingot.projects.imports.views import ImportView, import_view
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.policy import may_admin_project
from ingot.projects.projects.queries import existing_project, find_project

routes = Routes("imports")
GITHUB = "https://github.com"
MAX_ARCHIVE_BYTES = 10 * 2**30
"""Largest archive that a request may contain."""
MAX_PLANNED_PROJECTS = 100
_TITLES = {"gitlab": "GitLab", "github": "GitHub", "gitea": "Gitea", "archive": "archives"}


def run_in_path(call: Call) -> tuple[Access, ImportRun]:
    """Find the caller's run in the path."""
    return NO_ACCESS, queries.find_run(call.db, call.actor, path_number(call.path, "import_id"))


def entity_in_path(call: Call) -> tuple[Access, ImportEntity]:
    """Find the entity in the path, of a run of the caller."""
    access, run = run_in_path(call)
    return access, queries.find_entity(call.db, run, path_number(call.path, "entity_id"))


def may_see_import(actor: object, access: Access, subject: object) -> bool:  # noqa: ARG001 - All rules take the same three.
    """All callers who find it: only the user who started an import does."""
    return True


def max_archive_bytes(db: Connection) -> int:
    """Return the size of the largest archive that can be uploaded."""
    return min(cached_all_settings(db).max_import_size * 2**20 or MAX_ARCHIVE_BYTES, MAX_ARCHIVE_BYTES)


def _stored_archive(stage: StagedCall, upload: Upload) -> ArchiveFile:
    """Store an uploaded archive; raise Invalid if it is too large."""
    max_bytes, file = stage.database.read(max_archive_bytes), upload.file
    if file.seek(0, os.SEEK_END) > max_bytes:
        raise Invalid(file=[f"is larger than {max_bytes >> 20} MB"])
    return store_archive(stage.settings, file, upload.filename)


def _requests(stage: StagedCall) -> ImportRequests:
    return ImportRequests(stage.database, stage.settings, stage.actor, repository_store(stage.settings))


def _require_enabled(stage: StagedCall, kind: SourceType) -> None:
    """Raise Denied if administrators do not allow imports from sources of this kind."""
    settings = stage.database.read(cached_all_settings)
    name = "gitlab_project" if kind == "archive" else kind
    if not (settings.bulk_import_enabled if kind == "gitlab" else name in settings.import_sources):
        raise Denied(f"Imports from {_TITLES[kind]} are disabled")


@routes.post("/bulk_imports", may=signed_in, returns=RunView, staged=True)
def start_import(stage: StagedCall, params: StartImport) -> RunView:
    """Start an import of projects and groups of another server."""
    _require_enabled(stage, params.configuration.source_type)
    run = _requests(stage).start(params)
    return stage.database.read(lambda db: run_views(db, [run]))[0]


@routes.post("/bulk_imports/plan", may=signed_in, returns=PlanView, status=200, staged=True)
def plan_import(stage: StagedCall, params: StartImport) -> PlanView:
    """Count what an import would contain, and name what cannot be imported; nothing is stored."""
    requests, source = _requests(stage), params.configuration
    _require_enabled(stage, source.source_type)
    groups: list[str] = []
    keys: list[str] = []
    for entity in params.entities:
        of_server = ServerProject(source.source_type, source.url, source.access_token, entity.source_full_path)
        if entity.source_type == "project_entity":
            keys.append(entity.source_full_path)
            continue
        found, projects = requests.project_paths(of_server)
        groups += found
        keys += [key for key, _ in projects] if entity.migrate_projects else []
    if len(keys) > MAX_PLANNED_PROJECTS:
        raise Invalid(f"The plan has {len(keys)} projects; at most {MAX_PLANNED_PROJECTS} can be counted at once")
    planned = [
        planned_project_view(
            requests.inventory(ServerProject(source.source_type, source.url, source.access_token, key))
        )
        for key in keys
    ]
    return PlanView(source.source_type, source.url, groups, planned)


@routes.get("/bulk_imports", may=signed_in, returns=list[RunView])
def list_imports(call: Call, params: ListImports, page: Page) -> Listing[RunView]:
    """List the caller's imports."""
    listing = queries.list_runs(call.db, call.actor, page, params.status, descending=params.sort == "desc")
    return listing.of(run_views(call.db, listing.items))


@routes.get("/bulk_imports/entities", may=signed_in, returns=list[EntityView])
def list_all_entities(call: Call, params: ListImports, page: Page) -> Listing[EntityView]:
    """List the projects and groups of all imports of the caller."""
    descending = params.sort == "desc"
    listing = queries.list_entities(call.db, call.actor, None, page, params.status, descending=descending)
    return listing.of(entity_views(call.db, listing.items))


@routes.get("/bulk_imports/:import_id", on=run_in_path, may=may_see_import, returns=RunView)
def get_import(call: Call, run: ImportRun) -> RunView:
    """Get an import."""
    return run_views(call.db, [run])[0]


@routes.get("/bulk_imports/:import_id/entities", on=run_in_path, may=may_see_import, returns=list[EntityView])
def list_entities(call: Call, run: ImportRun, params: ListImports, page: Page) -> Listing[EntityView]:
    """List the projects and groups of an import."""
    descending = params.sort == "desc"
    listing = queries.list_entities(call.db, call.actor, run, page, params.status, descending=descending)
    return listing.of(entity_views(call.db, listing.items))


@routes.get("/bulk_imports/:import_id/entities/:entity_id", on=entity_in_path, may=may_see_import, returns=EntityView)
def get_entity(call: Call, entity: ImportEntity) -> EntityView:
    """Get a project or group of an import."""
    return entity_views(call.db, [entity])[0]


@routes.get(
    "/bulk_imports/:import_id/entities/:entity_id/failures",
    on=entity_in_path,
    may=may_see_import,
    returns=list[FailureView],
)
def list_failures(call: Call, entity: ImportEntity) -> list[FailureView]:
    """List what was not imported of a project or group."""
    return failure_views(entity, queries.problems_of(call.db, [entity.id])[entity.id])


@routes.get("/bulk_imports/:import_id/report", on=run_in_path, may=may_see_import, returns=RawResponse)
def get_report(call: Call, run: ImportRun, params: GetReport) -> RawResponse:
    """Download the report of an import: the numbers of every kind on both sides, and each difference."""
    report = report_of(call.db, run)
    name = f"import-{run.id}.{'txt' if params.format == 'text' else 'json'}"
    headers = ((b"content-disposition", f'attachment; filename="{name}"'.encode()),)
    if params.format == "text":
        return RawResponse(report_text(report).encode(), headers=headers)
    return RawResponse(msgspec.json.encode(report), "application/json", headers)


@routes.post("/bulk_imports/:import_id/cancel", on=run_in_path, may=may_see_import, returns=RunView, status=200)
def cancel_import(call: Call, run: ImportRun) -> RunView:
    """Cancel an import."""
    return run_views(call.db, [service.cancel_run(call.db, run)])[0]


@routes.post("/import/github", may=signed_in, returns=ImportedProjectView, staged=True)
def import_from_github(stage: StagedCall, params: ImportFromGitHub) -> ImportedProjectView:
    """Import a repository of GitHub with its issues and pull requests."""
    host = (params.github_hostname or GITHUB).removesuffix("/").removesuffix("/api/v3")
    url = host if "://" in host else f"https://{host}"
    _require_enabled(stage, "github")
    source = ServerProject("github", url, params.personal_access_token, params.repo_id)
    requests = _requests(stage)
    project, path = requests.start_project(source, params.target_namespace, params.new_name, params.user_mapping)
    return imported_project_view(project, path)


@routes.post("/import/gitea", may=signed_in, returns=ImportedProjectView, staged=True)
def import_from_gitea(stage: StagedCall, params: ImportFromGitea) -> ImportedProjectView:
    """Import a repository of Gitea or Forgejo with its issues and pull requests."""
    _require_enabled(stage, "gitea")
    source = ServerProject("gitea", params.gitea_host_url, params.personal_access_token, params.repository)
    requests = _requests(stage)
    project, path = requests.start_project(source, params.target_namespace, params.new_name, params.user_mapping)
    return imported_project_view(project, path)


@routes.post("/import/github/cancel", may=signed_in, returns=ImportedProjectView, status=200)
def cancel_github_import(call: Call, params: CancelImport) -> ImportedProjectView:
    """Cancel the import of a repository of GitHub."""
    return _cancel(call, params)


@routes.post("/import/gitea/cancel", may=signed_in, returns=ImportedProjectView, status=200)
def cancel_gitea_import(call: Call, params: CancelImport) -> ImportedProjectView:
    """Cancel the import of a repository of Gitea or Forgejo."""
    return _cancel(call, params)


def _cancel(call: Call, params: CancelImport) -> ImportedProjectView:
    access, project = find_project(call.db, call.actor, str(params.project_id))
    require(may_admin_project(call.actor, access, project))
    entity = queries.latest_entity_or_none(call.db, project.id)
    run = queries.run_or_none(call.db, entity.run_id) if entity is not None else None
    if entity is None or run is None or run.user_id != call.actor.user_id:
        raise Invalid("The import cannot be canceled")
    service.cancel_run(call.db, run)
    return imported_project_view(existing_project(call.db, project.id), entity.source_full_path)


@routes.post("/projects/import", may=signed_in, returns=ImportView, staged=True, body_limit=max_archive_bytes)
def import_archive(stage: StagedCall, params: ImportArchive) -> ImportView:
    """Create a project from an export archive or a git bundle."""
    _require_enabled(stage, "archive")
    archive = _stored_archive(stage, params.file)
    arguments = (params.namespace, params.path, params.name, params.override_params)
    project, _ = _requests(stage).start_archive(archive, *arguments, overwrite=params.overwrite)
    return import_view(project, in_full=True)


@routes.post("/projects/remote-import", may=signed_in, returns=ImportView, staged=True)
def import_remote_archive(stage: StagedCall, params: ImportRemoteArchive) -> ImportView:
    """Create a project from an export archive at a URL."""
    _require_enabled(stage, "archive")
    if params.overwrite:
        # The archive cannot be read before the existing project would be deleted.
        raise Invalid(overwrite=["is not supported for remote archives; delete the existing project first"])
    archive = ArchiveFile(secrets.token_hex(16), params.url.partition("?")[0], params.url)
    arguments = (params.namespace, params.path, params.name, params.override_params)
    project, _ = _requests(stage).start_archive(archive, *arguments)
    return import_view(project, in_full=True)


@routes.post(
    "/groups/import", may=signed_in, returns=GroupImportView, staged=True, status=202, body_limit=max_archive_bytes
)
def import_group(stage: StagedCall, params: ImportGroup) -> GroupImportView:
    """Create a group with its subgroups from an export archive."""
    _require_enabled(stage, "archive")
    archive = _stored_archive(stage, params.file)
    run = _requests(stage).start_group_archive(archive, params.parent_id, params.path, params.name)
    return GroupImportView(run.id)
