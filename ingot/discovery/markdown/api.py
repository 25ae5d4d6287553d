"""Endpoint that renders Markdown."""

from ingot.core.access.rules import signed_in
from ingot.core.api.routes import Routes, StagedCall
from ingot.core.markup.links import LinkContext
from ingot.core.markup.markdown import render
from ingot.core.markup.render_budget import RenderBudget
from ingot.core.markup.renderer import MAX_LENGTH
from ingot.discovery.markdown.params import RenderMarkdown
from ingot.discovery.markdown.service import render_texts
from ingot.discovery.markdown.views import MarkdownView
from ingot.errors import Invalid, Unavailable, too_long_message
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import find_project

routes = Routes("renderings")


@routes.post("/markdown", may=signed_in, returns=MarkdownView, staged=True)
def render_markdown(stage: StagedCall, params: RenderMarkdown) -> MarkdownView:
    """Render a Markdown text as HTML; respond with 503 if too many other texts are being rendered."""
    if len(params.text) > MAX_LENGTH:
        raise Invalid(text=[too_long_message(MAX_LENGTH)])
    project_name = params.project
    project = stage.database.read(lambda db: find_project(db, stage.actor, project_name)[1]) if project_name else None
    link_context = LinkContext(stage.origin.base, project.full_path if project else None, positions=True)
    budget = RenderBudget()
    if params.gfm:
        store = repository_store(stage.settings)
        (html,) = render_texts(stage.database, store, stage.actor, link_context, project, [params.text], budget)
    else:
        html = render(params.text, link_context, budget=budget)
    if budget.postponed:
        raise Unavailable("No rendering process is free")
    return MarkdownView(html)
