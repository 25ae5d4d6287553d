"""Queries of timelogs."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, false, func, or_, select

from ingot.collaboration.participants.queries import list_subject_kinds
from ingot.collaboration.participants.subject_kinds import Audience, SubjectKind, audience_of
from ingot.collaboration.planning.timelogs.tables import Timelog, timelogs
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound

_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "timelog": timelogs.c.id == bindparam("timelog"),
    "project": timelogs.c.project_id == bindparam("project"),
    "user": timelogs.c.user_id == bindparam("user"),
    "since": timelogs.c.spent_at >= bindparam("since"),
    "until": timelogs.c.spent_at <= bindparam("until"),
}
_NEWEST = (
    select(timelogs)
    .where(timelogs.c.subject_kind == bindparam("kind"), timelogs.c.subject_id == bindparam("subject"))
    .order_by(timelogs.c.id.desc())
    .limit(1)
)
_OF_SUBJECTS = (
    select(timelogs)
    .where(timelogs.c.subject_kind == bindparam("kind"), in_list(timelogs.c.subject_id, "subjects"))
    .order_by(timelogs.c.spent_at, timelogs.c.id)
)


class TimelogFilters(NamedTuple):
    """Filters of a list; None for all."""

    project: int | None = None
    user: int | None = None
    since: Timestamp | None = None
    until: Timestamp | None = None

    def values(self) -> dict[str, Any]:
        """Return the given filters."""
        return {name: value for name, value in self._asdict().items() if value is not None}


def _visible(kinds: tuple[SubjectKind, ...], audience: Audience) -> ColumnElement[bool]:
    """Return the condition that the caller sees the subject of an entry."""
    conditions = [
        and_(timelogs.c.subject_kind == kind.kind, kind.visible(timelogs.c.subject_id, audience)) for kind in kinds
    ]
    return or_(false(), *conditions)


@lru_cache(maxsize=64)
def _matching(kinds: tuple[SubjectKind, ...], audience: Audience, filters: frozenset[str]) -> Select[Any]:
    return select(timelogs).where(*(_CONDITIONS[name] for name in sorted(filters)), _visible(kinds, audience))


@lru_cache(maxsize=128)
def _list_query(
    kinds: tuple[SubjectKind, ...], audience: Audience, filters: frozenset[str], newest_first: bool
) -> ListQuery:
    columns = timelogs.c.spent_at, timelogs.c.id
    order = (column.desc() if newest_first else column.asc() for column in columns)
    return list_query(_matching(kinds, audience, filters), timelogs.c.id, *order)


@lru_cache(maxsize=64)
def _sum(kinds: tuple[SubjectKind, ...], audience: Audience, filters: frozenset[str]) -> Select[Any]:
    return _matching(kinds, audience, filters).with_only_columns(func.coalesce(func.sum(timelogs.c.time_spent), 0))


def _actor_values(db: Connection, actor: Actor) -> dict[str, Any]:
    return {"actor": actor.user_id, "today": db.today}


def list_timelogs(
    db: Connection, actor: Actor, filters: TimelogFilters, page: Page, *, newest_first: bool = False
) -> Listing[Timelog]:
    """List the entries of subjects that the caller sees, by the time when it was spent."""
    values = filters.values()
    query = _list_query(list_subject_kinds(db), audience_of(actor), frozenset(values), newest_first)
    return fetch_page(db, Timelog, query, page, **values, **_actor_values(db, actor))


def total_time_spent(db: Connection, actor: Actor, filters: TimelogFilters) -> int:
    """Return the sum of the entries that ``list_timelogs`` lists, in seconds."""
    values = filters.values()
    statement = _sum(list_subject_kinds(db), audience_of(actor), frozenset(values))
    return int(db.value(statement, **values, **_actor_values(db, actor)))


def find_timelog(db: Connection, actor: Actor, timelog_id: int) -> Timelog:
    """Return an entry of a subject that the caller sees; raise ``NotFound`` otherwise."""
    statement = _matching(list_subject_kinds(db), audience_of(actor), frozenset({"timelog"}))
    timelog = db.first(Timelog, statement, timelog=timelog_id, **_actor_values(db, actor))
    if timelog is None:
        raise NotFound("Timelog")
    return timelog


def newest_timelog(db: Connection, kind: str, subject_id: int) -> Timelog | None:
    """Return the entry of a subject that was added last."""
    return db.first(Timelog, _NEWEST, kind=kind, subject=subject_id)


def timelogs_of_subjects(db: Connection, kind: str, subject_ids: Collection[int]) -> list[Timelog]:
    """Return the entries of subjects, without a permission check, by the time when it was spent."""
    return db.all(Timelog, _OF_SUBJECTS, kind=kind, subjects=sorted(subject_ids))
