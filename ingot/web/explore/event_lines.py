"""One-line descriptions of activity events."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from msgspec import UNSET

from ingot.discovery.activity.views import EventView
from ingot.projects.projects.views import project_paths
from ingot.web.explore.note_links import NOTEABLE_PAGES, note_page
from ingot.web.page_routes import Visit

_SHORT_OID_LENGTH = 8


class ActivityLine(NamedTuple):
    """Event with its description and link."""

    event: EventView
    project: str
    """Path of the event's project; empty if the text contains it."""
    text: str
    address: str


def activity_lines(visit: Visit, events: Sequence[EventView]) -> list[ActivityLine]:
    """Return the lines for a page of events; one SQL statement finds all their projects."""
    numbers = sorted({event.project_id for event in events})
    paths = visit.database.read(lambda db: project_paths(db, numbers))
    return [_activity_line(event, paths[event.project_id]) for event in events if event.project_id in paths]


def _activity_line(event: EventView, path: str) -> ActivityLine:
    if event.push_data:
        push = event.push_data
        text = f"{event.action_name} {push.ref_type} {push.ref}"
        if push.deploy_key_id is not UNSET:
            text += " with a deploy key"
        if push.commit_title:
            text += f": {push.commit_title}"
        address = f"/{path}" if push.action == "removed" else f"/{path}/-/commits/{quote(push.ref)}"
        return ActivityLine(event, path, text, address)
    note = event.note or None
    if note is not None:
        about = event.target_title or (note.commit_id or "")[:_SHORT_OID_LENGTH]
        what = f"{_noun(note.noteable_type)} {about}".strip()
        return ActivityLine(event, path, f"commented on {what}", f"/{path}/-/{note_page(note)}#note_{note.id}")
    if event.target_type is None:  # The event concerns the project itself.
        return ActivityLine(event, "", f"{event.action_name} {path}", f"/{path}")
    page = NOTEABLE_PAGES.get(event.target_type)
    address = f"/{path}/-/{page}/{event.target_iid}" if page and event.target_iid else f"/{path}"
    what = f"{_noun(event.target_type)} {event.target_title or ''}".strip()
    return ActivityLine(event, path, f"{event.action_name} {what}".strip(), address)


def _noun(kind: str | None) -> str:
    return {"MergeRequest": "merge request", None: ""}.get(kind, str(kind).lower())
