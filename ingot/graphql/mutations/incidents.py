"""Mutations of the timelines of incidents."""

from typing import Any

from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.timeline import service
from ingot.collaboration.issues.timeline.policy import may_change_timelines
from ingot.collaboration.issues.timeline.queries import find_event
from ingot.collaboration.issues.timeline.tables import TimelineEvent
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, parse_timestamp
from ingot.core.errors import Denied, Invalid, NotFound
from ingot.graphql.context import QueryContext
from ingot.graphql.families.incidents import EVENT_MODEL, incident_lookup, may_write_timeline
from ingot.graphql.families.notes import NOTE_MODELS, note_by_id
from ingot.graphql.global_ids import number_of
from ingot.graphql.mutations.inputs import Input
from ingot.graphql.resolvers import Resolvers
from ingot.projects.projects.queries import find_project

resolvers = Resolvers()


def _writable(context: QueryContext, issue_id: int) -> IssueLookup:
    """Return an incident whose timeline the caller may change; raise Denied otherwise."""
    lookup = incident_lookup(context, issue_id)
    if lookup.issue.issue_type == "incident" and not may_write_timeline(context, lookup):
        raise Denied
    return lookup


def _occurred_at(sent: Input) -> Timestamp | None:
    if sent.get("occurredAt") is None:
        return None
    try:
        return parse_timestamp(str(sent["occurredAt"]))
    except ValueError:
        raise Invalid("Occurred at is not a valid time") from None


@resolvers.mutation("timelineEventCreate")
def create_timeline_event(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Add an event to the timeline of an incident."""
    incident = _writable(context, number_of(sent["incidentId"], "Issue", "WorkItem")).issue
    occurred_at, tags = _occurred_at(sent), sent.get("timelineEventTagNames") or []

    def add(db: Connection) -> TimelineEvent:
        return service.add_event(db, context.actor, incident, sent["note"], occurred_at or db.now, tags)

    return {"timeline_event": context.database.write(add)}


def _edited(context: QueryContext, sent: Input) -> tuple[TimelineEvent, IssueLookup]:
    event = context.read(lambda db: find_event(db, number_of(sent["id"], EVENT_MODEL)))
    return event, _writable(context, event.issue_id)


@resolvers.mutation("timelineEventUpdate")
def update_timeline_event(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Change the text, the time or the tags of an event."""
    event, lookup = _edited(context, sent)
    values = {"note": sent.get("note"), "occurred_at": _occurred_at(sent), "tags": sent.get("timelineEventTagNames")}
    edited = context.database.write(lambda db: service.edit_event(db, context.actor, lookup.issue, event.id, **values))
    return {"timeline_event": edited}


@resolvers.mutation("timelineEventDestroy")
def destroy_timeline_event(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete an event."""
    event, lookup = _edited(context, sent)
    return {"timeline_event": context.database.write(lambda db: service.delete_event(db, lookup.issue, event.id))}


@resolvers.mutation("timelineEventPromoteFromNote")
def promote_note(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Add a comment on an incident to its timeline, at the time when it was written."""
    note = note_by_id(context, number_of(sent["noteId"], *NOTE_MODELS))
    if note.noteable_type != "Issue" or note.system:
        raise NotFound("Note")
    incident = _writable(context, note.noteable_id).issue

    def add(db: Connection) -> TimelineEvent:
        return service.add_event(db, context.actor, incident, note.body, note.created_at, (), note.id)

    return {"timeline_event": context.database.write(add)}


@resolvers.mutation("timelineEventTagCreate")
def create_timeline_event_tag(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Add a tag to a project, which its events can then have."""
    access, project = context.read(lambda db: find_project(db, context.actor, sent["projectPath"]))
    if not (
        may_change_timelines(context.actor, access, project)
        and context.allows("POST /projects/:id/issues", id=project.id)
    ):
        raise Denied
    return {"timeline_event_tag": context.database.write(lambda db: service.add_tag(db, project.id, sent["name"]))}
