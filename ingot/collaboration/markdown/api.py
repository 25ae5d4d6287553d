"""Endpoint that renders Markdown."""

from functools import partial

from ingot.accounts.instance.throttles import count_attempt, seconds_left
from ingot.collaboration.markdown.params import RenderMarkdown
from ingot.collaboration.markdown.service import render_texts
from ingot.collaboration.markdown.views import MarkdownView
from ingot.core.access.rules import signed_in
from ingot.core.api.routes import Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, Throttled, Unavailable, too_long_message
from ingot.core.markup.links import LinkContext
from ingot.core.markup.markdown import render
from ingot.core.markup.render_budget import MAX_NEW_CHARACTERS, RenderBudget
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import find_project

routes = Routes("renderings")
LONG_LENGTH = 32_000
MAX_LONG_TEXTS = 20
"""Limit of longer texts per user and minute: one of the maximum length takes a second of processor time."""
_PERIOD_SECONDS = 60


@routes.post("/markdown", may=signed_in, returns=MarkdownView, staged=True)
def render_markdown(stage: StagedCall, params: RenderMarkdown) -> MarkdownView:
    """Render a Markdown text as HTML; respond with 503 if too many other texts are being rendered."""
    if len(params.text) > MAX_NEW_CHARACTERS:
        raise Invalid(text=[too_long_message(MAX_NEW_CHARACTERS)])
    if len(params.text) > LONG_LENGTH:
        stage.database.write(partial(_count_long_text, user_id=stage.actor.user_id))
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


def _count_long_text(db: Connection, user_id: int) -> None:
    counted = count_attempt(db, f"long markdown of {user_id}", _PERIOD_SECONDS)
    if counted.count > MAX_LONG_TEXTS:
        raise Throttled(seconds_left(db, counted), MAX_LONG_TEXTS)
