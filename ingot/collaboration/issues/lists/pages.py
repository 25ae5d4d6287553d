"""Pages of lists of issues: the cheapest statement for the filters, and the total if it is cheap to compute."""

from collections.abc import Callable

import msgspec
from sqlalchemy import select

from ingot.collaboration.issues.lists.priorities import RANKED, ranked_ids
from ingot.collaboration.issues.lists.statements import (
    ACROSS_PROJECTS,
    FEW,
    LABEL_COUNT,
    MAX_COUNTED,
    MAX_LOOKED_UP,
    IssueListQuery,
)
from ingot.collaboration.issues.lists.totals import stored_total
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, slice_page

_WRITTEN = frozenset({"author", "written_by_me"})
_ORDERS_OF_WRITTEN = ("created_at", "updated_at")
_CHEAP = frozenset({"in_project", "not_hidden", "state"})
_NUMBER_BYTES = 300
_BY_IDS = select(*ISSUE_COLUMNS).where(in_list(issues.c.id, "issues"))


def fetch_issues(db: Connection, query: IssueListQuery, page: Page, total: int | None = None) -> Listing[Issue]:
    """Return a page and the total; a total that is not stored is counted up to ``MAX_COUNTED``."""
    if page.keyset:
        return fetch_page(db, Issue, query.lists.walking, page, **query.values)
    total_known = True
    if total is None:
        total = _cached(db, query, "stored", _stored_total)
    if _matches_few(query, total):
        listing = _look_up(db, query, page)
        if listing is not None:
            return listing
    if total is None:
        total = _cached(db, query, "counted", _counted) or 0
        total_known = total <= MAX_COUNTED
    offset = (page.number - 1) * page.size
    if total_known:
        return Listing(_walk(db, query, offset, page.size) if offset < total else [], page, total)
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
    """Return a number that every page of a list needs and that takes milliseconds to find, from the cache of reads."""
    if query.filters <= _CHEAP:
        return read(db, query)
    key = name, query.filters, query.labels, query.excluded_labels, msgspec.json.encode(query.values)
    return db.cached(key, lambda: read(db, query), lambda _: _NUMBER_BYTES + len(key[-1]))


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


def _walk(db: Connection, query: IssueListQuery, offset: int, size: int) -> list[Issue]:
    """Read a page along the order."""
    if query.order_by in RANKED and "in_project" in query.filters:
        ranked = ranked_ids(db, query, offset, size)
        if ranked is not None:
            return _read(db, ranked)
    lists = query.lists
    bounds = {"page_size": size, "page_offset": offset}
    if lists.whole:
        return db.all(Issue, lists.walking.by_number, **bounds, **query.values)
    return _read(db, [row[0] for row in db.rows(lists.walking.by_number, **bounds, **query.values)])


def _read(db: Connection, ids: list[int]) -> list[Issue]:
    if not ids:
        return []
    by_id = {issue.id: issue for issue in db.all(Issue, _BY_IDS, issues=ids)}
    # On PostgreSQL an issue may have been deleted since the statement that found its id.
    return [by_id[issue_id] for issue_id in ids if issue_id in by_id]
