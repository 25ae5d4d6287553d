"""Import of an archive or bundle that the browser uploads."""

from ingot.core.api.params import Upload
from ingot.integrations.transfers.runs import api as imports_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.projects.namespaces import namespace_options

pages = PageRoutes()


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


def _form(visit: Visit, path: str, namespace: str, errors: list[str] | None = None) -> TemplateResponse:
    context = {"path": path, "namespace": namespace, "errors": errors or [], "options": namespace_options(visit)}
    return TemplateResponse("imports/archive.html", context, 422 if errors else 200)
