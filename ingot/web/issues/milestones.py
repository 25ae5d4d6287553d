"""Milestones of projects and groups."""

from typing import Any

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.milestone_issues import api as milestone_issues_api
from ingot.collaboration.issues.milestone_issues.views import MilestoneProgress, milestone_progress
from ingot.collaboration.merge_requests.editing import api as merge_request_upkeep_api
from ingot.collaboration.milestones import api as milestones_api
from ingot.collaboration.milestones.views import MilestoneView
from ingot.errors import Conflict, Invalid, NotFound
from ingot.web.form_errors import RequestRefusal, error_messages
from ingot.web.issues.planning_parent import ProjectOrGroupContext, SharedPages, framed_page
from ingot.web.page_routes import LocalRedirect, PageResponse, form_field
from ingot.web.projects.context import ProjectContext
from ingot.web.texts import render_markdown

shared_pages = SharedPages()
pages = shared_pages.pages
_FIELDS = ("title", "description", "start_date", "due_date")
_STATES = ("active", "closed", "all")


@shared_pages.get("/milestones", open=True)
def list_milestones(place: ProjectOrGroupContext) -> PageResponse:
    """List the milestones."""
    query = place.visit.request.query
    state = query.get("state") if query.get("state") in _STATES else _STATES[0]
    sent = {"state": state, "page": place.visit.request.page, _ancestors_param(place): "true"}
    found = place.ask(place.either(milestones_api.list_project_milestones, milestones_api.list_group_milestones), sent)
    context = {
        "milestones": found,
        "counts": _progress(place, [one.id for one in found.items]),
        "state": state,
        "states": _STATES,
        "may_change": place.may(milestones_api.create_milestone),
    }
    return framed_page(place, "issues/milestones.html", "milestones", context)


@shared_pages.get("/milestones/new")
def show_new_form(place: ProjectOrGroupContext) -> PageResponse:
    """Show the form for a new milestone."""
    if not place.may(milestones_api.create_milestone):
        raise NotFound("Milestone")
    return _milestone_form(place, dict.fromkeys(_FIELDS, ""))


@shared_pages.form("post", "/milestones")
def create_milestone(place: ProjectOrGroupContext) -> PageResponse:
    """Create a milestone and redirect to it; on an error show the form with the input."""
    typed = _form_values(place)
    try:
        made = place.ask(milestones_api.create_milestone, {name: value or None for name, value in typed.items()})
    except RequestRefusal as refusal:
        return _milestone_form(place, typed, errors=error_messages(refusal))
    return LocalRedirect(f"{place.url}/-/milestones/{made.iid}")


@shared_pages.get("/milestones/:milestone_iid", open=True)
def show_milestone(place: ProjectOrGroupContext) -> PageResponse:
    """Show a milestone with its progress, issues and merge requests."""
    return _milestone_page(place)


@shared_pages.get("/milestones/:milestone_iid/edit")
def show_edit_form(place: ProjectOrGroupContext) -> PageResponse:
    """Show the form for editing a milestone."""
    milestone = _milestone(place)
    if not place.may(milestones_api.edit_milestone, milestone_id=milestone.id):
        raise NotFound("Milestone")
    return _milestone_form(place, {name: getattr(milestone, name) or "" for name in _FIELDS}, milestone)


@shared_pages.form("put", "/milestones/:milestone_iid")
def edit_milestone(place: ProjectOrGroupContext) -> PageResponse:
    """Update, close or reopen a milestone."""
    milestone, form = _milestone(place), place.visit.request.form
    event = form.get("state_event")
    typed = _form_values(place)
    sent: dict[str, Any] = {name: value or None for name, value in typed.items()} | {"title": typed["title"]}
    if isinstance(event, str):
        sent = {"state_event": event}
    try:
        place.ask(milestones_api.edit_milestone, sent, milestone_id=milestone.id)
    except RequestRefusal as refusal:
        return _milestone_form(place, typed, milestone, error_messages(refusal))
    return LocalRedirect(f"{place.url}/-/milestones/{milestone.iid}")


@shared_pages.form("delete", "/milestones/:milestone_iid")
def delete_milestone(place: ProjectOrGroupContext) -> PageResponse:
    """Delete a milestone; its issues and merge requests remain."""
    place.ask(milestones_api.delete_milestone, milestone_id=_milestone(place).id)
    return LocalRedirect(f"{place.url}/-/milestones")


@shared_pages.form("post", "/milestones/:milestone_iid/promote")
def promote_milestone(place: ProjectOrGroupContext) -> PageResponse:
    """Promote a project milestone to a group milestone."""
    if not isinstance(place, ProjectContext):
        raise NotFound("Milestone")
    try:
        made = place.ask(milestones_api.promote_project_milestone, milestone_id=_milestone(place).id)
    except (Invalid, Conflict) as refusal:
        return _milestone_page(place, error_messages(refusal))
    return LocalRedirect(f"/groups/{place.project.namespace.full_path}/-/milestones/{made.iid}")


def _milestone_page(place: ProjectOrGroupContext, errors: list[str] | None = None) -> PageResponse:
    milestone = _milestone(place)
    page = place.visit.request.page
    may_change = place.may(milestones_api.edit_milestone, milestone_id=milestone.id)
    counts = (
        place.ask(
            place.either(issues_api.get_project_statistics, issues_api.get_group_statistics),
            {"milestone": milestone.title},
        )
        if _has_issues(place)
        else None
    )
    context = {
        "milestone": milestone,
        "description": render_markdown(
            place.visit, milestone.description, place.project.id if isinstance(place, ProjectContext) else None
        ),
        "counts": counts.statistics.counts if counts else None,
        "issues": place.ask(
            place.either(milestone_issues_api.list_milestone_issues, milestone_issues_api.list_group_milestone_issues),
            {"page": page},
            milestone_id=milestone.id,
        ),
        "requests": _merge_requests(place, milestone),
        "may_change": may_change,
        "may_promote": may_change and isinstance(place, ProjectContext) and place.project.namespace.kind == "group",
        "errors": errors or [],
        "of_project": isinstance(place, ProjectContext),
    }
    return framed_page(place, "issues/milestone.html", "milestones", context, 422 if errors else 200)


def _progress(place: ProjectOrGroupContext, numbers: list[int]) -> dict[int, MilestoneProgress]:
    """Return the progress of each milestone, with one query for all."""
    if isinstance(place, ProjectContext) and not _has_issues(place):
        return {}
    found = place.find(issues_api.list_project_issues) if isinstance(place, ProjectContext) else None
    actor = place.visit.viewer.actor
    return place.visit.database.read(lambda db: milestone_progress(db, actor, found, numbers))


def _has_issues(place: ProjectOrGroupContext) -> bool:
    return not isinstance(place, ProjectContext) or place.may(issues_api.list_project_issues)


def _merge_requests(place: ProjectOrGroupContext, milestone: MilestoneView) -> list[Any]:
    endpoint = place.either(
        merge_request_upkeep_api.list_milestone_merge_requests,
        merge_request_upkeep_api.list_group_milestone_merge_requests,
    )
    if not place.may(endpoint, milestone_id=milestone.id):
        return []
    return place.ask(endpoint, {"per_page": 100}, milestone_id=milestone.id).items


def _ancestors_param(place: ProjectOrGroupContext) -> str:
    return "include_parent_milestones" if isinstance(place, ProjectContext) else "include_ancestors"


def _milestone(place: ProjectOrGroupContext) -> MilestoneView:
    """Return the milestone of this project or group by its number, without inherited ones."""
    number = place.visit.request.path["milestone_iid"]
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise NotFound("Milestone")
    found: list[MilestoneView] = place.ask(
        place.either(milestones_api.list_project_milestones, milestones_api.list_group_milestones),
        {"iids": [int(number)]},
    ).items
    if not found:
        raise NotFound("Milestone")
    return found[0]


def _form_values(place: ProjectOrGroupContext) -> dict[str, str]:
    return {name: form_field(place.visit.request.form, "milestone", name) for name in _FIELDS}


def _milestone_form(
    place: ProjectOrGroupContext,
    typed: dict[str, str],
    milestone: MilestoneView | None = None,
    errors: list[str] | None = None,
) -> PageResponse:
    context: dict[str, object] = {"typed": typed, "milestone": milestone, "errors": errors or []}
    context["path"] = place.project.path_with_namespace if isinstance(place, ProjectContext) else ""
    return framed_page(place, "issues/milestone_form.html", "milestones", context, 422 if errors else 200)
