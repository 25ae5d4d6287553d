"""Imports of archives of projects and groups, and of bundles, that the browser uploads."""

from ingot.core.api.params import Upload
from ingot.import_export.runs import api as imports_api
from ingot.projects.group_projects import api as group_projects_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.projects.namespaces import namespace_options

pages = PageRoutes()
_GROUP_FIELDS = ("name", "path", "parent")


@pages.get("/import/archive")
def show_archive_form(visit: Visit) -> PageResponse:
    """Show the form for an archive."""
    return _form(visit, "", visit.viewer.signed_in.username)


@pages.post("/import/archive", limit=imports_api.MAX_ARCHIVE_BYTES, notice="Import started.")
def import_archive(visit: Visit) -> PageResponse:
    """Create a project from the archive and redirect to it."""
    path, namespace = (form_field(visit.request.form, "import", name).strip() for name in ("path", "namespace"))
    fields = visit.request.form.get("import")
    file = fields.get("file") if isinstance(fields, dict) else None
    params = {"path": path, "namespace": namespace, **({"file": file} if isinstance(file, Upload) else {})}
    try:
        project = visit.ask(imports_api.import_archive, params)
    except REQUEST_ERRORS as error:
        return _form(visit, path, namespace, error_messages(error))
    return LocalRedirect(f"/{project.path_with_namespace}")


@pages.get("/import/group")
def show_group_form(visit: Visit) -> PageResponse:
    """Show the form for an archive of a group."""
    return _group_form(visit, dict.fromkeys(_GROUP_FIELDS, ""))


@pages.post("/import/group", limit=imports_api.MAX_ARCHIVE_BYTES, notice="Import started.")
def import_group(visit: Visit) -> PageResponse:
    """Create a group from the archive and redirect to the progress."""
    typed = {name: form_field(visit.request.form, "import", name).strip() for name in _GROUP_FIELDS}
    fields = visit.request.form.get("import")
    file = fields.get("file") if isinstance(fields, dict) else None
    try:
        parent = _group_id(visit, typed["parent"]) if typed["parent"] else None
        params = {name: typed[name] for name in ("name", "path")}
        started = visit.ask(
            imports_api.import_group,
            {**params, "parent_id": parent, **({"file": file} if isinstance(file, Upload) else {})},
        )
    except REQUEST_ERRORS as error:
        return _group_form(visit, typed, error_messages(error))
    return LocalRedirect(f"/import/{started.import_id}")


def _group_id(visit: Visit, path: str) -> int:
    number: int = visit.ask(group_projects_api.get_group, {"with_projects": "false"}, id=path).id
    return number


def _group_form(visit: Visit, typed: dict[str, str], errors: list[str] | None = None) -> TemplateResponse:
    context = {"typed": typed, "errors": errors or [], "options": namespace_options(visit)}
    return TemplateResponse("imports/group.html", context, 422 if errors else 200)


def _form(visit: Visit, path: str, namespace: str, errors: list[str] | None = None) -> TemplateResponse:
    context = {"path": path, "namespace": namespace, "errors": errors or [], "options": namespace_options(visit)}
    return TemplateResponse("imports/archive.html", context, 422 if errors else 200)
