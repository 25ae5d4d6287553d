"""Response structs of exports."""

from collections.abc import Iterable
from typing import Literal

from msgspec import UNSET, UnsetType, field

from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
from ingot.import_export.exports.tables import Export
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project

ShownStatus = Literal["none", "queued", "started", "finished", "failed", "regeneration_in_progress"]


class ExportLinks(View):
    """Addresses of a finished archive."""

    api_url: str
    web_url: str


class ProjectExportView(View):
    """Status of a project's export; what follows ``export_status`` describes the file that can be downloaded."""

    id: int
    description: str | None
    name: str
    name_with_namespace: str
    path: str
    path_with_namespace: str
    created_at: Timestamp
    export_status: ShownStatus
    export_error: str | None
    export_size: int | None
    export_updated_at: Timestamp | None
    export_expires_at: Timestamp | None
    links: ExportLinks | UnsetType = field(default=UNSET, name="_links")


class GroupExportView(View):
    """Status of a group's export."""

    id: int
    name: str
    full_path: str
    export_status: ShownStatus
    export_error: str | None
    export_size: int | None
    export_updated_at: Timestamp | None
    export_expires_at: Timestamp | None


class AcceptedView(View):
    """Confirmation that work will be done."""

    message: str = "202 Accepted"


class RelationBatchView(View):
    """Status of a batch of a relation."""

    status: int
    batch_number: int
    objects_count: int
    error: str | None
    updated_at: Timestamp


class RelationExportView(View):
    """Status of the export of one relation: 0 started, 1 finished, -1 failed."""

    relation: str
    status: int
    error: str | None
    updated_at: Timestamp
    batched: bool
    batches_count: int
    total_objects_count: int
    batches: list[RelationBatchView] | UnsetType = UNSET


def shown_status(export: Export | None) -> ShownStatus:
    """Return the status of an archive under GitLab's name."""
    if export is None:
        return "none"
    if export.status in ("queued", "started") and export.storage_key is not None:
        return "regeneration_in_progress"
    return export.status


def project_export_view(project: Project, export: Export | None, base: str) -> ProjectExportView:
    """Return the status of a project's export, with the addresses of the file if there is one."""
    status = shown_status(export)
    links = ExportLinks(
        f"{base}/api/v4/projects/{project.id}/export/download", f"{base}/{project.full_path}/-/settings/export/download"
    )
    return ProjectExportView(
        project.id,
        project.description,
        project.name,
        project.full_name,
        project.path,
        project.full_path,
        project.created_at,
        *_details(export),
        links if status in ("finished", "regeneration_in_progress") else UNSET,
    )


def group_export_view(group: Namespace, export: Export | None) -> GroupExportView:
    """Return the status of a group's export."""
    return GroupExportView(group.id, group.name, group.full_path, *_details(export))


def _details(export: Export | None) -> tuple[ShownStatus, str | None, int | None, Timestamp | None, Timestamp | None]:
    if export is None:
        return "none", None, None, None, None
    return shown_status(export), export.error, export.size, export.updated_at, export.expires_at


def relation_export_views(exports: Iterable[Export]) -> list[RelationExportView]:
    """Return the status of each relation."""
    return [_relation_export_view(export) for export in exports]


def _relation_export_view(export: Export) -> RelationExportView:
    number = {"finished": 1, "failed": -1}.get(export.status, 0)
    batch = RelationBatchView(number, 1, export.objects_count, export.error, export.updated_at)
    return RelationExportView(
        export.relation,
        number,
        export.error,
        export.updated_at,
        export.batched,
        1 if export.batched else 0,
        export.objects_count,
        [batch] if export.batched else UNSET,
    )
