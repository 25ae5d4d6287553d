"""Markdown over the API."""

from ingot.access.rules import signed_in
from ingot.api.routes import Routes, Stage
from ingot.errors import Invalid, too_long
from ingot.markup.links import Place
from ingot.markup.rendering import LONGEST, render
from ingot.projects.api import store_of
from ingot.projects.queries import find_project
from ingot.renderings.params import RenderMarkdown
from ingot.renderings.service import rendered
from ingot.renderings.views import RenderingView

routes = Routes("renderings")


@routes.post("/markdown", may=signed_in, returns=RenderingView, staged=True)
def render_markdown(stage: Stage, params: RenderMarkdown) -> RenderingView:
    """Render a markdown text as HTML."""
    if len(params.text) > LONGEST:
        raise Invalid(text=[too_long(LONGEST)])
    wanted = params.project
    project = stage.database.read(lambda db: find_project(db, stage.actor, wanted)[1]) if wanted else None
    place = Place(stage.origin.base, project.full_path if project else None)
    if not params.gfm:
        return RenderingView(render(params.text, place))
    return RenderingView(rendered(stage.database, store_of(stage.settings), stage.actor, place, project, params.text))
