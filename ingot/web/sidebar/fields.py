"""Editing of one sidebar field: in place with JavaScript, otherwise on a separate page."""

from collections.abc import Sequence
from typing import Any

from ingot.errors import Denied
from ingot.web.discussions.timeline import DiscussionItem, newest_system_notes, system_notes_since
from ingot.web.form_errors import FORM_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.sidebar.choices import sidebar_choices
from ingot.web.sidebar.subjects import SidebarField, SidebarKind, find_sidebar_field

FIELD_NAMES = {
    "assignees": "Assignees",
    "reviewers": "Reviewers",
    "labels": "Labels",
    "milestone": "Milestone",
    "due_date": "Due date",
    "time": "Time tracking",
}
_USER_FIELDS = {"assignees": "assignee_ids", "reviewers": "reviewer_ids"}
_FIELD_ERRORS = (*FORM_ERRORS, Denied)


def sidebar_pages(sort: SidebarKind) -> PageRoutes:
    """Declare the routes that edit the sidebar fields of a kind of subject."""
    pages = PageRoutes()

    @pages.get(f"{sort.kind.route}/facts/:fact")
    def show_fact(visit: Visit) -> PageResponse:
        """Show the form of a field; ``shown`` returns its current value, after the user cancels."""
        subject = find_sidebar_field(visit, sort)
        return (
            _field_fragment(subject)
            if "shown" in visit.request.query and visit.headers.fragment
            else _field_form(subject)
        )

    @pages.put(f"{sort.kind.route}/facts/:fact")
    def change_fact(visit: Visit) -> PageResponse:
        """Update a field; on an error show the form with the input."""
        subject = find_sidebar_field(visit, sort)
        before = newest_system_notes(subject.discussable) if visit.headers.fragment else []
        try:
            _update_field(subject)
        except _FIELD_ERRORS as error:
            return _field_form(subject, error_messages(error))
        if not visit.headers.fragment:
            return LocalRedirect(subject.discussable.url)
        return _field_fragment(subject.now(), system_notes_since(subject.discussable, before))

    return pages


def _update_field(subject: SidebarField) -> None:
    form = subject.parent.visit.request.form
    if subject.fact == "time":
        _update_time_tracking(subject)
        return
    had, chosen = _values(form, "had"), _values(form, "chosen")
    sent: dict[str, Any]
    if subject.fact == "due_date":
        sent = {"due_date": form_field(form, "fact", "due_date") or None}
    elif subject.fact == "milestone":
        sent = {"milestone_id": next(iter(chosen), "") or None}
    elif subject.fact == "labels":
        sent = {"add_labels": _without(chosen, had), "remove_labels": _without(had, chosen)}
    else:
        # Retain users whom someone else has added since the form was loaded.
        now = [str(person.id) for person in getattr(subject.item, subject.fact)]
        stays = _without(now, _without(had, chosen))
        sent = {_USER_FIELDS[subject.fact]: stays + _without(chosen, [*had, *stays])}
    subject.discussable.ask(subject.sort.endpoints.edit, sent)


def _update_time_tracking(subject: SidebarField) -> None:
    """Send only the fields that were filled in, so that no time is recorded twice."""
    form, stats, time = subject.parent.visit.request.form, subject.item.time_stats, subject.sort.endpoints.planning.time
    estimate, spent = (form_field(form, "fact", name).strip() for name in ("estimate", "spent"))
    if form_field(form, "fact", "forget"):
        subject.discussable.ask(time.reset_spent)
        return
    if estimate != (stats.human_time_estimate or ""):
        endpoint = time.set_estimate if estimate else time.reset_estimate
        subject.discussable.ask(endpoint, {"duration": estimate} if estimate else {})
    if spent:
        subject.discussable.ask(time.add_spent, {"duration": spent})


def _values(sent: dict[str, Any], name: str) -> list[str]:
    fields = sent.get("fact")
    values = fields.get(name) if isinstance(fields, dict) else None
    values = values if isinstance(values, list) else []
    return list(dict.fromkeys(value for value in values if isinstance(value, str) and value))


def _without(some: list[str], others: list[str]) -> list[str]:
    return [one for one in some if one not in others]


def _field_fragment(subject: SidebarField, records: Sequence[DiscussionItem] = ()) -> TemplateResponse:
    """Render the current value of the field, and new system notes for the page."""
    context: dict[str, Any] = {
        "discussable": subject.discussable,
        "fact": subject.fact,
        "item": subject.item,
        "records": records,
    }
    context["labels"] = subject.labels if subject.fact == "labels" else []
    context["url"] = f"{subject.parent.url}/-/{subject.sort.kind.page}"
    return TemplateResponse("sidebar/_shown_again.html", context)


def _field_form(subject: SidebarField, errors: list[str] | None = None) -> TemplateResponse:
    visit, fact = subject.parent.visit, subject.fact
    context: dict[str, Any] = {
        "subject": subject,
        "fact": fact,
        "name": FIELD_NAMES[fact],
        "item": subject.item,
        "typed": {name: form_field(visit.request.form, "fact", name) for name in ("due_date", "estimate", "spent")},
        "errors": errors or [],
    }
    if fact not in ("due_date", "time"):
        search = str(visit.request.query.get("search", ""))[:255].replace("\0", "")
        context |= {
            "search": search,
            "choices": sidebar_choices(subject, search, _values(visit.request.query, "chosen")),
        }
    if visit.headers.fragment:
        # Status 200 even with errors: scripts ignore error responses.
        return TemplateResponse("sidebar/_form.html", context)
    tab = "issues" if subject.sort.labelled == "issue" else "merge_requests"
    return subject.parent.page("sidebar/form.html", tab, context, 422 if errors else 200)
