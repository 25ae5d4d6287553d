"""Milestones of projects and groups, with what belongs to each."""

from typing import Any

from ingot.errors import Conflict, Invalid, NotFound
from ingot.issues.planning.queries import Counts, counts_everywhere, counts_in_project
from ingot.issues.policy import Place as IssuesPlace
from ingot.milestones.views import MilestoneView
from ingot.web.issues.anywhere import PlacedPages, Somewhere, framed
from ingot.web.pages import Redirect, Reply, form_part
from ingot.web.projects.place import Place
from ingot.web.refusals import Refusal, sentences
from ingot.web.texts import html_of

placed = PlacedPages()
pages = placed.pages
_FIELDS = ("title", "description", "start_date", "due_date")
_STATES = ("active", "closed", "all")


@placed.get("/milestones", open=True)
def list_milestones(place: Somewhere) -> Reply:
    """What is planned until when."""
    query = place.visit.query
    state = query.get("state") if query.get("state") in _STATES else _STATES[0]
    sent = {"state": state, "page": place.visit.page, _around(place): "true"}
    found = place.get("/milestones", sent)
    context = {
        "milestones": found,
        "counts": _counts(place, [one.id for one in found.items]),
        "state": state,
        "states": _STATES,
        "may_change": place.may("POST", "/milestones"),
    }
    return framed(place, "issues/milestones.html", "milestones", context)


@placed.get("/milestones/new")
def show_new_form(place: Somewhere) -> Reply:
    """Ask what is planned."""
    route = f"/{'projects' if isinstance(place, Place) else 'groups'}/:id/milestones"
    place.visit.find("POST", route, id=place.project.id if isinstance(place, Place) else place.group.id)
    return _form(place, dict.fromkeys(_FIELDS, ""))


@placed.form("post", "/milestones")
def create_milestone(place: Somewhere) -> Reply:
    """Make it, and lead to it; what was typed stays where it is refused."""
    typed = _typed(place)
    try:
        made = place.call("POST", "/milestones", {name: value or None for name, value in typed.items()})
    except Refusal as refusal:
        return _form(place, typed, errors=sentences(refusal))
    return Redirect(f"{place.url}/-/milestones/{made.iid}")


@placed.get("/milestones/:milestone_iid", open=True)
def show_milestone(place: Somewhere) -> Reply:
    """How far it is, and what belongs to it."""
    return _show(place)


@placed.get("/milestones/:milestone_iid/edit")
def show_edit_form(place: Somewhere) -> Reply:
    """One to be changed."""
    milestone = _milestone(place)
    if not place.may("PUT", "/milestones/:milestone_id", milestone_id=milestone.id):
        raise NotFound("Milestone")
    return _form(place, {name: getattr(milestone, name) or "" for name in _FIELDS}, milestone)


@placed.form("put", "/milestones/:milestone_iid")
def edit_milestone(place: Somewhere) -> Reply:
    """Change it, close it or open it again."""
    milestone, form = _milestone(place), place.visit.form
    event = form.get("state_event")
    typed = _typed(place)
    sent: dict[str, Any] = {name: value or None for name, value in typed.items()} | {"title": typed["title"]}
    if isinstance(event, str):
        sent = {"state_event": event}
    try:
        place.call("PUT", "/milestones/:milestone_id", sent, milestone_id=milestone.id)
    except Refusal as refusal:
        return _form(place, typed, milestone, sentences(refusal))
    return Redirect(f"{place.url}/-/milestones/{milestone.iid}")


@placed.form("delete", "/milestones/:milestone_iid")
def delete_milestone(place: Somewhere) -> Reply:
    """Take it away; what belonged to it stays."""
    place.call("DELETE", "/milestones/:milestone_id", milestone_id=_milestone(place).id)
    return Redirect(f"{place.url}/-/milestones")


@placed.form("post", "/milestones/:milestone_iid/promote")
def promote_milestone(place: Somewhere) -> Reply:
    """Let it be one of the group around the project."""
    if not isinstance(place, Place):
        raise NotFound("Milestone")
    try:
        made = place.call("POST", "/milestones/:milestone_id/promote", milestone_id=_milestone(place).id)
    except (Invalid, Conflict) as refusal:
        return _show(place, sentences(refusal))
    return Redirect(f"/groups/{place.project.namespace.full_path}/-/milestones/{made.iid}")


def _show(place: Somewhere, errors: list[str] | None = None) -> Reply:
    milestone = _milestone(place)
    page = place.visit.page
    may_change = place.may("PUT", "/milestones/:milestone_id", milestone_id=milestone.id)
    counts = place.get("/issues_statistics", {"milestone": milestone.title}) if _has_issues(place) else None
    context = {
        "milestone": milestone,
        "description": html_of(
            place.visit, milestone.description, place.project.id if isinstance(place, Place) else None
        ),
        "counts": counts.statistics.counts if counts else None,
        "issues": place.get("/milestones/:milestone_id/issues", {"page": page}, milestone_id=milestone.id),
        "requests": _requests(place, milestone),
        "may_change": may_change,
        "may_promote": may_change and isinstance(place, Place) and place.project.namespace.kind == "group",
        "errors": errors or [],
        "of_project": isinstance(place, Place),
    }
    return framed(place, "issues/milestone.html", "milestones", context, 422 if errors else 200)


def _counts(place: Somewhere, numbers: list[int]) -> dict[int, Counts]:
    """How far each is, with one statement for all."""
    visit = place.visit
    actor = visit.actor_or_nobody
    if not isinstance(place, Place):
        return visit.database.read(lambda db: counts_everywhere(db, actor, numbers))
    if not _has_issues(place):
        return {}
    found: IssuesPlace = visit.find("GET", "/projects/:id/issues", id=place.project.id)
    return visit.database.read(lambda db: counts_in_project(db, actor, found.here, found.project, numbers))


def _has_issues(place: Somewhere) -> bool:
    return not isinstance(place, Place) or place.may("GET", "/issues")


def _requests(place: Somewhere, milestone: MilestoneView) -> list[Any]:
    route = "/milestones/:milestone_id/merge_requests"
    if not place.may("GET", route, milestone_id=milestone.id):
        return []
    found: list[Any] = place.get(route, {"per_page": 100}, milestone_id=milestone.id).items
    return found


def _around(place: Somewhere) -> str:
    return "include_parent_milestones" if isinstance(place, Place) else "include_ancestors"


def _milestone(place: Somewhere) -> MilestoneView:
    """One of the very project's or group's, by its number there."""
    number = place.visit.path["milestone_iid"]
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise NotFound("Milestone")
    found: list[MilestoneView] = place.get("/milestones", {"iids": [int(number)]}).items
    if not found:
        raise NotFound("Milestone")
    return found[0]


def _typed(place: Somewhere) -> dict[str, str]:
    return {name: form_part(place.visit.form, "milestone", name) for name in _FIELDS}


def _form(
    place: Somewhere, typed: dict[str, str], milestone: MilestoneView | None = None, errors: list[str] | None = None
) -> Reply:
    context: dict[str, object] = {"typed": typed, "milestone": milestone, "errors": errors or []}
    context["path"] = place.project.path_with_namespace if isinstance(place, Place) else ""
    return framed(place, "issues/milestone_form.html", "milestones", context, 422 if errors else 200)
