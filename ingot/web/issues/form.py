"""Forms for creating and editing issues."""

from typing import Any
from urllib.parse import urlencode

from ingot.accounts.users.views import UserBrief
from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues import policy
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.task_items import description_version
from ingot.collaboration.issues.views import IssueView
from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.labels.views import LabelBrief, LabelView, label_briefs_of
from ingot.collaboration.milestones import api as milestones_api
from ingot.collaboration.planning.scope import ProjectScope
from ingot.projects.members.views import MemberView
from ingot.projects.sharing import api as sharing_api
from ingot.web.discussions.discussable import ISSUE, discussable_finder
from ingot.web.form_errors import FORM_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit, form_field
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.projects.templates import list_templates, template_or_none

pages = PageRoutes()
_TEXT_FIELDS = ("title", "description", "milestone_id", "due_date", "issue_type", "severity")
_LIST_FIELDS = ("labels", "label_ids", "assignee_ids")


@pages.get("/:path/-/issues/new")
def show_new_form(visit: Visit) -> PageResponse:
    """Show the form for a new issue; query parameters prefill it."""
    parent = project_context(visit)
    scope = parent.find(issues_api.create_issue)
    typed, templates = _form_values(visit.request.query), list_templates(parent, "issue")
    if not typed["description"]:
        requested = visit.request.query.get("issuable_template")
        typed["description"] = template_or_none(parent, "issue", templates, requested)
    return _issue_form(parent, typed, may_triage=_may_triage(parent, scope), templates=templates)


@pages.post("/:path/-/issues", notice="Issue created.")
def create_issue(visit: Visit) -> PageResponse:
    """Create an issue and redirect to it; on an error show the form with the input."""
    parent = project_context(visit)
    scope = parent.find(issues_api.create_issue)
    typed, may_triage = _form_values(visit.request.form), _may_triage(parent, scope)
    try:
        issue = parent.ask(issues_api.create_issue, _api_params(typed, may_triage=may_triage))
    except FORM_ERRORS as error:
        return _issue_form(parent, typed, may_triage=may_triage, errors=error_messages(error))
    return LocalRedirect(f"{parent.url}/-/issues/{issue.iid}")


@pages.get("/:path/-/issues/:issue_iid/edit")
def show_edit_form(visit: Visit) -> PageResponse:
    """Show the form for editing an issue."""
    parent, issue, lookup = _editable_issue(visit)
    return _issue_form(parent, _values_of_issue(issue), issue, may_triage=_may_triage(parent, lookup))


@pages.put("/:path/-/issues/:issue_iid", notice="Issue saved.")
def edit_issue(visit: Visit) -> PageResponse:
    """Update an issue, unless another user has changed its description in the meantime."""
    parent, issue, lookup = _editable_issue(visit)
    typed, may_triage = _form_values(visit.request.form), _may_triage(parent, lookup)
    if form_field(visit.request.form, "issue", "version") != description_version(issue.description):
        conflict = ["Someone else has changed the description. Review it, then save again."]
        return _issue_form(parent, typed, issue, may_triage=may_triage, errors=conflict)
    try:
        parent.ask(issues_api.edit_issue, _api_params(typed, may_triage=may_triage), issue_iid=issue.iid)
    except FORM_ERRORS as error:
        return _issue_form(parent, typed, issue, may_triage=may_triage, errors=error_messages(error))
    return LocalRedirect(f"{parent.url}/-/issues/{issue.iid}")


@pages.delete("/:path/-/issues/:issue_iid", notice="Issue deleted.")
def delete_issue(visit: Visit) -> PageResponse:
    """Delete an issue."""
    discussable = discussable_finder(ISSUE)(visit)
    discussable.ask(issues_api.get_issue)
    discussable.ask(issues_api.delete_issue)
    return LocalRedirect(f"/{discussable.project_path}/-/issues")


def _editable_issue(visit: Visit) -> tuple[ProjectContext, IssueView, IssueLookup]:
    """Return the issue of the URL, with the permission to change it."""
    parent, iid = project_context(visit), visit.request.path["issue_iid"]
    lookup = parent.find(issues_api.edit_issue, issue_iid=iid)
    return parent, parent.ask(issues_api.get_issue, issue_iid=iid), lookup


def _may_triage(parent: ProjectContext, lookup: IssueLookup | ProjectScope) -> bool:
    return policy.may_triage(parent.visit.viewer.actor, lookup.access, lookup.project)


def _form_values(form: dict[str, Any]) -> dict[str, Any]:
    """Return the issue fields from a form or query string."""
    fields = form.get("issue")
    typed: dict[str, Any] = {name: form_field(form, "issue", name) for name in _TEXT_FIELDS}
    for name in _LIST_FIELDS:
        values = fields.get(name) if isinstance(fields, dict) else None
        typed[name] = (
            [value for value in values if isinstance(value, str) and value] if isinstance(values, list) else []
        )
    if assignee_id := form_field(form, "issue", "assignee_id"):
        typed["assignee_ids"].append(assignee_id)
    typed["confidential"] = form_field(form, "issue", "confidential") in ("1", "true", "on")
    return typed


def _values_of_issue(issue: IssueView) -> dict[str, Any]:
    return {
        "title": issue.title,
        "description": issue.description or "",
        "milestone_id": str(issue.milestone.id) if issue.milestone else "",
        "due_date": issue.due_date or "",
        "issue_type": issue.issue_type,
        "severity": issue.severity.lower(),
        "labels": list(issue.labels),
        "label_ids": [],
        "assignee_ids": [str(user.id) for user in issue.assignees],
        "confidential": issue.confidential,
    }


def _api_params(typed: dict[str, Any], *, may_triage: bool) -> dict[str, Any]:
    params = {"title": typed["title"], "description": typed["description"], "confidential": typed["confidential"]}
    if typed["issue_type"]:
        params["issue_type"] = typed["issue_type"]
    if may_triage:
        params |= {"labels": typed["labels"], "assignee_ids": typed["assignee_ids"]}
        params |= {name: typed[name] or None for name in ("milestone_id", "due_date")}
        if typed["severity"] and typed["issue_type"] == "incident":
            params["severity"] = typed["severity"]
    return params


def _issue_form(
    parent: ProjectContext,
    typed: dict[str, Any],
    issue: IssueView | None = None,
    *,
    may_triage: bool,
    errors: list[str] | None = None,
    templates: list[str] | None = None,
) -> PageResponse:
    context: dict[str, Any] = {"typed": typed, "issue": issue, "may_triage": may_triage, "errors": errors or []}
    context["templates"] = [(name, urlencode({"issuable_template": name})) for name in templates or []]
    context["version"] = description_version(issue.description) if issue else ""
    context["may_delete"] = issue is not None and parent.may(issues_api.delete_issue, issue_iid=issue.iid)
    context |= _choices(parent, issue) if may_triage else {}
    return parent.page("issues/form.html", "issues", context, status=422 if errors else 200)


def _choices(parent: ProjectContext, issue: IssueView | None) -> dict[str, Any]:
    """Return the choices of the form, including the issue's current values."""
    listing = parent.ask(labels_api.list_project_labels, {"per_page": 100, "with_counts": "false"})
    labels: list[LabelView | LabelBrief] = [*listing.items]
    params = {"per_page": 100, "state": "active", "include_parent_milestones": "true"}
    milestones = parent.ask(milestones_api.list_project_milestones, params).items
    members = parent.ask(sharing_api.list_all_project_members, {"per_page": 100})
    users: list[MemberView | UserBrief] = [*members.items]
    if issue is not None:
        current_labels = parent.visit.database.read(lambda db: label_briefs_of(db, "issue", [issue.id])).get(
            issue.id, []
        )
        labels += [label for label in current_labels if label.id not in {one.id for one in labels}]
        users += [user for user in issue.assignees if user.id not in {one.id for one in users}]
        if issue.milestone and issue.milestone.id not in {one.id for one in milestones}:
            milestones.append(issue.milestone)
    return {"labels": labels, "milestones": milestones, "users": users}
