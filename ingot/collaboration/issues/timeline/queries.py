"""Queries of the timelines of incidents, without permission checks."""

from sqlalchemy import bindparam, select

from ingot.collaboration.issues.timeline.tables import (
    TimelineEvent,
    TimelineEventTag,
    timeline_event_tags,
    timeline_events,
)
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound

_OF_ISSUE = (
    select(timeline_events)
    .where(timeline_events.c.issue_id == bindparam("issue"))
    .order_by(timeline_events.c.occurred_at, timeline_events.c.id)
)
_BY_ID = select(timeline_events).where(timeline_events.c.id == bindparam("event"))
_TAGS = (
    select(timeline_event_tags)
    .where(timeline_event_tags.c.project_id == bindparam("project"))
    .order_by(timeline_event_tags.c.id)
)


def timeline_of(db: Connection, issue_id: int) -> list[TimelineEvent]:
    """Return the events of an incident in the order in which they occurred."""
    return db.all(TimelineEvent, _OF_ISSUE, issue=issue_id)


def find_event(db: Connection, event_id: int, issue_id: int | None = None) -> TimelineEvent:
    """Return an event, if an issue is given only one of it; raise ``NotFound``."""
    event = db.first(TimelineEvent, _BY_ID, event=event_id)
    if event is None or issue_id not in (None, event.issue_id):
        raise NotFound("Timeline event")
    return event


def tags_of_project(db: Connection, project_id: int) -> list[TimelineEventTag]:
    """Return the tags that a project has."""
    return db.all(TimelineEventTag, _TAGS, project=project_id)
