"""Timelogs."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ingot.accounts.users.queries import users_by_usernames
from ingot.collaboration.participants.queries import list_subject_kinds
from ingot.collaboration.planning.timelogs.policy import may_delete_timelog
from ingot.collaboration.planning.timelogs.queries import (
    TimelogFilters,
    list_timelogs,
    timelogs_of_subjects,
    total_time_spent,
)
from ingot.collaboration.planning.timelogs.tables import Timelog
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.db.times import Timestamp, parse_date, parse_timestamp
from ingot.core.errors import Invalid
from ingot.graphql.connections import ConnectionPage, connection_of, paged
from ingot.graphql.context import QueryContext
from ingot.graphql.families.users import fields_of_users
from ingot.graphql.global_ids import to_global_id
from ingot.graphql.loaders import load_users
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.projects.queries import paths_of_projects, visible_projects_by_path

resolvers = Resolvers()
_BEGIN, _END = "T00:00:00.000Z", "T23:59:59.999Z"


class TimelogPage(ConnectionPage):
    """Page of timelogs with the sum of the whole list."""

    total_spent_time: int = 0


def _boundary(arguments: Arguments, name: str, time_of_day: str) -> Timestamp | None:
    """Return the begin or end of the requested period, which is given as a date or as a time."""
    date, time = arguments.get(f"{name}Date"), arguments.get(f"{name}Time")
    if date is not None and time is not None:
        raise Invalid(f"Provide either {'a' if name == 'start' else 'an'} {name} date or time, but not both")
    try:
        if date is not None:
            return Timestamp(parse_date(str(date)[:10]) + time_of_day)
        return None if time is None else parse_timestamp(str(time))
    except ValueError:
        raise Invalid(f"The {name} of the period is not a valid time") from None


def _filters(context: QueryContext, arguments: Arguments, **of: int) -> TimelogFilters:
    since, until = _boundary(arguments, "start", _BEGIN), _boundary(arguments, "end", _END)
    if since and until and since > until:
        raise Invalid("Start argument must be before End argument")
    username = arguments.get("username")
    if username is not None:
        found = context.read(lambda db: users_by_usernames(db, [username]))
        of["user"] = next((user.id for user in found.values()), 0)
    return TimelogFilters(**of, since=since, until=until)


def _list(context: QueryContext, arguments: Arguments, filters: TimelogFilters) -> TimelogPage:
    newest_first = (arguments.get("sort") or "SPENT_AT_ASC").upper() == "SPENT_AT_DESC"

    def fetch(number: int, size: int) -> Listing[Timelog]:
        page = Page(number, size)
        return context.read(lambda db: list_timelogs(db, context.actor, filters, page, newest_first=newest_first))

    page = paged(fetch, arguments)
    total = context.read(lambda db: total_time_spent(db, context.actor, filters))
    return TimelogPage(page.nodes, page.start, page.total, page.has_next, total)


@resolvers.single("Project.timelogs")
def list_project_timelogs(context: QueryContext, project: Any, arguments: Arguments) -> TimelogPage:
    """Return a page of the time spent on the issues and merge requests of a project that the caller sees."""
    return _list(context, arguments, _filters(context, arguments, project=project.id))


@resolvers.single(*fields_of_users("timelogs"))
def list_user_timelogs(context: QueryContext, user: Any, arguments: Arguments) -> TimelogPage:
    """Return a page of the time that a user spent on issues and merge requests that the caller sees."""
    return _list(context, arguments, _filters(context, arguments, user=user.id))


@resolvers.batch("Issue.timelogs", "MergeRequest.timelogs")
def list_subject_timelogs(context: QueryContext, subjects: Sequence[Any], arguments: Arguments) -> list[TimelogPage]:
    """Return the time spent on issues or merge requests."""
    kind = "merge_request" if hasattr(subjects[0], "source_branch") else "issue"
    by_subject: defaultdict[int, list[Timelog]] = defaultdict(list)
    for timelog in context.read(lambda db: timelogs_of_subjects(db, kind, {subject.id for subject in subjects})):
        by_subject[timelog.subject_id].append(timelog)
    pages = []
    for subject in subjects:
        entries = by_subject[subject.id]
        page = connection_of(entries, arguments)
        total = sum(timelog.time_spent for timelog in entries)
        pages.append(TimelogPage(page.nodes, page.start, page.total, page.has_next, total))
    return pages


@resolvers.value("Timelog.id", "WorkItemTimelog.id")
def timelog_id(_: QueryContext, timelog: Timelog) -> str:
    """Return the global id."""
    return to_global_id("Timelog", timelog.id)


@resolvers.batch("Timelog.user", "WorkItemTimelog.user")
def find_users(context: QueryContext, timelogs: Sequence[Timelog], _: Arguments) -> list[Any]:
    """Return the users who spent the time; null for anonymous callers."""
    users = load_users(context, {timelog.user_id for timelog in timelogs})
    return [users[timelog.user_id] for timelog in timelogs]


def _subjects(field: str, kind: str) -> None:
    @resolvers.batch(f"Timelog.{field}")
    def find_subjects(context: QueryContext, timelogs: Sequence[Timelog], _: Arguments) -> list[Any]:
        """Return the issues or merge requests of entries, which the caller sees."""
        numbers = sorted({timelog.subject_id for timelog in timelogs if timelog.subject_kind == kind})

        def read(db: Connection) -> Any:
            described = next(each for each in list_subject_kinds(db) if each.kind == kind)
            return described.views(db, context.actor, numbers, context.origin.base)

        views = context.read(read) if numbers else {}
        return [views.get(timelog.subject_id) if timelog.subject_kind == kind else None for timelog in timelogs]


_subjects("issue", "issue")
_subjects("mergeRequest", "merge_request")


@resolvers.batch("Timelog.userPermissions")
def find_permissions(context: QueryContext, timelogs: Sequence[Timelog], _: Arguments) -> list[dict[str, bool]]:
    """Return whether the caller may delete entries."""

    def read(db: Connection) -> Any:
        paths = paths_of_projects(db, sorted({timelog.project_id for timelog in timelogs}))
        visible = visible_projects_by_path(db, context.actor, paths.values()).values()
        return {lookup.project.id: lookup for lookup in visible}

    lookups = context.read(read)
    return [
        {
            "admin_timelog": lookup is not None
            and may_delete_timelog(context.actor, lookup.access, lookup.project, timelog)
        }
        for timelog in timelogs
        for lookup in (lookups.get(timelog.project_id),)
    ]
