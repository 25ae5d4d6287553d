"""Forks of a project: the list, and making one."""

from typing import Any

from ingot.db.connection import Connection
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.projects.forms import filled
from ingot.web.projects.namespaces import offered_namespaces, typed_namespace
from ingot.web.projects.place import Place, place_of
from ingot.web.refusals import Refusal, sentences

pages = Pages()
_FIELDS = ("namespace", "name", "path", "visibility")


@pages.get("/:path/-/forks", open=True)
def show_forks(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The forks that the visitor may see."""
    place = place_of(visit)
    forks = place.get("/forks", {"page": str(visit.query.get("page", "1"))})
    return place.page("projects/forks.html", "home", {"forks": forks, "may_fork": place.may("POST", "/fork")})


@pages.get("/:path/-/forks/new")
def show_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask where to."""
    place = place_of(visit)
    typed = dict.fromkeys(_FIELDS, "") | {"name": place.project.name, "path": place.project.path}
    return _form(place, typed)


@pages.post("/:path/-/forks")
def fork_project(visit: Visit) -> Reply:
    """Let a job copy it, and lead to the fork, which shows how that goes."""
    place = place_of(visit)
    typed = {name: str(visit.form.get(name, "")) for name in _FIELDS}
    try:
        sent = filled(typed)
        if typed["namespace"]:
            sent["namespace"] = typed_namespace(visit, typed["namespace"]).full_path
        fork = place.call("POST", "/fork", {**sent, "by_job": "true"})
    except Refusal as refusal:
        return _form(place, typed, sentences(refusal), 422)
    return Redirect(f"/{fork.path_with_namespace}")


def _form(place: Place, typed: dict[str, str], errors: list[str] | None = None, status: int = 200) -> Page:
    context: dict[str, Any] = {
        "typed": typed,
        "errors": errors or [],
        "offered": offered_namespaces(place.visit),
        "may_fork": place.may("POST", "/fork"),
    }
    return place.page("projects/fork.html", "home", context, status)
