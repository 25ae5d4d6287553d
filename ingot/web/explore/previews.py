"""What a text will look like, while it is being written."""

from ingot.errors import NotFound
from ingot.projects.projects import api as projects_api
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.texts import render_markdown

pages = PageRoutes()


@pages.post("/-/preview")
def show_preview(visit: Visit) -> PageResponse:
    """A text as HTML; ``field`` says which part of the form it is."""
    project = None
    if isinstance(path := visit.request.form.get("project"), str) and path:
        project = visit.ask(projects_api.get_project, id=path).id
    return TemplateResponse("_preview.html", {"html": render_markdown(visit, _text(visit), project)})


def _text(visit: Visit) -> str:
    """The value of ``issue[description]`` or whatever the field is called."""
    value: object = visit.request.form
    for name in str(visit.request.form.get("field", "")).replace("]", "").split("["):
        if not isinstance(value, dict):
            raise NotFound("Field")
        value = value.get(name)
    return value if isinstance(value, str) else ""
