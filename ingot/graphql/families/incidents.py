"""Timelines of incidents."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from ingot.collaboration.issues.discussions.policy import issue_subject_access
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.queries import find_issue
from ingot.collaboration.issues.service import subject_of
from ingot.collaboration.issues.timeline.policy import may_change_timeline
from ingot.collaboration.issues.timeline.queries import tags_of_project, timeline_of
from ingot.collaboration.issues.timeline.tables import TimelineEvent, TimelineEventTag
from ingot.collaboration.notes.queries import notes_on
from ingot.collaboration.notes.views import NoteView, note_views
from ingot.core.db.connection import Connection
from ingot.graphql.connections import ConnectionPage, connection_of
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import load_issues, load_users, render_html
from ingot.graphql.locators import issue_path
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()
EVENT_MODEL, TAG_MODEL = "IncidentManagement::TimelineEvent", "IncidentManagement::TimelineEventTag"


def incident_lookup(context: QueryContext, issue_id: int) -> IssueLookup:
    """Return an issue that the caller may see; raise NotFound otherwise."""
    path = issue_path(context, issue_id).path
    return context.read(lambda db: find_issue(db, context.actor, str(path["id"]), str(path["issue_iid"])))


def may_write_timeline(context: QueryContext, lookup: IssueLookup) -> bool:
    """Return whether the caller, also by the permissions of the token, may change the timeline of an incident."""
    place = {"id": lookup.project.id, "issue_iid": lookup.issue.iid}
    return may_change_timeline(context.actor, lookup.access, lookup) and context.allows(
        "PUT /projects/:id/issues/:issue_iid", **place
    )


def _events(context: QueryContext, project: Any, global_id: str) -> list[TimelineEvent]:
    lookup = incident_lookup(context, number_of(global_id, "Issue", "WorkItem"))
    return context.read(lambda db: timeline_of(db, lookup.issue.id)) if lookup.project.id == project.id else []


@resolvers.single("Project.incidentManagementTimelineEvents")
def list_timeline_events(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return the timeline of an incident of the project."""
    return connection_of(_events(context, project, arguments["incidentId"]), arguments)


@resolvers.single("Project.incidentManagementTimelineEvent")
def find_timeline_event(context: QueryContext, project: Any, arguments: Arguments) -> TimelineEvent | None:
    """Return an event of an incident of the project, or null."""
    number = number_of(arguments["id"], EVENT_MODEL)
    return next((each for each in _events(context, project, arguments["incidentId"]) if each.id == number), None)


@resolvers.single("Project.incidentManagementTimelineEventTags")
def list_timeline_event_tags(context: QueryContext, project: Any, _: Arguments) -> list[TimelineEventTag] | None:
    """Return the tags that events of the project have had; null if the caller may not read its issues."""
    if not context.allows("GET /projects/:id/issues", id=project.id):
        return None
    return context.read(lambda db: tags_of_project(db, project.id))


@resolvers.value("TimelineEventType.id")
def event_id(_: QueryContext, event: TimelineEvent) -> str:
    """Return the global id."""
    return to_global_id(EVENT_MODEL, event.id)


@resolvers.value("TimelineEventTagType.id")
def tag_id(_: QueryContext, tag: TimelineEventTag) -> str:
    """Return the global id."""
    return to_global_id(TAG_MODEL, tag.id)


@resolvers.batch("TimelineEventType.author")
def find_authors(context: QueryContext, events: Sequence[TimelineEvent], _: Arguments) -> list[Any]:
    """Return the users who added events."""
    return _users(context, [event.author_id for event in events])


@resolvers.batch("TimelineEventType.updatedByUser")
def find_editors(context: QueryContext, events: Sequence[TimelineEvent], _: Arguments) -> list[Any]:
    """Return the users who changed events last."""
    return _users(context, [event.updated_by_id for event in events])


def _users(context: QueryContext, numbers: Sequence[int | None]) -> list[Any]:
    found = load_users(context, {number for number in numbers if number is not None})
    return [None if number is None else found[number] for number in numbers]


@resolvers.batch("TimelineEventType.incident")
def find_incidents(context: QueryContext, events: Sequence[TimelineEvent], _: Arguments) -> list[Any]:
    """Return the incidents of events."""
    found = load_issues(context, {event.issue_id for event in events})
    return [found[event.issue_id] for event in events]


@resolvers.batch("TimelineEventType.editable")
def are_editable(context: QueryContext, events: Sequence[TimelineEvent], _: Arguments) -> list[bool]:
    """Return whether the caller may change events, which all are of one incident."""
    may = {number: _may_write(context, number) for number in {event.issue_id for event in events}}
    return [may[event.issue_id] for event in events]


def _may_write(context: QueryContext, issue_id: int) -> bool:
    return may_write_timeline(context, incident_lookup(context, issue_id))


@resolvers.batch("TimelineEventType.noteHtml")
def note_html(context: QueryContext, events: Sequence[TimelineEvent], _: Arguments) -> list[str | None]:
    """Return the texts as HTML."""
    incidents = load_issues(context, {event.issue_id for event in events})

    def project_of(event: TimelineEvent) -> int | None:
        incident = incidents[event.issue_id]
        return incident.project_id if incident else None

    return render_html(context, events, lambda event: event.note, project_of)


@resolvers.batch("TimelineEventType.promotedFromNote")
def find_promoted_notes(context: QueryContext, events: Sequence[TimelineEvent], _: Arguments) -> list[Any]:
    """Return the comments that events were made of, as far as the caller may see them."""
    promoted: dict[int, list[int]] = {}
    for event in events:
        if event.promoted_from_note_id is not None:
            promoted.setdefault(event.issue_id, []).append(event.promoted_from_note_id)
    found = {note.id: note for each in promoted for note in _notes_on(context, each, promoted[each])}
    return [found.get(event.promoted_from_note_id or 0) for event in events]


def _notes_on(context: QueryContext, issue_id: int, note_ids: list[int]) -> list[NoteView]:
    """Return notes on an incident with two statements; none if the token of the caller may not read notes."""
    lookup = incident_lookup(context, issue_id)
    place = {"id": lookup.project.id, "issue_iid": lookup.issue.iid}
    if not context.allows("GET /projects/:id/issues/:issue_iid/notes", **place):
        return []
    subject = subject_of(lookup.issue)
    access = issue_subject_access(context.actor, lookup.access, lookup, subject)

    def read(db: Connection) -> list[NoteView]:
        notes = notes_on(db, context.actor, access, note_ids)
        return note_views(db, subject, notes, context.origin.base)

    return context.read(read)


@resolvers.batch("TimelineEventType.timelineEventTags")
def list_tags(context: QueryContext, events: Sequence[TimelineEvent], arguments: Arguments) -> list[ConnectionPage]:
    """Return the tags of events."""
    incidents = load_issues(context, {event.issue_id for event in events})
    tags: dict[int, dict[str, TimelineEventTag]] = {}
    pages = []
    for event in events:
        incident = incidents[event.issue_id]
        project_id = incident.project_id if incident else 0
        if project_id not in tags:
            tags[project_id] = {tag.name: tag for tag in context.read(partial(tags_of_project, project_id=project_id))}
        found = [tags[project_id].get(name) for name in json.loads(event.tags)]
        pages.append(connection_of([tag for tag in found if tag is not None], arguments))
    return pages
