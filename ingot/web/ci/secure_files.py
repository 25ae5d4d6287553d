"""Secure files of a project, a page of its settings."""

from functools import partial
from typing import Any

from ingot.ci.secure_files import api as secure_files_api
from ingot.ci.secure_files.service import MAX_FILE_BYTES
from ingot.core.api.params import Upload, number_or_none
from ingot.core.errors import NotFound
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, submit_form
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()
_MAX_FORM_BYTES = MAX_FILE_BYTES + secure_files_api.FORM_OVERHEAD_BYTES


@pages.get("/:path/-/settings/secure_files")
def show_secure_files(visit: Visit) -> PageResponse:
    """List the secure files with the facts about certificates and profiles."""
    return _page(_settings(visit), FormsState())


@pages.post("/:path/-/settings/secure_files", notice="Secure file added.", limit=_MAX_FORM_BYTES)
def create_secure_file(visit: Visit) -> PageResponse:
    """Upload a secure file; without a name, it gets that of the uploaded file."""
    parent, fields = _settings(visit), visit.request.form.get("secure")
    file = fields.get("file") if isinstance(fields, dict) else None
    name = form_field(visit.request.form, "secure", "name").strip()
    if not isinstance(file, Upload) or not file.filename:
        return _page(parent, FormsState("secure", {"name": name}, ["Select a file."]))
    params = {"name": name or file.filename, "file": file}
    create = partial(parent.ask, secure_files_api.create_secure_file, params)
    try:
        return submit_form("secure", {"name": name}, create, partial(_page, parent), _url(parent))
    finally:
        file.file.close()


@pages.delete("/:path/-/settings/secure_files/:file", notice="Secure file deleted.")
def delete_secure_file(visit: Visit) -> PageResponse:
    """Delete a secure file."""
    parent, number = _settings(visit), visit.request.path["file"]
    if number_or_none(number) is None:
        raise NotFound("Secure File")
    delete = partial(parent.ask, secure_files_api.delete_secure_file, secure_file_id=number)
    return submit_form("files", {}, delete, partial(_page, parent), _url(parent))


def _settings(visit: Visit) -> ProjectContext:
    parent = find_project_settings(visit)
    if not parent.may(secure_files_api.list_secure_files):
        raise NotFound("Page")
    return parent


def _url(parent: ProjectContext) -> str:
    return f"{parent.url}/-/settings/secure_files"


def _page(parent: ProjectContext, forms: FormsState) -> TemplateResponse:
    context: dict[str, Any] = {
        "section": "settings/secure_files",
        "forms": forms,
        "files": parent.ask(secure_files_api.list_secure_files, {"per_page": 100}).items,
        "api_url": f"/api/v4/projects/{parent.project.id}/secure_files",
        "may_change": parent.may(secure_files_api.create_secure_file),
    }
    return parent.page("ci/secure_files.html", "settings", context, forms.status)
