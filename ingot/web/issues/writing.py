"""Writing an issue, and changing what it says and who has it to do."""

from typing import Any
from urllib.parse import urlencode

from ingot.api.params import Missing
from ingot.db.connection import Connection
from ingot.errors import Conflict, Invalid
from ingot.issues import policy
from ingot.issues.policy import Found
from ingot.issues.policy import Place as IssuesPlace
from ingot.issues.ticking import version_of
from ingot.issues.views import IssueView
from ingot.web.discussions.ground import ISSUE, ground_of
from ingot.web.issues.showing import labels_on
from ingot.web.pages import Pages, Redirect, Reply, Visit, form_part
from ingot.web.projects.place import Place, place_of
from ingot.web.projects.templates import template_for, templates_of
from ingot.web.refusals import sentences

pages = Pages()
_TEXTS = ("title", "description", "milestone_id", "due_date")
_LISTS = ("labels", "label_ids", "assignee_ids")
_SHOWN_AGAIN = (Invalid, Conflict, Missing)


@pages.get("/:path/-/issues/new")
def show_new_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask what is to be done; the address may say it already."""
    place = place_of(visit)
    found: IssuesPlace = visit.find("POST", "/projects/:id/issues", id=place.project.id)
    typed, templates = _typed(visit.query), templates_of(place, "issue")
    if not typed["description"]:
        typed["description"] = template_for(place, "issue", templates, visit.query.get("issuable_template"))
    return _form(place, typed, triages=_triages(place, found), templates=templates)


@pages.post("/:path/-/issues")
def create_issue(visit: Visit) -> Reply:
    """Write it, and lead to it; what was typed stays where it is refused."""
    place = place_of(visit)
    found: IssuesPlace = visit.find("POST", "/projects/:id/issues", id=place.project.id)
    typed, triages = _typed(visit.form), _triages(place, found)
    try:
        issue = place.call("POST", "/issues", _sent(typed, triages=triages))
    except _SHOWN_AGAIN as refusal:
        return _form(place, typed, triages=triages, errors=sentences(refusal))
    return Redirect(f"{place.url}/-/issues/{issue.iid}")


@pages.get("/:path/-/issues/:issue_iid/edit")
def show_edit_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """An issue to be changed."""
    place, issue, found = _found(visit)
    return _form(place, _typed_of(issue), issue, triages=_triages(place, found))


@pages.put("/:path/-/issues/:issue_iid")
def edit_issue(visit: Visit) -> Reply:
    """Change it, unless somebody else was faster."""
    place, issue, found = _found(visit)
    typed, triages = _typed(visit.form), _triages(place, found)
    if form_part(visit.form, "issue", "version") != version_of(issue.description):
        faster = ["Somebody has changed the description meanwhile. Look at it, then save again."]
        return _form(place, typed, issue, triages=triages, errors=faster)
    try:
        place.call("PUT", "/issues/:issue_iid", _sent(typed, triages=triages), issue_iid=issue.iid)
    except _SHOWN_AGAIN as refusal:
        return _form(place, typed, issue, triages=triages, errors=sentences(refusal))
    return Redirect(f"{place.url}/-/issues/{issue.iid}")


@pages.delete("/:path/-/issues/:issue_iid")
def delete_issue(visit: Visit) -> Reply:
    """Take it away for everybody."""
    ground = ground_of(ISSUE)(visit)
    ground.get("")
    ground.call("DELETE", "")
    return Redirect(f"/{ground.project_path}/-/issues")


def _found(visit: Visit) -> tuple[Place, IssueView, Found]:
    """The issue of the address, for those who may change it."""
    place, iid = place_of(visit), visit.path["issue_iid"]
    found: Found = visit.find("PUT", ISSUE.route, id=place.project.id, issue_iid=iid)
    return place, place.get("/issues/:issue_iid", issue_iid=iid), found


def _triages(place: Place, found: Found | IssuesPlace) -> bool:
    return policy.may_triage(place.visit.actor, found.here, found.project)


def _typed(sent: dict[str, Any]) -> dict[str, Any]:
    """What a form or an address says of an issue."""
    fields = sent.get("issue")
    typed: dict[str, Any] = {name: form_part(sent, "issue", name) for name in _TEXTS}
    for name in _LISTS:
        values = fields.get(name) if isinstance(fields, dict) else None
        typed[name] = (
            [value for value in values if isinstance(value, str) and value] if isinstance(values, list) else []
        )
    if one := form_part(sent, "issue", "assignee_id"):
        typed["assignee_ids"].append(one)
    typed["confidential"] = form_part(sent, "issue", "confidential") in ("1", "true", "on")
    return typed


def _typed_of(issue: IssueView) -> dict[str, Any]:
    return {
        "title": issue.title,
        "description": issue.description or "",
        "milestone_id": str(issue.milestone.id) if issue.milestone else "",
        "due_date": issue.due_date or "",
        "labels": list(issue.labels),
        "label_ids": [],
        "assignee_ids": [str(person.id) for person in issue.assignees],
        "confidential": issue.confidential,
    }


def _sent(typed: dict[str, Any], *, triages: bool) -> dict[str, Any]:
    sent = {"title": typed["title"], "description": typed["description"], "confidential": typed["confidential"]}
    if triages:
        sent |= {"labels": typed["labels"], "assignee_ids": typed["assignee_ids"]}
        sent |= {name: typed[name] or None for name in ("milestone_id", "due_date")}
    return sent


def _form(
    place: Place,
    typed: dict[str, Any],
    issue: IssueView | None = None,
    *,
    triages: bool,
    errors: list[str] | None = None,
    templates: list[str] | None = None,
) -> Reply:
    context: dict[str, Any] = {"typed": typed, "issue": issue, "triages": triages, "errors": errors or []}
    context["templates"] = [(name, urlencode({"issuable_template": name})) for name in templates or []]
    context["version"] = version_of(issue.description) if issue else ""
    context["may_delete"] = issue is not None and place.may("DELETE", "/issues/:issue_iid", issue_iid=issue.iid)
    context |= _choices(place, issue) if triages else {}
    return place.page("issues/form.html", "issues", context, status=422 if errors else 200)


def _choices(place: Place, issue: IssueView | None) -> dict[str, Any]:
    """What can be chosen; what an issue has already is among it."""
    labels = place.get("/labels", {"per_page": 100, "with_counts": "false"}).items
    wanted = {"per_page": 100, "state": "active", "include_parent_milestones": "true"}
    milestones = place.get("/milestones", wanted).items
    people = place.get("/members/all", {"per_page": 100}).items
    if issue is not None:
        labels += [label for label in labels_on(place.visit, issue) if label.id not in {one.id for one in labels}]
        people += [person for person in issue.assignees if person.id not in {one.id for one in people}]
        if issue.milestone and issue.milestone.id not in {one.id for one in milestones}:
            milestones.append(issue.milestone)
    return {"labels": labels, "milestones": milestones, "people": people}
