"""Views of the timelines of incidents on pages."""

import json
from typing import NamedTuple

from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.timeline.queries import tags_of_project, timeline_of
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp


class TimelineEventView(NamedTuple):
    """An event, or the initial values of the form for a new one."""

    id: int | None
    note: str
    tags: list[str]
    occurred_at: Timestamp


def timeline_view(db: Connection, incident: Issue) -> list[TimelineEventView]:
    """Return the events of an incident in the order in which they occurred."""
    return [
        TimelineEventView(event.id, event.note, json.loads(event.tags), event.occurred_at)
        for event in timeline_of(db, incident.id)
    ]


def tag_names(db: Connection, project_id: int) -> list[str]:
    """Return the names of the tags of a project."""
    return [tag.name for tag in tags_of_project(db, project_id)]
