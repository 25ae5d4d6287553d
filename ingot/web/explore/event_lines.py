"""One-line descriptions of activity events."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from msgspec import UNSET

from ingot.activity.views import EventView
from ingot.projects.projects.views import project_paths
from ingot.web.explore.note_links import NOTEABLE_PAGES, note_page
from ingot.web.page_routes import Visit

_SHORT_OID_LENGTH = 8


class ActivityLine(NamedTuple):
    """Event with its description and link."""

    event: EventView
    project: str
    """Path of the event's project; empty if the object contains it."""
    action: str
    """Verb and noun, such as "opened issue", which pages translate."""
    object: str
    """Title of the subject, or the branch or tag of a push with the title of its last commit."""
    address: str

    @property
    def text(self) -> str:
        """Return the description in English."""
        return f"{self.action} {self.object}".strip()


def activity_lines(visit: Visit, events: Sequence[EventView]) -> list[ActivityLine]:
    """Return the lines for a page of events; one SQL statement finds all their projects."""
    numbers = sorted({event.project_id for event in events})
    paths = visit.database.read(lambda db: project_paths(db, numbers))
    return [_activity_line(event, paths[event.project_id]) for event in events if event.project_id in paths]


def _activity_line(event: EventView, path: str) -> ActivityLine:
    if event.push_data:
        push = event.push_data
        action = f"{event.action_name} {push.ref_type}"
        if push.deploy_key_id is not UNSET:
            action = f"with a deploy key {action}"
        pushed = f"{push.ref}: {push.commit_title}" if push.commit_title else push.ref
        address = f"/{path}" if push.action == "removed" else f"/{path}/-/commits/{quote(push.ref)}"
        return ActivityLine(event, path, action, pushed, address)
    note = event.note or None
    if note is not None:
        about = event.target_title or (note.commit_id or "")[:_SHORT_OID_LENGTH]
        action = f"commented on {_noun(note.noteable_type)}"
        return ActivityLine(event, path, action, about, f"/{path}/-/{note_page(note)}#note_{note.id}")
    if event.target_type is None:  # The event concerns the project itself.
        return ActivityLine(event, "", event.action_name, path, f"/{path}")
    page = NOTEABLE_PAGES.get(event.target_type)
    address = f"/{path}/-/{page}/{event.target_iid}" if page and event.target_iid else f"/{path}"
    action = f"{event.action_name} {_noun(event.target_type)}"
    return ActivityLine(event, path, action, event.target_title or "", address)


def _noun(kind: str | None) -> str:
    return {"MergeRequest": "merge request", None: ""}.get(kind, str(kind).lower())
