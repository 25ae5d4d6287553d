"""Rendering of user-written Markdown for pages."""

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from ingot.collaboration.markdown.service import render_restructured_text_or_none, render_texts
from ingot.core.markup.links import LinkContext
from ingot.projects.projects import api as projects_api
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.views import ProjectView
from ingot.web.external_images import replace_external_images
from ingot.web.page_routes import Visit
from ingot.web.task_checkboxes import label_task_checkboxes

_HEADING = re.compile(r"(</?h)([1-5])(?=[\s>])")


def render_markdown(
    visit: Visit, text: str | None, project_id: int | None = None, *, root: str | None = None, **location: Any
) -> Markup:
    """Render Markdown as sanitized HTML; ``location`` gives the location of a file, which its relative links need.

    ``root`` is the path of the owner's pages for a text that belongs to no project.
    """
    return render_markdown_texts(visit, [text], project_id, root=root, **location)[0] if text else Markup()


def render_markdown_texts(
    visit: Visit, texts: Sequence[str], project_id: int | None = None, *, root: str | None = None, **location: Any
) -> list[Markup]:
    """Render several Markdown texts with as many SQL statements as for one."""
    if not texts:
        return []
    actor, project = visit.viewer.actor, None
    if project_id is not None:
        project = visit.find(projects_api.get_project, id=project_id).project
    link_context = LinkContext(visit.request.origin.base, project.full_path if project else root, **location)
    store = repository_store(visit.settings)
    html = render_texts(visit.database, store, actor, link_context, project, texts, visit.render_budget)
    base = visit.request.origin.base
    return [Markup(_adapt_for_page(text, base)) for text in html]  # noqa: S704 - Sanitized by render_texts.


def render_restructured_text(visit: Visit, text: str, project: ProjectView, **location: Any) -> Markup | None:
    """Render a file in reStructuredText as sanitized HTML; None if it must be shown as source."""
    base = visit.request.origin.base
    html = render_restructured_text_or_none(text, LinkContext(base, project.path_with_namespace, **location))
    return None if html is None else Markup(_adapt_for_page(html, base))  # noqa: S704 - Sanitized by the renderer.


def _adapt_for_page(html: str, base: str) -> str:
    """Adapt rendered Markdown to a page: lower headings, labeled checkboxes, no external images."""
    return _lower_headings(label_task_checkboxes(replace_external_images(html, base)))


def _lower_headings(html: str) -> str:
    """Lower all headings by one level if the text has an h1, which is reserved for the page's title."""
    return _HEADING.sub(_lower_heading, html) if "<h1" in html else html


def _lower_heading(heading: re.Match[str]) -> str:
    return f"{heading[1]}{int(heading[2]) + 1}"
