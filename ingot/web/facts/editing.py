"""Changing one fact at a time: in place where a script asks, else on a page of its own."""

from collections.abc import Sequence
from typing import Any

from ingot.api.params import Missing
from ingot.db.connection import Connection
from ingot.errors import Conflict, Denied, Invalid
from ingot.web.discussions.reading import Talk, newest_records, records_since
from ingot.web.facts.choosing import choices_of
from ingot.web.facts.subjects import Sort, Subject, subject_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part
from ingot.web.refusals import sentences

NAMES = {
    "assignees": "Assignees",
    "reviewers": "Reviewers",
    "labels": "Labels",
    "milestone": "Milestone",
    "due_date": "Due date",
    "time": "Time",
}
_PEOPLE = {"assignees": "assignee_ids", "reviewers": "reviewer_ids"}
_REFUSED = (Invalid, Conflict, Missing, Denied)


def fact_pages(sort: Sort) -> Pages:
    """Declare how the facts of a kind of thing are changed."""
    pages = Pages()

    @pages.get(f"{sort.kind.address}/facts/:fact")
    def show_fact(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
        """A fact to be changed; ``shown`` asks for it as it is, for who thinks better of it."""
        subject = subject_of(visit, sort)
        return _shown(subject) if "shown" in visit.query and visit.fragment else _form(subject)

    @pages.put(f"{sort.kind.address}/facts/:fact")
    def change_fact(visit: Visit) -> Reply:
        """Change it; what was typed stays where that is refused."""
        subject = subject_of(visit, sort)
        before = newest_records(subject.ground) if visit.fragment else []
        try:
            _change(subject)
        except _REFUSED as refusal:
            return _form(subject, sentences(refusal))
        if not visit.fragment:
            return Redirect(subject.ground.url)
        return _shown(subject.now(), records_since(subject.ground, before))

    return pages


def _change(subject: Subject) -> None:
    form = subject.place.visit.form
    if subject.fact == "time":
        _change_time(subject)
        return
    had, chosen = _values(form, "had"), _values(form, "chosen")
    sent: dict[str, Any]
    if subject.fact == "due_date":
        sent = {"due_date": form_part(form, "fact", "due_date") or None}
    elif subject.fact == "milestone":
        sent = {"milestone_id": next(iter(chosen), "") or None}
    elif subject.fact == "labels":
        sent = {"add_labels": _without(chosen, had), "remove_labels": _without(had, chosen)}
    else:
        # Whom somebody else has named meanwhile stays.
        now = [str(person.id) for person in getattr(subject.item, subject.fact)]
        stays = _without(now, _without(had, chosen))
        sent = {_PEOPLE[subject.fact]: stays + _without(chosen, [*had, *stays])}
    subject.ground.call("PUT", "", sent)


def _change_time(subject: Subject) -> None:
    """Only what somebody wrote is sent, so that nothing is noted twice."""
    form, stats = subject.place.visit.form, subject.item.time_stats
    estimate, spent = (form_part(form, "fact", name).strip() for name in ("estimate", "spent"))
    if form_part(form, "fact", "forget"):
        subject.ground.call("POST", "/reset_spent_time")
        return
    if estimate != (stats.human_time_estimate or ""):
        route = "/time_estimate" if estimate else "/reset_time_estimate"
        subject.ground.call("POST", route, {"duration": estimate} if estimate else {})
    if spent:
        subject.ground.call("POST", "/add_spent_time", {"duration": spent})


def _values(sent: dict[str, Any], name: str) -> list[str]:
    fields = sent.get("fact")
    values = fields.get(name) if isinstance(fields, dict) else None
    values = values if isinstance(values, list) else []
    return list(dict.fromkeys(value for value in values if isinstance(value, str) and value))


def _without(some: list[str], others: list[str]) -> list[str]:
    return [one for one in some if one not in others]


def _shown(subject: Subject, records: Sequence[Talk] = ()) -> Page:
    """The fact as it is now, and what else the page is to show since it was changed."""
    context: dict[str, Any] = {"ground": subject.ground, "fact": subject.fact, "item": subject.item, "records": records}
    context["labels"] = subject.labels if subject.fact == "labels" else []
    context["url"] = f"{subject.place.url}/-/{subject.sort.kind.page}"
    return Page("facts/_shown_again.html", context)


def _form(subject: Subject, errors: list[str] | None = None) -> Page:
    visit, fact = subject.place.visit, subject.fact
    context: dict[str, Any] = {
        "subject": subject,
        "fact": fact,
        "name": NAMES[fact],
        "item": subject.item,
        "typed": {name: form_part(visit.form, "fact", name) for name in ("due_date", "estimate", "spent")},
        "errors": errors or [],
    }
    if fact not in ("due_date", "time"):
        search = str(visit.query.get("search", ""))[:255].replace("\0", "")
        context |= {"search": search, "choices": choices_of(subject, search, _values(visit.query, "chosen"))}
    if visit.fragment:
        return Page("facts/_form.html", context)  # Scripts show only what succeeded.
    tab = "issues" if subject.sort.labelled == "issue" else "merge_requests"
    return subject.place.page("facts/form.html", tab, context, 422 if errors else 200)
