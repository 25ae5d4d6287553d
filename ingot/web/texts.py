"""Texts that people wrote, as pages show them."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from ingot.markup.links import Place
from ingot.projects.api import store_of
from ingot.renderings.service import rendered_all
from ingot.web.boxes import with_named_boxes
from ingot.web.pages import Visit
from ingot.web.pictures import with_own_pictures


def html_of(visit: Visit, text: str | None, project_id: int | None = None, **where: Any) -> Markup:
    """Markdown as HTML that is safe to show; ``where`` says of a file which one it is."""
    return html_of_all(visit, [text], project_id, **where)[0] if text else Markup()


def html_of_all(visit: Visit, texts: Sequence[str], project_id: int | None = None, **where: Any) -> list[Markup]:
    """The same of several texts, with no more statements than it takes for one."""
    if not texts:
        return []
    actor, project = visit.actor_or_nobody, None
    if project_id is not None:
        project = visit.find("GET", "/projects/:id", id=project_id).project
    place = Place(visit.origin.base, project.full_path if project else None, **where)
    html = rendered_all(visit.database, store_of(visit.settings), actor, place, project, texts)
    base = visit.origin.base
    return [Markup(with_named_boxes(with_own_pictures(one, base))) for one in html]  # noqa: S704 - The sanitiser has been over it.
