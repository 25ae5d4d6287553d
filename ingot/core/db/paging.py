"""Pages of a list: by number with a total, or by key at a cost that does not grow with the offset."""

from collections.abc import Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import msgspec
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    Subquery,
    UnaryExpression,
    bindparam,
    func,
    literal_column,
    select,
)
from sqlalchemy.sql import operators

from ingot.core.db.connection import Connection
from ingot.core.db.schema import Record
from ingot.core.db.totals import cached_total, known_total

R = TypeVar("R", bound=Record)
T = TypeVar("T")
U = TypeVar("U")
MIN_SCANNED = 500
"""A search with more results is scanned along the order of the list first; the index would collect all of them."""
MAX_SCANNED = 1_000
_MIN_SKIPPED = 100


class Page(msgspec.Struct, frozen=True):
    """The requested part of a list."""

    number: int = 1
    size: int = 20
    keyset: bool = False
    after: int | None = None
    direction: Literal["asc", "desc"] = "desc"
    explicit: bool = False
    """True if the request has ``page`` or ``per_page``; some short lists are returned completely otherwise."""


class Listing(msgspec.Struct, Generic[T]):
    """A page of a list. ``total`` is None if it is not counted, as in keyset mode, which sets ``next_key``."""

    items: list[T]
    page: Page
    total: int | None = None
    next_key: int | None = None
    next_token: str | None = None
    """Cursor in keyset mode, for lists that are not ordered by row id."""
    more: bool | None = None
    """True if further pages exist, for numbered pages that are not counted."""

    def of(self, items: list[U]) -> "Listing[U]":
        """Return the same page with other items, such as the views of its records."""
        return Listing(items, self.page, self.total, self.next_key, self.next_token, self.more)


class ListQuery(NamedTuple):
    """The statements of one list with one set of filters, built once by the caller."""

    by_number: Select[Any]
    total: Select[Any]
    by_key_up: Select[Any]
    by_key_down: Select[Any]
    by_number_back: Select[Any]
    """Like ``by_number`` from the end of the list, for pages that are closer to it."""
    scan: Select[Any] | None = None
    """Finds the rows of a search along the order of the list, among the first ``MAX_SCANNED`` rows."""


def list_query(matching: Select[Any], key: ColumnElement[int], *order: ColumnElement[Any]) -> ListQuery:
    """Build the statements of a list from its selection, the id for keyset pages, and its order."""
    size: BindParameter[int] = bindparam("page_size")
    after: BindParameter[int] = bindparam("page_after")
    offset: BindParameter[int] = bindparam("page_offset")
    return ListQuery(
        matching.order_by(*order).limit(size).offset(offset),
        select(func.count()).select_from(matching.with_only_columns(key).order_by(None).subquery()),
        matching.where(key > after).order_by(key.asc()).limit(size),
        matching.where(key < after).order_by(key.desc()).limit(size),
        matching.order_by(*map(reverse_order, order)).limit(size).offset(offset),
    )


def reverse_order(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the opposite of a column's order; raise ``TypeError`` if it has another modifier than asc and desc."""
    if not isinstance(column, UnaryExpression) or column.modifier is None:
        return column.desc()
    if column.modifier is operators.asc_op:
        return column.element.desc()
    if column.modifier is operators.desc_op:
        return column.element.asc()
    raise TypeError("Only an order with asc() and desc() can be reversed")


def scanned_rows(matching: Select[Any], *order: ColumnElement[Any]) -> Subquery:
    """Return the first ``MAX_SCANNED`` rows of a list, to be searched without an index (see ``text_scan``)."""
    return matching.order_by(*order).limit(literal_column(str(MAX_SCANNED))).subquery()


def scan_query(scanned: Subquery, condition: ColumnElement[bool], *order: ColumnElement[Any]) -> Select[Any]:
    """Return the ``scan`` of a list: the rows of ``scanned_rows`` that match, in order."""
    size: BindParameter[int] = bindparam("page_size")
    offset: BindParameter[int] = bindparam("page_offset")
    return select(scanned).where(condition).order_by(*order).limit(size).offset(offset)


def sum_counts(*parts: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """Return a statement that counts the rows that meet one of several disjoint conditions."""
    counts = [select(func.count()).where(*conditions).scalar_subquery() for conditions in parts]
    total: ColumnElement[Any] = counts[0]
    for count in counts[1:]:
        total = total + count
    return select(total)


def slice_page(everything: Sequence[T], page: Page) -> Listing[T]:
    """Return a page of a list that is completely in memory."""
    offset = (page.number - 1) * page.size
    return Listing(list(everything[offset : offset + page.size]), page, len(everything))


_FIRST_KEY, _LAST_KEY = 0, 2**63 - 1


def fetch_page(
    db: Connection, record: type[R], query: ListQuery, page: Page, depends_on: Sequence[str] = (), /, **values: Any
) -> Listing[R]:
    """Run the statements of a page; the total is cached if ``depends_on`` names all of its versions."""
    if page.keyset:
        return _fetch_by_key(db, record, query, page, values)
    items: list[R] = []
    # With a known total, a search with many results is scanned. Else the rows come first, as most lists are short.
    total = None if query.scan is None else known_total(db, query.total, values, depends_on)
    if page.number == 1 and total is None:
        items = db.all(record, query.by_number, page_size=page.size, page_offset=0, **values)
        if len(items) < page.size:  # Most lists end on their first page, so no count is needed.
            return Listing(items, page, len(items))
    if total is None:
        total = cached_total(db, query.total, values, depends_on)
    if not items:
        items = _fetch_by_number(db, record, query, page, total, values)
    return Listing(items, page, total)


def _fetch_by_number(
    db: Connection, record: type[R], query: ListQuery, page: Page, total: int, values: dict[str, Any]
) -> list[R]:
    offset = (page.number - 1) * page.size
    count = min(page.size, total - offset)
    if count <= 0:
        return []
    if query.scan is not None and total > MIN_SCANNED and offset < MAX_SCANNED:
        items = db.all(record, query.scan, page_size=page.size, page_offset=offset, **values)
        if len(items) == count:
            return items
    remaining = total - offset - count
    if remaining + _MIN_SKIPPED < offset:
        items = db.all(record, query.by_number_back, page_size=count, page_offset=remaining, **values)
        return items[::-1]
    return db.all(record, query.by_number, page_size=page.size, page_offset=offset, **values)


def _fetch_by_key(db: Connection, record: type[R], query: ListQuery, page: Page, values: dict[str, Any]) -> Listing[R]:
    ascending = page.direction == "asc"
    after = page.after if page.after is not None else (_FIRST_KEY if ascending else _LAST_KEY)
    # Fetch one row more than requested, to see whether there is a next page.
    statement = query.by_key_up if ascending else query.by_key_down
    items = db.all(record, statement, page_size=page.size + 1, page_after=after, **values)
    more = len(items) > page.size
    items = items[: page.size]
    return Listing(items, page, None, items[-1].id if more else None)  # type: ignore[attr-defined] # Listed records have ids.
