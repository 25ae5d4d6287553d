"""Texts that people wrote, as pages show them."""

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from ingot.markup.links import Place
from ingot.projects.api import store_of
from ingot.renderings.service import rendered_all
from ingot.web.boxes import with_named_boxes
from ingot.web.pages import Visit
from ingot.web.pictures import with_own_pictures

_HEADING = re.compile(r"(</?h)([1-5])(?=[\s>])")


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
    return [Markup(_adapted(one, base)) for one in html]  # noqa: S704 - The sanitiser has been over it.


def _adapted(html: str, base: str) -> str:
    """As it stands well on a page, which has a title, asks no other host for anything, and is also heard."""
    return _below_title(with_named_boxes(with_own_pictures(html, base)))


def _below_title(html: str) -> str:
    """The headings one level lower where they begin at the first, which is that of the page's own title."""
    return _HEADING.sub(_lower, html) if "<h1" in html else html


def _lower(heading: re.Match[str]) -> str:
    return f"{heading[1]}{int(heading[2]) + 1}"
