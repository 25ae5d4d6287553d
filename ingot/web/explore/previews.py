"""Markdown preview for forms."""

from ingot.core.errors import NotFound
from ingot.projects.projects import api as projects_api
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.texts import render_markdown

pages = PageRoutes()


@pages.post("/-/preview")
def show_preview(visit: Visit) -> PageResponse:
    """Render a form field as HTML; ``field`` is the name of the form field."""
    project = None
    if isinstance(path := visit.request.form.get("project"), str) and path:
        project = visit.ask(projects_api.get_project, id=path).id
    return TemplateResponse("_preview.html", {"html": render_markdown(visit, _text(visit), project)})


def _text(visit: Visit) -> str:
    """Return the value of the form field that ``field`` names, such as ``issue[description]``."""
    value: object = visit.request.form
    for name in str(visit.request.form.get("field", "")).replace("]", "").split("["):
        if not isinstance(value, dict):
            raise NotFound("Field")
        value = value.get(name)
    return value if isinstance(value, str) else ""
