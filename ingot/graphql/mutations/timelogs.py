"""Mutations of timelogs."""

from typing import Any

from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.service import TIME_TRACKING as ISSUE_TIME
from ingot.collaboration.merge_requests.editing.service import TIME_TRACKING as MERGE_REQUEST_TIME
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.planning.durations import parse_duration
from ingot.collaboration.planning.timelogs.policy import may_delete_timelog
from ingot.collaboration.planning.timelogs.queries import find_timelog, newest_timelog
from ingot.collaboration.planning.timelogs.tables import Timelog
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, parse_timestamp
from ingot.core.errors import Denied, Invalid, NotFound
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, parse_global_id
from ingot.graphql.locators import issue_path, merge_request_path
from ingot.graphql.mutations.inputs import Input
from ingot.graphql.resolvers import Resolvers
from ingot.projects.projects.queries import find_project

resolvers = Resolvers()


def _spent_at(context: QueryContext, sent: Input) -> Timestamp | None:
    if sent.get("spentAt") is None:
        return None
    try:
        moment = parse_timestamp(str(sent["spentAt"]))
    except ValueError:
        raise Invalid("Spent at is not a valid time") from None
    if moment > context.database.clock():
        raise Invalid("Spent at can't be a future date and time.")
    return moment


@resolvers.mutation("timelogCreate")
def create_timelog(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Add spent time to an issue or merge request."""
    seconds = parse_duration(sent["timeSpent"])
    if seconds is None:
        raise Invalid("Time spent must be formatted correctly. For example: 1h 30m.")
    parsed = parse_global_id(sent["issuableId"], "Issue", "WorkItem", "MergeRequest")
    kind = "merge_request" if parsed.model == "MergeRequest" else "issue"
    place = (merge_request_path if kind == "merge_request" else issue_path)(context, parsed.number)
    if not context.allows(f"POST {place.route}/add_spent_time", **place.path):
        raise Denied
    spent_at = _spent_at(context, sent)
    if seconds == 0:
        raise Invalid("Time spent can't be zero.")

    def add(db: Connection) -> Timelog | None:
        values = (seconds, sent["summary"] or None, spent_at)
        if kind == "issue":
            ISSUE_TIME.add_spent_time(db, context.actor, issue_by_id(db, parsed.number), *values)
        else:
            row = merge_request_by_id(db, parsed.number)
            MERGE_REQUEST_TIME.add_spent_time(db, context.actor, row, *values)
        return newest_timelog(db, kind, parsed.number)

    return {"timelog": context.database.write(add)}


@resolvers.mutation("timelogDelete")
def delete_timelog(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete an entry and subtract it from the time spent."""
    number = number_of(sent["id"], "Timelog")

    def remove(db: Connection) -> Timelog:
        timelog = find_timelog(db, context.actor, number)
        access, project = find_project(db, context.actor, timelog.project_id)
        if not may_delete_timelog(context.actor, access, project, timelog):
            raise NotFound("Timelog")
        if timelog.subject_kind == "issue":
            ISSUE_TIME.remove_timelog(db, context.actor, issue_by_id(db, timelog.subject_id), timelog)
        else:
            row = merge_request_by_id(db, timelog.subject_id)
            MERGE_REQUEST_TIME.remove_timelog(db, context.actor, row, timelog)
        return timelog

    return {"timelog": context.database.write(remove)}
