"""Making a project."""

from typing import Any

from ingot.db.connection import Connection
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part
from ingot.web.projects.namespaces import offered_namespaces
from ingot.web.refusals import Refusal, sentences

pages = Pages()
_FIELDS = ("name", "path", "namespace_id", "description", "visibility", "import_url")


@pages.get("/projects/new")
def show_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask what it shall be called."""
    return _form(visit, dict.fromkeys(_FIELDS, "") | {"namespace_id": str(visit.query.get("namespace_id", ""))})


@pages.post("/projects")
def create_project(visit: Visit) -> Reply:
    """Make it, and lead to it; what was typed stays where it is refused."""
    typed = {name: form_part(visit.form, "project", name) for name in _FIELDS}
    try:
        project = visit.call("POST", "/projects", {name: value for name, value in typed.items() if value})
    except Refusal as refusal:
        return _form(visit, typed, sentences(refusal), 422)
    return Redirect(f"/{project.path_with_namespace}")


def _form(visit: Visit, typed: dict[str, Any], errors: list[str] | None = None, status: int = 200) -> Page:
    context = {"typed": typed, "errors": errors or [], "namespaces": offered_namespaces(visit)}
    return Page("projects/new.html", context, status)
