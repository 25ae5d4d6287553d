"""From which project to which a merge request goes, among those that are the visitor's to choose."""

from typing import Any

import msgspec

from ingot.access.levels import Level
from ingot.errors import NotFound
from ingot.projects.views import ProjectView, SimpleProjectView
from ingot.web.merge_requests.fields import typed_in
from ingot.web.pages import Visit
from ingot.web.projects.place import Place, place_of

_MOST_FORKS = 20


class Sides(msgspec.Struct, frozen=True):
    """Both projects, and what else could be chosen."""

    place: Place
    """Where the visitor is."""
    source: Place
    target: Place
    sources: list[SimpleProjectView]
    targets: list[SimpleProjectView]
    may_offer: bool
    """Whether the visitor may offer branches of the source."""


def sides_of(visit: Visit, typed: dict[str, Any] | None = None) -> Sides:
    """The projects that a form or an address names; one's own branches into where the project comes from, else."""
    place, typed = place_of(visit), typed or typed_in(visit.query)
    if not place.may("GET", "/merge_requests") and not place.may("POST", "/merge_requests"):
        raise NotFound("Project")
    sources = _sources(place)
    source = _place(place, sources, typed["source_project_id"]) or _first(place, sources)
    targets = _targets(source, place)
    target = _place(place, targets, typed["target_project_id"])
    if target is None:
        # Who names a branch means one of the project at hand.
        target = place if typed["target_branch"] or source.project.id != place.project.id else _upstream(place, targets)
    return Sides(place, source, target, sources, targets, source.may("POST", "/merge_requests"))


def _sources(place: Place) -> list[SimpleProjectView]:
    """The project itself, and those of its forks that the visitor works on."""
    asked = {"min_access_level": int(Level.DEVELOPER), "per_page": _MOST_FORKS, "simple": "true"}
    forks = place.visit.get("/projects/:id/forks", asked, id=place.project.id).items
    own = [place.project] if place.may("POST", "/merge_requests") or not forks else []
    return [*own, *forks]


def _targets(source: Place, place: Place) -> list[SimpleProjectView]:
    """The source itself, what it comes from, and where the visitor is."""
    project = source.project
    upstream = project.forked_from_project
    found: list[SimpleProjectView] = [project]
    if isinstance(upstream, SimpleProjectView):
        found.append(upstream)
    if place.project.id not in {one.id for one in found}:
        found.append(place.project)
    return [one for one in found if place.visit.may("GET", "/projects/:id/merge_requests", id=one.id)]


def _place(place: Place, among: list[SimpleProjectView], number: str) -> Place | None:
    if not number or number not in {str(one.id) for one in among}:
        return None
    return place if number == str(place.project.id) else Place(place.visit, _project(place.visit, number))


def _first(place: Place, sources: list[SimpleProjectView]) -> Place:
    return _place(place, sources, str(sources[0].id)) or place


def _upstream(place: Place, targets: list[SimpleProjectView]) -> Place:
    """What the project comes from, where that takes merge requests."""
    other = next((one for one in targets if one.id != place.project.id), None)
    return place if other is None else Place(place.visit, _project(place.visit, str(other.id)))


def _project(visit: Visit, number: str) -> ProjectView:
    project: ProjectView = visit.get("/projects/:id", id=number)
    return project
