"""Choices of people, labels and milestones in the forms of issues and merge requests, searched while typing."""

import re
from collections.abc import Callable
from typing import Any

from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.milestones import api as milestones_api
from ingot.core.errors import Denied, NotFound
from ingot.projects.sharing import api as sharing_api
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
_MAX_CHOICES = 50
_MAX_LENGTH = 100
_FIELD = re.compile(r"(?:issue|merge_request)\[[a-z_]+\](?:\[\])?")


@pages.get("/:path/-/choices/:kind")
def list_choices(visit: Visit) -> PageResponse:
    """List the people, labels or milestones whose name contains the search, as choices of a form's field."""
    parent, kind, query = project_context(visit), visit.request.path["kind"], visit.request.query
    find, name = _FINDERS.get(kind), text_field(query, "name")
    if find is None or not _FIELD.fullmatch(name):
        raise NotFound("Page")
    search = text_field(query, "search").strip()[:_MAX_LENGTH]
    try:
        listing = find(parent, {"per_page": _MAX_CHOICES} | ({"search": search} if search else {}))
    except Denied:  # A list that the user may not see.
        raise NotFound("Page") from None
    more = listing.more or (listing.total or 0) > len(listing.items)
    context = {"kind": kind, "name": name, "items": listing.items, "more": more}
    return TemplateResponse("issues/_choices.html", context)


def _people(parent: ProjectContext, params: dict[str, Any]) -> Any:
    params["query"] = params.pop("search", "")
    return parent.ask(sharing_api.list_all_project_members, params)


def _labels(parent: ProjectContext, params: dict[str, Any]) -> Any:
    return parent.ask(labels_api.list_project_labels, params | {"with_counts": "false"})


def _milestones(parent: ProjectContext, params: dict[str, Any]) -> Any:
    params |= {"state": "active", "include_parent_milestones": "true"}
    return parent.ask(milestones_api.list_project_milestones, params)


_FINDERS: dict[str, Callable[[ProjectContext, dict[str, Any]], Any]] = {
    "people": _people,
    "labels": _labels,
    "milestones": _milestones,
}
