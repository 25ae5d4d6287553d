"""What the forms of merge requests hold, and what can be chosen in them."""

from collections.abc import Sequence
from typing import Any

from ingot.labels.views import LabelBrief
from ingot.merge_requests.views import OneMergeRequestView
from ingot.web.pages import form_part
from ingot.web.projects.place import Place

_TEXTS = ("title", "description", "milestone_id", "source_branch", "target_branch")
_NUMBERS = ("source_project_id", "target_project_id")
_LISTS = ("labels", "assignee_ids", "reviewer_ids")
_ONLY_ASKED = ("label_ids",)
_FLAGS = ("squash", "remove_source_branch")


def typed_in(sent: dict[str, Any]) -> dict[str, Any]:
    """What a form or an address says of a merge request."""
    fields = sent.get("merge_request")
    typed: dict[str, Any] = {name: form_part(sent, "merge_request", name) for name in (*_TEXTS, *_NUMBERS)}
    for name in (*_LISTS, *_ONLY_ASKED):
        values = fields.get(name) if isinstance(fields, dict) else None
        values = values if isinstance(values, list) else []
        typed[name] = [value for value in values if isinstance(value, str) and value]
    if one := form_part(sent, "merge_request", "assignee_id"):
        typed["assignee_ids"].append(one)
    for name in _FLAGS:
        typed[name] = form_part(sent, "merge_request", name) in ("1", "true", "on")
    return typed


def typed_of(request: OneMergeRequestView) -> dict[str, Any]:
    """The same of one that is there."""
    return {
        "title": request.title,
        "description": request.description or "",
        "milestone_id": str(request.milestone.id) if request.milestone else "",
        "source_branch": request.source_branch,
        "target_branch": request.target_branch,
        "labels": list(request.labels),
        "label_ids": [],
        "assignee_ids": [str(person.id) for person in request.assignees],
        "reviewer_ids": [str(person.id) for person in request.reviewers],
        "squash": request.squash,
        "remove_source_branch": request.force_remove_source_branch,
    }


def sent_of(typed: dict[str, Any], *, triages: bool) -> dict[str, Any]:
    """What the API gets of it."""
    sent = {name: typed[name] for name in ("title", "description", *_FLAGS)}
    if triages:
        sent |= {name: typed[name] for name in _LISTS}
        sent["milestone_id"] = typed["milestone_id"] or None
    return sent


def choices(
    place: Place, request: OneMergeRequestView | None = None, carried: Sequence[LabelBrief] = ()
) -> dict[str, Any]:
    """What can be chosen; what a merge request has already is among it."""
    labels = place.get("/labels", {"per_page": 100, "with_counts": "false"}).items
    wanted = {"per_page": 100, "state": "active", "include_parent_milestones": "true"}
    milestones = place.get("/milestones", wanted).items
    people = place.get("/members/all", {"per_page": 100}).items
    labels += [label for label in carried if label.id not in {one.id for one in labels}]
    if request is not None:
        known = {one.id for one in people}
        people += [person for person in (*request.assignees, *request.reviewers) if person.id not in known]
        if request.milestone and request.milestone.id not in {one.id for one in milestones}:
            milestones.append(request.milestone)
    return {"labels": labels, "milestones": milestones, "people": people}


def branches_of(place: Place) -> list[str]:
    """Names of branches to begin with; any other can be typed."""
    if not place.may("GET", "/repository/branches"):
        return []
    return [branch.name for branch in place.get("/repository/branches", {"per_page": 100}).items]
