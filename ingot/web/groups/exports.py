"""Exports of projects and groups: status, start and download of the archive."""

from collections.abc import Callable
from functools import partial

from ingot.import_export.exports import api as exports_api
from ingot.import_export.exports.service import KEPT_DAYS
from ingot.import_export.exports.views import GroupExportView, ProjectExportView
from ingot.web.file_response import stream_as_file
from ingot.web.groups.settings_parent import find_group_settings, settings_page
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.page_routes import ExternalRedirect, FileResponse, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, submit_form
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()


def _declare_pages(prefix: str, find_parent: Callable[[Visit], ProjectOrGroupContext]) -> None:
    """Declare the export pages of projects or of groups."""
    pages.get(prefix)(lambda visit: _export_page(find_parent(visit), FormsState()))
    pages.post(prefix, notice="Export started.")(lambda visit: _start(find_parent(visit)))
    pages.get(f"{prefix}/download")(lambda visit: _download(find_parent(visit)))


def _export_page(parent: ProjectOrGroupContext, forms: FormsState) -> TemplateResponse:
    export: ProjectExportView | GroupExportView = (
        parent.ask(exports_api.get_project_export)
        if isinstance(parent, ProjectContext)
        else parent.ask(exports_api.get_group_export)
    )
    context = {
        "forms": forms,
        "export": export,
        "is_project": isinstance(parent, ProjectContext),
        "running": export.export_status in ("queued", "started", "regeneration_in_progress"),
        "days": KEPT_DAYS,
        "url": f"{parent.url}/-/settings/export",
    }
    if parent.visit.headers.fragment:
        return TemplateResponse("groups/_export.html", context)
    return settings_page(parent, "groups/export.html", "settings/export", context, forms.status)


def _start(parent: ProjectOrGroupContext) -> PageResponse:
    endpoint = parent.either(exports_api.export_project, exports_api.export_group)
    start = partial(parent.ask, endpoint)
    return submit_form("export", {}, start, partial(_export_page, parent), f"{parent.url}/-/settings/export")


def _download(parent: ProjectOrGroupContext) -> PageResponse:
    endpoint = parent.either(exports_api.download_project_export, exports_api.download_group_export)
    content = parent.ask(endpoint)
    if content.location is not None:
        return ExternalRedirect(content.location)
    size = content.size or 0
    return FileResponse(stream_as_file(content.pieces(0, size)), size, content.content_type, list(content.headers))


_declare_pages("/:path/-/settings/export", find_project_settings)
_declare_pages("/groups/:path/-/settings/export", find_group_settings)
