"""Lists of issues: a project's, a group's and one's own."""

from typing import Any

from ingot.db.connection import Connection
from ingot.web.filters import Asked
from ingot.web.issues.asking import ISSUES
from ingot.web.issues.group_place import GroupPlace, group_place_of
from ingot.web.pages import Page, Pages, Reply, Visit
from ingot.web.projects.place import Place, place_of

pages = Pages()
_SCOPES = {"assigned_to_me": "Assigned to you", "created_by_me": "Written by you"}


@pages.get("/:path/-/issues", open=True)
def list_issues(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The issues of a project."""
    place = place_of(visit)
    context = _listed(place, visit) | _choices(place)
    context["may_create"] = place.may("POST", "/issues")
    return place.page("issues/list.html", "issues", context)


@pages.get("/groups/:path/-/issues", open=True)
def list_group_issues(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The issues of the projects in a group."""
    place = group_place_of(visit)
    return place.page("issues/group_list.html", "issues", _listed(place, visit) | _choices(place))


@pages.get("/dashboard/issues")
def list_own_issues(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """What the visitor has to do, or wrote."""
    asked, scope = ISSUES.asked_in(visit.query), str(visit.query.get("scope", ""))
    scope = scope if scope in _SCOPES else next(iter(_SCOPES))
    sent = {"scope": scope, "with_labels_details": "true", "page": visit.page}
    context = {
        "issues": visit.get("/issues", asked.list | sent),
        "counts": visit.get("/issues_statistics", asked.filters | {"scope": scope}).statistics.counts,
        "scopes": _SCOPES,
        "scope": scope,
    }
    return Page("issues/own_list.html", context | _asked(asked))


def _listed(place: Place | GroupPlace, visit: Visit) -> dict[str, Any]:
    asked = ISSUES.asked_in(visit.query)
    sent = {"with_labels_details": "true", "page": visit.page}
    return {
        "issues": place.get("/issues", asked.list | sent),
        "counts": place.get("/issues_statistics", asked.filters).statistics.counts,
    } | _asked(asked)


def _asked(asked: Asked) -> dict[str, Any]:
    return {"asked": asked, "sorts": ISSUES.sort_names}


def _choices(place: Place | GroupPlace) -> dict[str, Any]:
    """What the list can be filtered by."""
    ancestors = "include_parent_milestones" if isinstance(place, Place) else "include_ancestors"
    return {
        "labels": place.get("/labels", {"per_page": 100, "with_counts": "false"}).items,
        "milestones": place.get("/milestones", {"per_page": 100, "state": "active", ancestors: "true"}).items,
    }
