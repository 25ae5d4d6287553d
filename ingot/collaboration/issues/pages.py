"""Pages of lists of issues: which way to one is short, and how many there are in all."""

from collections.abc import Callable

import msgspec
from sqlalchemy import select

from ingot.collaboration.issues.filters import ACROSS_PROJECTS, LABEL_COUNT, LOOKUP_FILTERS, MAX_COUNTED, MAX_LOOKED_UP
from ingot.collaboration.issues.ranking import PRIORITY_ORDERS, IssueSelection, priority_ordered_ids
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues
from ingot.collaboration.issues.totals import stored_total
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, slice_page

_AUTHOR_FILTERS = frozenset({"author", "written_by_me"})
_AUTHOR_INDEX_ORDERS = ("created_at", "updated_at")
_CHEAP_FILTERS = frozenset({"in_project", "not_hidden", "state"})
_NUMBER_BYTES = 300
_BY_IDS = select(*ISSUE_COLUMNS).where(in_list(issues.c.id, "issues"))


def fetch_issues(db: Connection, selection: IssueSelection, page: Page, total: int | None = None) -> Listing[Issue]:
    """A page, and how many there are in all; where that is not kept, only as far as it is soon counted."""
    if page.keyset:
        return fetch_page(db, Issue, selection.lists.by_scan, page, **selection.values)
    told = True
    if total is None:
        total = _cached_total(db, selection, "kept", _stored_total)
    if _prefers_lookup(selection, total):
        found = _look_up(db, selection, page)
        if found is not None:
            return found
    if total is None:
        total = _cached_total(db, selection, "counted", _count_up_to_limit) or 0
        told = total <= MAX_COUNTED
    offset = (page.number - 1) * page.size
    if told:
        return Listing(_scan(db, selection, offset, page.size) if offset < total else [], page, total)
    # One more than asked for tells whether there is a next page.
    some = _scan(db, selection, offset, page.size + 1)
    return Listing(some[: page.size], page, more=len(some) > page.size)


def _prefers_lookup(selection: IssueSelection, total: int | None) -> bool:
    """Whether these are few, or may be, and something better leads to them than the order."""
    if total is not None:
        return 0 < total <= MAX_LOOKED_UP and bool(selection.labels or selection.filters & ACROSS_PROJECTS)
    # What somebody wrote is indexed in the usual orders.
    leads = selection.filters & LOOKUP_FILTERS
    return bool(selection.labels or leads) and not (
        leads <= _AUTHOR_FILTERS and selection.order_by in _AUTHOR_INDEX_ORDERS
    )


def _cached_total(
    db: Connection, selection: IssueSelection, what: str, read: Callable[[Connection, IssueSelection], int | None]
) -> int | None:
    """A number that takes milliseconds to find and that every page of a list asks for; true as long as it is kept."""
    if selection.filters <= _CHEAP_FILTERS:
        return read(db, selection)
    key = what, selection.filters, selection.labels, selection.excluded_labels, msgspec.json.encode(selection.values)
    return db.kept(key, lambda: read(db, selection), lambda _: _NUMBER_BYTES + len(key[-1]))


def _count_up_to_limit(db: Connection, selection: IssueSelection) -> int | None:
    """How many there are, but at most one more than is told."""
    counted: int = db.value(selection.lists.counted, **selection.values)
    return counted


def _stored_total(db: Connection, selection: IssueSelection) -> int | None:
    """How many there are, where that is kept: of each sort, and of those with one label."""
    if selection.excluded_labels or selection.labels > 1:
        return None
    if not selection.labels:
        return stored_total(db, selection.filters, selection.values)
    counted = LABEL_COUNT.get(selection.filters)
    return None if counted is None else db.value(counted, **selection.values)


def _look_up(db: Connection, selection: IssueSelection, page: Page) -> Listing[Issue] | None:
    """A page of few, all of which are found first; nothing where they are many."""
    ids = [row[0] for row in db.rows(selection.lists.by_lookup, **selection.values)]
    if len(ids) > MAX_LOOKED_UP:
        return None
    listing = slice_page(ids, page)
    return listing.of(_issues_by_ids(db, listing.items))


def _scan(db: Connection, selection: IssueSelection, offset: int, size: int) -> list[Issue]:
    """A page of many, along their order."""
    if selection.order_by in PRIORITY_ORDERS and "in_project" in selection.filters:
        ranked = priority_ordered_ids(db, selection, offset, size)
        if ranked is not None:
            return _issues_by_ids(db, ranked)
    lists = selection.lists
    bounds = {"page_size": size, "page_offset": offset}
    if lists.whole:
        return db.all(Issue, lists.by_scan.by_number, **bounds, **selection.values)
    return _issues_by_ids(db, [row[0] for row in db.rows(lists.by_scan.by_number, **bounds, **selection.values)])


def _issues_by_ids(db: Connection, ids: list[int]) -> list[Issue]:
    if not ids:
        return []
    found = {issue.id: issue for issue in db.all(Issue, _BY_IDS, issues=ids)}
    # One may have gone in between, where a server's statements do not all see the same moment.
    return [found[number] for number in ids if number in found]
