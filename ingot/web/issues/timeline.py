"""Forms of the timeline on the page of an incident."""

from collections.abc import Callable
from typing import Any

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.timeline import service
from ingot.collaboration.issues.timeline.policy import may_change_timeline
from ingot.core.access.rules import require
from ingot.core.api.params import number_or_none
from ingot.core.db.times import parse_timestamp
from ingot.core.errors import Invalid
from ingot.web.discussions.discussable import ISSUE, Discussable, discussable_finder
from ingot.web.form_errors import FORM_ERRORS, error_messages
from ingot.web.issues.show import issue_page
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit, form_field
from ingot.web.projects.context import project_context

pages = PageRoutes()
find_discussable = discussable_finder(ISSUE)


@pages.post("/:path/-/issues/:issue_iid/timeline", notice="Event added.")
def add_timeline_event(visit: Visit) -> PageResponse:
    """Add an event to the timeline."""
    discussable, lookup = _writable(visit)

    def add(values: dict[str, Any]) -> None:
        visit.database.write(lambda db: service.add_event(db, visit.viewer.actor, lookup.issue, **values))

    return _submit(visit, discussable, add)


@pages.put("/:path/-/issues/:issue_iid/timeline/:event_id", notice="Event saved.")
def edit_timeline_event(visit: Visit) -> PageResponse:
    """Change an event."""
    discussable, lookup = _writable(visit)
    event_id, actor = _event_id(visit), visit.viewer.actor

    def edit(values: dict[str, Any]) -> None:
        visit.database.write(lambda db: service.edit_event(db, actor, lookup.issue, event_id, **values))

    return _submit(visit, discussable, edit)


@pages.delete("/:path/-/issues/:issue_iid/timeline/:event_id", notice="Event deleted.")
def delete_timeline_event(visit: Visit) -> PageResponse:
    """Delete an event."""
    discussable, lookup = _writable(visit)
    event_id = _event_id(visit)
    visit.database.write(lambda db: service.delete_event(db, lookup.issue, event_id))
    return LocalRedirect(discussable.url)


def _writable(visit: Visit) -> tuple[Discussable, IssueLookup]:
    discussable = find_discussable(visit)
    lookup = discussable.find(issues_api.get_issue)
    require(may_change_timeline(visit.viewer.actor, lookup.access, lookup))
    return discussable, lookup


def _event_id(visit: Visit) -> int:
    return number_or_none(visit.request.path["event_id"]) or 0


def _submit(visit: Visit, discussable: Discussable, write: Callable[[dict[str, Any]], None]) -> PageResponse:
    try:
        write(_values(visit.request.form))
    except FORM_ERRORS as error:
        return issue_page(project_context(visit), visit.request.path["issue_iid"], error_messages(error), 422)
    return LocalRedirect(discussable.url)


def _values(form: dict[str, Any]) -> dict[str, Any]:
    fields = form.get("event")
    tags = fields.get("tags") if isinstance(fields, dict) else None
    try:
        occurred_at = parse_timestamp(f"{form_field(form, 'event', 'occurred_at')[:16]}:00Z")
    except ValueError:
        raise Invalid(occurred_at=["is not a valid time"]) from None
    return {
        "note": form_field(form, "event", "note"),
        "occurred_at": occurred_at,
        "tags": [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else [],
    }
