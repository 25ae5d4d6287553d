"""Endpoints of exports of projects and groups."""

from functools import partial

from ingot.accounts.instance.all_settings import all_settings
from ingot.core.api.routes import Call, ContentResponse, Routes
from ingot.core.errors import NotFound
from ingot.core.http.content_headers import SANDBOX, content_disposition
from ingot.import_export.exports import service
from ingot.import_export.exports.params import (
    DownloadRelation,
    ExportProject,
    ExportRelations,
    GetRelationStatus,
)
from ingot.import_export.exports.queries import Exported, exports_of_user
from ingot.import_export.exports.relations import relations_of
from ingot.import_export.exports.store import export_store_of
from ingot.import_export.exports.tables import Export
from ingot.import_export.exports.views import (
    AcceptedView,
    GroupExportView,
    ProjectExportView,
    RelationExportView,
    group_export_view,
    project_export_view,
    relation_export_views,
)
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_admin_project
from ingot.projects.projects.tables import Project
from ingot.webhooks.api import guard_of

routes = Routes("exports")


def _require_exports(call: Call) -> None:
    """Raise NotFound if administrators have disabled exports of projects."""
    if not all_settings(call.db).project_export_enabled:
        raise NotFound("Export")


@routes.post(
    "/projects/:id/export",
    on=project_in_path,
    may=may_admin_project,
    returns=AcceptedView,
    status=202,
    on_scheduled=True,
)
def export_project(call: Call, project: Project, params: ExportProject) -> AcceptedView:
    """Start the export of a project to an archive."""
    _require_exports(call)
    service.validate_upload(params.upload, guard_of(call))
    service.start_export(call.db, call.actor, project, params)
    return AcceptedView()


@routes.get("/projects/:id/export", on=project_in_path, may=may_admin_project, returns=ProjectExportView)
def get_project_export(call: Call, project: Project) -> ProjectExportView:
    """Get the status of the caller's export of a project."""
    export = exports_of_user(call.db, project, call.actor.user_id).get("")
    return project_export_view(project, export, call.origin.base)


@routes.get(
    "/projects/:id/export/download",
    on=project_in_path,
    may=may_admin_project,
    returns=ContentResponse,
    instead={302: None},
    heavy=True,
)
def download_project_export(call: Call, project: Project) -> ContentResponse:
    """Download the archive of a project."""
    return _archive_response(call, project)


@routes.post(
    "/groups/:id/export", on=group_in_path, may=may_admin_group, returns=AcceptedView, status=202, on_scheduled=True
)
def export_group(call: Call, group: Namespace) -> AcceptedView:
    """Start the export of a group and its subgroups, without their projects, to an archive."""
    service.start_export(call.db, call.actor, group, ExportProject())
    return AcceptedView()


@routes.get("/groups/:id/export", on=group_in_path, may=may_admin_group, returns=GroupExportView)
def get_group_export(call: Call, group: Namespace) -> GroupExportView:
    """Get the status of the caller's export of a group."""
    return group_export_view(group, exports_of_user(call.db, group, call.actor.user_id).get(""))


@routes.get(
    "/groups/:id/export/download",
    on=group_in_path,
    may=may_admin_group,
    returns=ContentResponse,
    instead={302: None},
    heavy=True,
)
def download_group_export(call: Call, group: Namespace) -> ContentResponse:
    """Download the archive of a group."""
    return _archive_response(call, group)


@routes.post(
    "/projects/:id/export_relations",
    on=project_in_path,
    may=may_admin_project,
    returns=AcceptedView,
    status=202,
    on_scheduled=True,
)
@routes.post(
    "/groups/:id/export_relations",
    on=group_in_path,
    may=may_admin_group,
    returns=AcceptedView,
    status=202,
    on_scheduled=True,
)
def export_relations(call: Call, subject: Exported, params: ExportRelations) -> AcceptedView:
    """Start the export of each relation of a project or group to a file of its own."""
    if isinstance(subject, Project):
        _require_exports(call)
    relations = relations_of(subject)
    service.start_relation_exports(call.db, call.actor, subject, relations, batched=params.batched)
    return AcceptedView()


@routes.get(
    "/projects/:id/export_relations/status",
    on=project_in_path,
    may=may_admin_project,
    returns=list[RelationExportView] | RelationExportView,
)
@routes.get(
    "/groups/:id/export_relations/status",
    on=group_in_path,
    may=may_admin_group,
    returns=list[RelationExportView] | RelationExportView,
)
def get_relation_exports(
    call: Call, subject: Exported, params: GetRelationStatus
) -> list[RelationExportView] | RelationExportView:
    """Get the status of the exports of relations, or of one."""
    if params.relation is None:
        rows = exports_of_user(call.db, subject, call.actor.user_id).values()
        return relation_export_views(export for export in rows if export.relation)
    return relation_export_views([_relation_export(call, subject, params.relation)])[0]


@routes.get(
    "/projects/:id/export_relations/download",
    on=project_in_path,
    may=may_admin_project,
    returns=ContentResponse,
    instead={302: None},
    heavy=True,
)
@routes.get(
    "/groups/:id/export_relations/download",
    on=group_in_path,
    may=may_admin_group,
    returns=ContentResponse,
    instead={302: None},
    heavy=True,
)
def download_relation(call: Call, subject: Exported, params: DownloadRelation) -> ContentResponse:
    """Download the file of a relation."""
    export = _relation_export(call, subject, params.relation)
    if params.batched != export.batched or (params.batched and params.batch_number != 1):
        raise NotFound(message="404 Batch not found")
    return _file_response(call, export, "404 Export file not found")


def _relation_export(call: Call, subject: Exported, relation: str) -> Export:
    export = exports_of_user(call.db, subject, call.actor.user_id).get(relation) if relation else None
    if export is None:
        raise NotFound(message="404 Export not found")
    return export


def _archive_response(call: Call, subject: Exported) -> ContentResponse:
    export = exports_of_user(call.db, subject, call.actor.user_id).get("")
    if export is None:
        raise NotFound(message="404 Not found or has expired")
    kind = "project" if isinstance(subject, Project) else "group"
    return _file_response(call, export, f"The {kind} export file is not available yet")


def _file_response(call: Call, export: Export, message: str) -> ContentResponse:
    storage = export_store_of(call.settings).storage
    key = export.storage_key
    size = None if key is None else storage.size_of(key)
    if key is None or size is None:
        raise NotFound(message=message)
    return ContentResponse(
        f'"{key}"',
        size,
        partial(storage.pieces, key),
        "application/gzip",
        (content_disposition("attachment", export.file_name or "export.tar.gz"), SANDBOX),
        location=storage.download_url(key),
    )
