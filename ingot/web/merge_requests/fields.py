"""Fields of the merge request forms and their choices."""

from collections.abc import Sequence
from typing import Any

from ingot.accounts.users.views import UserBrief
from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.labels.views import LabelBrief, LabelView
from ingot.collaboration.merge_requests.views import MergeRequestDetailView
from ingot.collaboration.milestones import api as milestones_api
from ingot.projects.members.views import MemberView
from ingot.projects.sharing import api as sharing_api
from ingot.repositories.branches import api as branches_api
from ingot.web.page_routes import form_field
from ingot.web.projects.context import ProjectContext

_TEXT_FIELDS = ("title", "description", "milestone_id", "source_branch", "target_branch")
_NUMBER_FIELDS = ("source_project_id", "target_project_id")
_LIST_FIELDS = ("labels", "assignee_ids", "reviewer_ids")
_QUERY_ONLY_FIELDS = ("label_ids",)
_FLAG_FIELDS = ("squash", "remove_source_branch")


def form_values(form: dict[str, Any]) -> dict[str, Any]:
    """Return the fields from a form or query string."""
    fields = form.get("merge_request")
    typed: dict[str, Any] = {name: form_field(form, "merge_request", name) for name in (*_TEXT_FIELDS, *_NUMBER_FIELDS)}
    for name in (*_LIST_FIELDS, *_QUERY_ONLY_FIELDS):
        values = fields.get(name) if isinstance(fields, dict) else None
        values = values if isinstance(values, list) else []
        typed[name] = [value for value in values if isinstance(value, str) and value]
    if assignee_id := form_field(form, "merge_request", "assignee_id"):
        typed["assignee_ids"].append(assignee_id)
    for name in _FLAG_FIELDS:
        typed[name] = form_field(form, "merge_request", name) in ("1", "true", "on")
    return typed


def values_of_request(request: MergeRequestDetailView) -> dict[str, Any]:
    """Return the fields of an existing merge request."""
    return {
        "title": request.title,
        "description": request.description or "",
        "milestone_id": str(request.milestone.id) if request.milestone else "",
        "source_branch": request.source_branch,
        "target_branch": request.target_branch,
        "labels": list(request.labels),
        "label_ids": [],
        "assignee_ids": [str(user.id) for user in request.assignees],
        "reviewer_ids": [str(user.id) for user in request.reviewers],
        "squash": request.squash,
        "remove_source_branch": request.force_remove_source_branch,
    }


def api_params(typed: dict[str, Any], *, may_triage: bool) -> dict[str, Any]:
    """Return the API parameters for the form's fields."""
    params = {name: typed[name] for name in ("title", "description", *_FLAG_FIELDS)}
    if may_triage:
        params |= {name: typed[name] for name in _LIST_FIELDS}
        params["milestone_id"] = typed["milestone_id"] or None
    return params


def form_choices(
    parent: ProjectContext, request: MergeRequestDetailView | None = None, current_labels: Sequence[LabelBrief] = ()
) -> dict[str, Any]:
    """Return the choices of the form, including the merge request's current values."""
    listing = parent.ask(labels_api.list_project_labels, {"per_page": 100, "with_counts": "false"})
    labels: list[LabelView | LabelBrief] = [*listing.items]
    params = {"per_page": 100, "state": "active", "include_parent_milestones": "true"}
    milestones = parent.ask(milestones_api.list_project_milestones, params).items
    members = parent.ask(sharing_api.list_all_project_members, {"per_page": 100})
    users: list[MemberView | UserBrief] = [*members.items]
    labels += [label for label in current_labels if label.id not in {one.id for one in labels}]
    if request is not None:
        known_ids = {one.id for one in users}
        users += [user for user in (*request.assignees, *request.reviewers) if user.id not in known_ids]
        if request.milestone and request.milestone.id not in {one.id for one in milestones}:
            milestones.append(request.milestone)
    return {"labels": labels, "milestones": milestones, "users": users}


def branch_suggestions(parent: ProjectContext) -> list[str]:
    """Return branch names to suggest; the user can also enter any other."""
    if not parent.may(branches_api.list_branches):
        return []
    return [branch.name for branch in parent.ask(branches_api.list_branches, {"per_page": 100}).items]
