"""Pages of lists of issues: the cheapest statement for the filters, and the total if it is cheap to compute."""

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Select, select

from ingot.collaboration.issues.lists.priorities import RANKED, ranked_ids
from ingot.collaboration.issues.lists.statements import (
    ACROSS_PROJECTS,
    FEW,
    LABEL_COUNT,
    MAX_COUNTED,
    MAX_LOOKED_UP,
    VERSIONED_ANYWHERE,
    VERSIONED_IN_PROJECT,
    IssueListQuery,
)
from ingot.collaboration.issues.lists.totals import stored_total
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import MAX_SCANNED, Listing, Page, fetch_page, slice_page
from ingot.core.db.totals import ISSUES, VISIBILITY, cached_count, issues_of, known_count

_WRITTEN = frozenset({"author", "written_by_me"})
_ORDERS_OF_WRITTEN = ("created_at", "updated_at")
_CHEAP = frozenset({"in_project", "not_hidden", "state"})
_NUMBER_BYTES = 300
_UNKNOWN = -1
"""Stands for a total that is not stored."""
_BY_IDS = select(*ISSUE_COLUMNS).where(in_list(issues.c.id, "issues"))


def fetch_issues(db: Connection, query: IssueListQuery, page: Page, total: int | None = None) -> Listing[Issue]:
    """Return a page and the total; a total that is not stored is counted up to ``MAX_COUNTED``."""
    if page.keyset:
        return fetch_page(db, Issue, query.lists.walking, page, **query.values)
    if total is None:
        total = _cached(db, query, "stored", _stored_total)
    if _matches_few(query, total) and (_known_count(db, query) or 0) <= MAX_LOOKED_UP:
        listing = _look_up(db, query, page)
        if listing is not None:
            return listing
    total_known = True
    if total is None:
        total = _cached(db, query, "counted", _counted) or 0
        total_known = total <= MAX_COUNTED
    offset = (page.number - 1) * page.size
    if total_known:
        return Listing(_walk(db, query, offset, page.size, total) if offset < total else [], page, total)
    # An additional row shows whether there is a next page.
    rows = _walk(db, query, offset, page.size + 1)
    return Listing(rows[: page.size], page, more=len(rows) > page.size)


def _matches_few(query: IssueListQuery, total: int | None) -> bool:
    """Return whether the list may be short, and can be looked up by another index than that of the order."""
    if total is not None:
        return 0 < total <= MAX_LOOKED_UP and bool(query.labels or query.filters & ACROSS_PROJECTS)
    # The issues of an author have an index in these orders.
    selective = query.filters & FEW
    return bool(query.labels or selective) and not (selective <= _WRITTEN and query.order_by in _ORDERS_OF_WRITTEN)


def _cached(
    db: Connection, query: IssueListQuery, name: str, read: Callable[[Connection, IssueListQuery], int | None]
) -> int | None:
    """Return a number that every page of a list needs and that takes milliseconds to find, from a cache.

    It is valid until an issue changes, or until any commit if the number depends on rows that have no version.
    """
    if query.filters <= _CHEAP and not query.labels and not query.excluded_labels:
        return read(db, query)
    key, depends_on = _key(name, query), _depends_on(query)
    if depends_on:
        number = cached_count(db, key, depends_on, lambda: _UNKNOWN if (n := read(db, query)) is None else n)
        return None if number == _UNKNOWN else number
    return db.cached(key, lambda: read(db, query), lambda _: _NUMBER_BYTES + len(key[-1]))


def _known_count(db: Connection, query: IssueListQuery) -> int | None:
    """Return the number of issues, up to one more than ``MAX_COUNTED``, if it is cached."""
    depends_on = _depends_on(query)
    return known_count(db, _key("counted", query), depends_on) if depends_on else None


def _key(name: str, query: IssueListQuery) -> tuple[str, frozenset[str], int, int, bytes]:
    return name, query.filters, query.labels, query.excluded_labels, msgspec.json.encode(query.values)


def _depends_on(query: IssueListQuery) -> tuple[str, ...]:
    """Return the versions of all rows that determine the list, or nothing if some have no version."""
    if query.filters <= VERSIONED_IN_PROJECT:
        return (issues_of(query.values["project"]),) if "in_project" in query.filters else (ISSUES,)
    return (ISSUES, *VISIBILITY) if query.filters <= VERSIONED_ANYWHERE else ()


def _counted(db: Connection, query: IssueListQuery) -> int | None:
    """Count the issues of the list, up to one more than ``MAX_COUNTED``."""
    counted: int = db.value(query.lists.counted, **query.values)
    return counted


def _stored_total(db: Connection, query: IssueListQuery) -> int | None:
    """Return the total if it is stored, or cheap to count because the list has a single label."""
    if query.excluded_labels or query.labels > 1:
        return None
    if not query.labels:
        return stored_total(db, query.filters, query.values)
    counted = LABEL_COUNT.get(query.filters)
    return None if counted is None else db.value(counted, **query.values)


def _look_up(db: Connection, query: IssueListQuery, page: Page) -> Listing[Issue] | None:
    """Look up all ids and return a page of them, or None if there are more than ``MAX_LOOKED_UP``."""
    ids = [row[0] for row in db.rows(query.lists.looked_up, **query.values)]
    if len(ids) > MAX_LOOKED_UP:
        return None
    listing = slice_page(ids, page)
    return listing.of(_read(db, listing.items))


def _walk(db: Connection, query: IssueListQuery, offset: int, size: int, total: int | None = None) -> list[Issue]:
    """Read a page along the order; from the end if that is closer."""
    if query.order_by in RANKED and "in_project" in query.filters:
        ranked = ranked_ids(db, query, offset, size)
        if ranked is not None:
            return _read(db, ranked)
    lists = query.lists
    bounds = {"page_size": size, "page_offset": offset}
    if lists.scanned is not None and offset < MAX_SCANNED:
        ids = [row[0] for row in db.rows(lists.scanned, **bounds, **query.values)]
        if len(ids) == size:
            return _read(db, ids)
    if total is not None and total - offset - size < offset:
        count = min(size, total - offset)
        bounds = {"page_size": count, "page_offset": total - offset - count}
        return _rows(db, lists.walking.by_number_back, query, bounds)[::-1]
    return _rows(db, lists.walking.by_number, query, bounds)


def _rows(db: Connection, statement: Select[Any], query: IssueListQuery, bounds: dict[str, int]) -> list[Issue]:
    if query.lists.whole:
        return db.all(Issue, statement, **bounds, **query.values)
    return _read(db, [row[0] for row in db.rows(statement, **bounds, **query.values)])


def _read(db: Connection, ids: list[int]) -> list[Issue]:
    if not ids:
        return []
    by_id = {issue.id: issue for issue in db.all(Issue, _BY_IDS, issues=ids)}
    # On PostgreSQL an issue may have been deleted since the statement that found its id.
    return [by_id[issue_id] for issue_id in ids if issue_id in by_id]
