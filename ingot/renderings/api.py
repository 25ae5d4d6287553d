"""Markdown over the API."""

from collections.abc import Sequence

from ingot.access.rules import signed_in
from ingot.api.routes import Routes, Stage
from ingot.errors import Invalid
from ingot.markup.links import Link, Place
from ingot.markup.references import Reference
from ingot.markup.rendering import LONGEST, render
from ingot.projects.api import store_of
from ingot.projects.queries import find_project
from ingot.renderings.params import RenderMarkdown
from ingot.renderings.queries import links_of
from ingot.renderings.reading import Reader
from ingot.renderings.views import RenderingView

routes = Routes("renderings")


@routes.post("/markdown", may=signed_in, returns=RenderingView, staged=True)
def render_markdown(stage: Stage, params: RenderMarkdown) -> RenderingView:
    """Render a markdown text as HTML."""
    if len(params.text) > LONGEST:
        raise Invalid(text=[f"is too long (maximum is {LONGEST} characters)"])
    wanted = params.project
    project = stage.database.read(lambda db: find_project(db, stage.actor, wanted)[1]) if wanted else None
    place = Place(stage.origin.base, project.full_path if project else None)

    def resolve(references: Sequence[Reference]) -> list[Link | None]:
        store = store_of(stage.settings)
        return stage.database.read(
            lambda db: links_of(Reader(db, stage.actor, stage.origin.base, project, store), references)
        )

    # No unit of work is open while the text is parsed: that may take long, and what is in it decides what is asked for.
    return RenderingView(render(params.text, place, resolve if params.gfm else None))
