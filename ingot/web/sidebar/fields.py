"""Editing of one sidebar field: in place with JavaScript, otherwise on a separate page."""

from collections.abc import Sequence
from typing import Any

from ingot.core.errors import Denied
from ingot.web.discussions.timeline import DiscussionItem, newest_system_notes, system_notes_since
from ingot.web.form_errors import FORM_ERRORS, error_messages
from ingot.web.merge_requests.reviewers import reviewer_states
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.sidebar.choices import sidebar_choices
from ingot.web.sidebar.subjects import SidebarField, SidebarKind, find_sidebar_field

FIELD_TITLES = {
    "assignees": "Assignees",
    "reviewers": "Reviewers",
    "labels": "Labels",
    "milestone": "Milestone",
    "due_date": "Due date",
    "time": "Time tracking",
}
_USER_FIELDS = {"assignees": "assignee_ids", "reviewers": "reviewer_ids"}
_FIELD_ERRORS = (*FORM_ERRORS, Denied)


def sidebar_pages(kind: SidebarKind) -> PageRoutes:
    """Declare the routes that edit the sidebar fields of a kind of subject."""
    pages = PageRoutes()

    @pages.get(f"{kind.discussable_kind.route}/sidebar/:field")
    def show_field(visit: Visit) -> PageResponse:
        """Show the form of a field; ``shown`` returns its current value, after the user cancels."""
        field = find_sidebar_field(visit, kind)
        return (
            _field_fragment(field) if "shown" in visit.request.query and visit.headers.fragment else _field_form(field)
        )

    @pages.put(f"{kind.discussable_kind.route}/sidebar/:field", notice="Changes saved.")
    def update_field(visit: Visit) -> PageResponse:
        """Update a field; on an error show the form with the input."""
        field = find_sidebar_field(visit, kind)
        before = newest_system_notes(field.discussable) if visit.headers.fragment else []
        try:
            _update_field(field)
        except _FIELD_ERRORS as error:
            return _field_form(field, error_messages(error))
        if not visit.headers.fragment:
            return LocalRedirect(field.discussable.url)
        return _field_fragment(field.now(), system_notes_since(field.discussable, before))

    return pages


def _update_field(field: SidebarField) -> None:
    form = field.parent.visit.request.form
    if field.name == "time":
        _update_time_tracking(field)
        return
    previous, selected = _values(form, "previous"), _values(form, "selected")
    params: dict[str, Any]
    if field.name == "due_date":
        params = {"due_date": form_field(form, "field", "due_date") or None}
    elif field.name == "milestone":
        params = {"milestone_id": next(iter(selected), "") or None}
    elif field.name == "labels":
        params = {"add_labels": _without(selected, previous), "remove_labels": _without(previous, selected)}
    else:
        # Retain users whom someone else has added since the form was loaded.
        now = [str(user.id) for user in getattr(field.item, field.name)]
        retained = _without(now, _without(previous, selected))
        params = {_USER_FIELDS[field.name]: retained + _without(selected, [*previous, *retained])}
    field.discussable.ask(field.kind.endpoints.edit, params)


def _update_time_tracking(field: SidebarField) -> None:
    """Send only the fields that were filled in, so that no time is recorded twice."""
    form, stats, time = field.parent.visit.request.form, field.item.time_stats, field.kind.endpoints.planning.time
    estimate, spent = (form_field(form, "field", name).strip() for name in ("estimate", "spent"))
    if form_field(form, "field", "reset_spent"):
        field.discussable.ask(time.reset_spent)
        return
    if estimate != (stats.human_time_estimate or ""):
        endpoint = time.set_estimate if estimate else time.reset_estimate
        field.discussable.ask(endpoint, {"duration": estimate} if estimate else {})
    if spent:
        field.discussable.ask(time.add_spent, {"duration": spent})


def _values(form: dict[str, Any], name: str) -> list[str]:
    fields = form.get("field")
    values = fields.get(name) if isinstance(fields, dict) else None
    values = values if isinstance(values, list) else []
    return list(dict.fromkeys(value for value in values if isinstance(value, str) and value))


def _without(values: list[str], others: list[str]) -> list[str]:
    return [value for value in values if value not in others]


def _field_fragment(field: SidebarField, system_notes: Sequence[DiscussionItem] = ()) -> TemplateResponse:
    """Render the current value of the field, and new system notes for the page."""
    context: dict[str, Any] = {
        "field": field,
        "item": field.item,
        "discussable": field.discussable,
        "system_notes": system_notes,
    }
    if field.name == "reviewers":
        context["reviews"] = reviewer_states(field.discussable, field.item.reviewers)
        context["may_request_review"] = field.item.state == "opened"
    context["labels"] = field.labels if field.name == "labels" else []
    context["url"] = f"{field.parent.url}/-/{field.kind.discussable_kind.page}"
    return TemplateResponse("sidebar/_field_updated.html", context)


def _field_form(field: SidebarField, errors: list[str] | None = None) -> TemplateResponse:
    visit = field.parent.visit
    context: dict[str, Any] = {
        "field": field,
        "title": FIELD_TITLES[field.name],
        "item": field.item,
        "typed": {name: form_field(visit.request.form, "field", name) for name in ("due_date", "estimate", "spent")},
        "errors": errors or [],
    }
    if field.name not in ("due_date", "time"):
        search = str(visit.request.query.get("search", ""))[:255].replace("\0", "")
        context |= {
            "search": search,
            "choices": sidebar_choices(field, search, _values(visit.request.query, "selected")),
        }
    if visit.headers.fragment:
        # Status 200 even with errors: scripts ignore error responses.
        return TemplateResponse("sidebar/_form.html", context)
    tab = "issues" if field.kind.subject_kind == "issue" else "merge_requests"
    return field.parent.page("sidebar/form.html", tab, context, 422 if errors else 200)
