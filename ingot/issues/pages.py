"""Pages of lists of issues: which way to one is short, and how many there are in all."""

from collections.abc import Callable

import msgspec
from sqlalchemy import select

from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.db.paging import Listing, Page, cut_page, fetch_page
from ingot.issues.filters import ACROSS_PROJECTS, FEW, LABEL_COUNT, MOST_COUNTED, MOST_LOOKED_UP
from ingot.issues.ranking import RANKED, Question, ranked_ids
from ingot.issues.tables import ISSUE, Issue, issues
from ingot.issues.totals import kept_total

_WRITTEN = frozenset({"author", "written_by_me"})
_ORDERS_OF_WRITTEN = ("created_at", "updated_at")
_SOON_TOLD = frozenset({"in_project", "not_hidden", "state"})
_NUMBER_BYTES = 300
_BY_IDS = select(*ISSUE).where(any_of(issues.c.id, "issues"))


def fetch_issues(db: Connection, asked: Question, page: Page, total: int | None = None) -> Listing[Issue]:
    """A page, and how many there are in all; where that is not kept, only as far as it is soon counted."""
    if page.keyset:
        return fetch_page(db, Issue, asked.lists.walking, page, **asked.values)
    told = True
    if total is None:
        total = _remembered(db, asked, "kept", _kept_total)
    if _leads_to_few(asked, total):
        found = _look_up(db, asked, page)
        if found is not None:
            return found
    if total is None:
        total = _remembered(db, asked, "counted", _counted) or 0
        told = total <= MOST_COUNTED
    offset = (page.number - 1) * page.size
    if told:
        return Listing(_walk(db, asked, offset, page.size) if offset < total else [], page, total)
    # One more than asked for tells whether there is a next page.
    some = _walk(db, asked, offset, page.size + 1)
    return Listing(some[: page.size], page, more=len(some) > page.size)


def _leads_to_few(asked: Question, total: int | None) -> bool:
    """Whether these are few, or may be, and something better leads to them than the order."""
    if total is not None:
        return 0 < total <= MOST_LOOKED_UP and bool(asked.labels or asked.filters & ACROSS_PROJECTS)
    # What somebody wrote is indexed in the usual orders.
    leads = asked.filters & FEW
    return bool(asked.labels or leads) and not (leads <= _WRITTEN and asked.order_by in _ORDERS_OF_WRITTEN)


def _remembered(
    db: Connection, asked: Question, what: str, read: Callable[[Connection, Question], int | None]
) -> int | None:
    """A number that takes milliseconds to find and that every page of a list asks for; true as long as it is kept."""
    if asked.filters <= _SOON_TOLD:
        return read(db, asked)
    key = what, asked.filters, asked.labels, asked.excluded_labels, msgspec.json.encode(asked.values)
    return db.kept(key, lambda: read(db, asked), lambda _: _NUMBER_BYTES + len(key[-1]))


def _counted(db: Connection, asked: Question) -> int | None:
    """How many there are, but at most one more than is told."""
    counted: int = db.value(asked.lists.counted, **asked.values)
    return counted


def _kept_total(db: Connection, asked: Question) -> int | None:
    """How many there are, where that is kept: of each sort, and of those with one label."""
    if asked.excluded_labels or asked.labels > 1:
        return None
    if not asked.labels:
        return kept_total(db, asked.filters, asked.values)
    counted = LABEL_COUNT.get(asked.filters)
    return None if counted is None else db.value(counted, **asked.values)


def _look_up(db: Connection, asked: Question, page: Page) -> Listing[Issue] | None:
    """A page of few, all of which are found first; nothing where they are many."""
    ids = [row[0] for row in db.rows(asked.lists.looked_up, **asked.values)]
    if len(ids) > MOST_LOOKED_UP:
        return None
    listing = cut_page(ids, page)
    return listing.of(_read(db, listing.items))


def _walk(db: Connection, asked: Question, offset: int, size: int) -> list[Issue]:
    """A page of many, along their order."""
    if asked.order_by in RANKED and "in_project" in asked.filters:
        ranked = ranked_ids(db, asked, offset, size)
        if ranked is not None:
            return _read(db, ranked)
    lists = asked.lists
    bounds = {"page_size": size, "page_offset": offset}
    if lists.whole:
        return db.all(Issue, lists.walking.by_number, **bounds, **asked.values)
    return _read(db, [row[0] for row in db.rows(lists.walking.by_number, **bounds, **asked.values)])


def _read(db: Connection, ids: list[int]) -> list[Issue]:
    if not ids:
        return []
    found = {issue.id: issue for issue in db.all(Issue, _BY_IDS, issues=ids)}
    # One may have gone in between, where a server's statements do not all see the same moment.
    return [found[number] for number in ids if number in found]
