"""Milestones of projects and groups."""

from typing import Any

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.milestone_issues import api as milestone_issues_api
from ingot.collaboration.issues.milestone_issues.views import MilestoneProgress, burndown_days, milestone_progress
from ingot.collaboration.merge_requests.editing import api as merge_request_editing_api
from ingot.collaboration.milestones import api as milestones_api
from ingot.collaboration.milestones.views import MilestoneView
from ingot.core.db.times import day_of
from ingot.core.errors import Conflict, Invalid, NotFound
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.issues.burndown import Burndown, burndown_or_none
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.issues.planning_parent import SharedPages, planning_page
from ingot.web.page_routes import LocalRedirect, PageResponse, form_field
from ingot.web.projects.context import ProjectContext
from ingot.web.texts import render_markdown

shared_pages = SharedPages()
pages = shared_pages.pages
_FIELDS = ("title", "description", "start_date", "due_date")
_STATES = ("active", "closed", "all")


@shared_pages.get("/milestones", open=True)
def list_milestones(parent: ProjectOrGroupContext) -> PageResponse:
    """List the milestones."""
    query = parent.visit.request.query
    state = query.get("state") if query.get("state") in _STATES else _STATES[0]
    params = {"state": state, "page": parent.visit.request.page, ancestors_param(parent): "true"}
    milestones = parent.ask(
        parent.either(milestones_api.list_project_milestones, milestones_api.list_group_milestones), params
    )
    context = {
        "milestones": milestones,
        "counts": progress_of(parent, [one.id for one in milestones.items]),
        "state": state,
        "states": _STATES,
        "may_change": parent.may(milestones_api.create_milestone),
    }
    return planning_page(parent, "issues/milestones.html", "milestones", context)


@shared_pages.get("/milestones/new")
def show_new_form(parent: ProjectOrGroupContext) -> PageResponse:
    """Show the form for a new milestone."""
    if not parent.may(milestones_api.create_milestone):
        raise NotFound("Milestone")
    return _milestone_form(parent, dict.fromkeys(_FIELDS, ""))


@shared_pages.form("post", "/milestones", notice="Milestone created.")
def create_milestone(parent: ProjectOrGroupContext) -> PageResponse:
    """Create a milestone and redirect to it; on an error show the form with the input."""
    typed = _form_values(parent)
    try:
        created = parent.ask(milestones_api.create_milestone, {name: value or None for name, value in typed.items()})
    except REQUEST_ERRORS as error:
        return _milestone_form(parent, typed, errors=error_messages(error))
    return LocalRedirect(f"{parent.url}/-/milestones/{created.iid}")


@shared_pages.get("/milestones/:milestone_iid", open=True)
def show_milestone(parent: ProjectOrGroupContext) -> PageResponse:
    """Show a milestone with its progress, issues and merge requests."""
    return _milestone_page(parent)


@shared_pages.get("/milestones/:milestone_iid/edit")
def show_edit_form(parent: ProjectOrGroupContext) -> PageResponse:
    """Show the form for editing a milestone."""
    milestone = _milestone(parent)
    if not parent.may(milestones_api.edit_milestone, milestone_id=milestone.id):
        raise NotFound("Milestone")
    return _milestone_form(parent, {name: getattr(milestone, name) or "" for name in _FIELDS}, milestone)


@shared_pages.form("put", "/milestones/:milestone_iid", notice="Milestone saved.")
def edit_milestone(parent: ProjectOrGroupContext) -> PageResponse:
    """Update, close or reopen a milestone."""
    milestone, form = _milestone(parent), parent.visit.request.form
    event = form.get("state_event")
    typed = _form_values(parent)
    params: dict[str, Any] = {name: value or None for name, value in typed.items()} | {"title": typed["title"]}
    if isinstance(event, str):
        params = {"state_event": event}
    try:
        parent.ask(milestones_api.edit_milestone, params, milestone_id=milestone.id)
    except REQUEST_ERRORS as error:
        return _milestone_form(parent, typed, milestone, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/milestones/{milestone.iid}")


@shared_pages.form("delete", "/milestones/:milestone_iid", notice="Milestone deleted.")
def delete_milestone(parent: ProjectOrGroupContext) -> PageResponse:
    """Delete a milestone; its issues and merge requests remain."""
    parent.ask(milestones_api.delete_milestone, milestone_id=_milestone(parent).id)
    return LocalRedirect(f"{parent.url}/-/milestones")


@shared_pages.form("post", "/milestones/:milestone_iid/promote", notice="Milestone promoted to the group.")
def promote_milestone(parent: ProjectOrGroupContext) -> PageResponse:
    """Promote a project milestone to a group milestone."""
    if not isinstance(parent, ProjectContext):
        raise NotFound("Milestone")
    try:
        promoted = parent.ask(milestones_api.promote_project_milestone, milestone_id=_milestone(parent).id)
    except (Invalid, Conflict) as error:
        return _milestone_page(parent, error_messages(error))
    return LocalRedirect(f"/groups/{parent.project.namespace.full_path}/-/milestones/{promoted.iid}")


def _milestone_page(parent: ProjectOrGroupContext, errors: list[str] | None = None) -> PageResponse:
    milestone = _milestone(parent)
    page = parent.visit.request.page
    may_change = parent.may(milestones_api.edit_milestone, milestone_id=milestone.id)
    counts = (
        parent.ask(
            parent.either(issues_api.get_project_statistics, issues_api.get_group_statistics),
            {"milestone": milestone.title},
        )
        if _has_issues(parent)
        else None
    )
    context: dict[str, object] = {
        "milestone": milestone,
        "burndown": _burndown(parent, milestone) if counts else None,
        "description": render_markdown(
            parent.visit, milestone.description, parent.project.id if isinstance(parent, ProjectContext) else None
        ),
        "counts": counts.statistics.counts if counts else None,
        "issues": parent.ask(
            parent.either(milestone_issues_api.list_milestone_issues, milestone_issues_api.list_group_milestone_issues),
            {"page": page},
            milestone_id=milestone.id,
        ),
        "requests": _merge_requests(parent, milestone),
        "may_change": may_change,
        "may_promote": may_change and isinstance(parent, ProjectContext) and parent.project.namespace.kind == "group",
        "errors": errors or [],
        "of_project": isinstance(parent, ProjectContext),
    }
    return planning_page(parent, "issues/milestone.html", "milestones", context, 422 if errors else 200)


def progress_of(parent: ProjectOrGroupContext, numbers: list[int]) -> dict[int, MilestoneProgress]:
    """Return the progress of each milestone, with one query for all."""
    if isinstance(parent, ProjectContext) and not _has_issues(parent):
        return {}
    lookup = parent.find(issues_api.list_project_issues) if isinstance(parent, ProjectContext) else None
    actor = parent.visit.viewer.actor
    return parent.visit.database.read(lambda db: milestone_progress(db, actor, lookup, numbers))


def _burndown(parent: ProjectOrGroupContext, milestone: MilestoneView) -> Burndown | None:
    lookup = parent.find(issues_api.list_project_issues) if isinstance(parent, ProjectContext) else None
    actor, database = parent.visit.viewer.actor, parent.visit.database
    days = database.read(lambda db: burndown_days(db, actor, lookup, milestone.id))
    return burndown_or_none(milestone, days, day_of(database.clock()))


def _has_issues(parent: ProjectOrGroupContext) -> bool:
    return not isinstance(parent, ProjectContext) or parent.may(issues_api.list_project_issues)


def _merge_requests(parent: ProjectOrGroupContext, milestone: MilestoneView) -> list[Any]:
    endpoint = parent.either(
        merge_request_editing_api.list_milestone_merge_requests,
        merge_request_editing_api.list_group_milestone_merge_requests,
    )
    if not parent.may(endpoint, milestone_id=milestone.id):
        return []
    return parent.ask(endpoint, {"per_page": 100}, milestone_id=milestone.id).items


def ancestors_param(parent: ProjectOrGroupContext) -> str:
    """Return the name of the parameter that adds the milestones of the groups above."""
    return "include_parent_milestones" if isinstance(parent, ProjectContext) else "include_ancestors"


def _milestone(parent: ProjectOrGroupContext) -> MilestoneView:
    """Return the milestone of this project or group by its number, without inherited ones."""
    number = parent.visit.request.path["milestone_iid"]
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise NotFound("Milestone")
    matches: list[MilestoneView] = parent.ask(
        parent.either(milestones_api.list_project_milestones, milestones_api.list_group_milestones),
        {"iids": [int(number)]},
    ).items
    if not matches:
        raise NotFound("Milestone")
    return matches[0]


def _form_values(parent: ProjectOrGroupContext) -> dict[str, str]:
    return {name: form_field(parent.visit.request.form, "milestone", name) for name in _FIELDS}


def _milestone_form(
    parent: ProjectOrGroupContext,
    typed: dict[str, str],
    milestone: MilestoneView | None = None,
    errors: list[str] | None = None,
) -> PageResponse:
    context: dict[str, object] = {"typed": typed, "milestone": milestone, "errors": errors or []}
    if isinstance(parent, ProjectContext):
        context |= {"root": "projects", "path": parent.project.path_with_namespace}
    else:
        context |= {"root": "groups", "path": parent.group.full_path}
    return planning_page(parent, "issues/milestone_form.html", "milestones", context, 422 if errors else 200)
