"""Connections: pages of a list with cursors. A cursor is the position of an item in its list."""

import binascii
from base64 import b64encode, urlsafe_b64decode
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ingot.core.db.paging import Listing
from ingot.core.errors import Invalid
from ingot.graphql.context import QueryContext
from ingot.graphql.resolvers import Arguments, Resolvers

MAX_PAGE_SIZE = 100
_CURSOR = b"offset:"


class ConnectionPage(msgspec.Struct):
    """A page of a list."""

    nodes: Sequence[Any]
    start: int
    """Position of the first node."""
    total: int | None
    """Number of all items; None if they are not counted."""
    has_next: bool


def connection_of(items: Sequence[Any], arguments: Arguments) -> ConnectionPage:
    """Return a page of a list that is in memory."""
    start, size, from_end = _window(arguments)
    if from_end:
        start = max(0, len(items) - size)
    nodes = items[start : start + size]
    return ConnectionPage(nodes, start, len(items), start + len(nodes) < len(items))


def listed(
    context: QueryContext, route: str, arguments: Arguments, params: dict[str, Any] | None = None, /, **path: object
) -> ConnectionPage:
    """Return a page of the list that a REST endpoint returns."""
    params = {name: value for name, value in (params or {}).items() if value is not None}

    def fetch(number: int, size: int) -> Listing[Any]:
        listing: Listing[Any] = context.call(route, {**params, "page": number, "per_page": size}, **path)
        return listing

    return paged(fetch, arguments)


def paged(fetch: Callable[[int, int], Any], arguments: Arguments) -> ConnectionPage:
    """Return a page of a list that is fetched by numbered pages."""
    start, size, from_end = _window(arguments)
    if size == 0:
        total = _listing(fetch(1, 1)).total
        return ConnectionPage([], start, total, total is not None and start < total)
    if from_end:
        total = _listing(fetch(1, 1)).total
        start = max(0, (total or 0) - size)
    number, skipped = divmod(start, size)
    first = _listing(fetch(number + 1, size))
    if not skipped:
        return _page(first.items, start, first, number + 1, size)
    second = _listing(fetch(number + 2, size))
    nodes = [*first.items[skipped:], *second.items[:skipped]]
    has_next = len(second.items) > skipped or _has_more(second, number + 2, size)
    return ConnectionPage(nodes, start, first.total, has_next)


def paged_backwards(fetch: Callable[[int, int], Any], arguments: Arguments) -> ConnectionPage:
    """Return a page of a list that is fetched by numbered pages, from its last item to its first."""
    total = _listing(fetch(1, 1)).total or 0
    start, size, from_end = _window(arguments)
    if from_end:
        start = max(0, total - size)
    begin, end = max(0, total - start - size), max(0, total - start)
    if begin == end:
        return ConnectionPage([], start, total, start < total)
    number, skipped = divmod(begin, size)
    items = list(_listing(fetch(number + 1, size)).items)
    if skipped + end - begin > size:
        items += _listing(fetch(number + 2, size)).items
    return ConnectionPage(items[skipped : skipped + end - begin][::-1], start, total, begin > 0)


def _listing(response: Any) -> Listing[Any]:
    if isinstance(response, Listing):
        return response
    # Some short lists are returned completely.
    return Listing(list(response), None, len(response), more=False)  # type: ignore[arg-type] # Its page is not used.


def _page(items: Sequence[Any], start: int, listing: Listing[Any], number: int, size: int) -> ConnectionPage:
    if listing.page is None:
        nodes = items[start : start + size]
        return ConnectionPage(nodes, start, len(items), start + len(nodes) < len(items))
    return ConnectionPage(items, start, listing.total, _has_more(listing, number, size))


def _has_more(listing: Listing[Any], number: int, size: int) -> bool:
    if listing.total is not None:
        return number * size < listing.total
    return bool(listing.more or listing.next_key or listing.next_token)


def _window(arguments: Arguments) -> tuple[int, int, bool]:
    """Return the start and size of the requested page, and whether it is counted from the end."""
    first, last = arguments.get("first"), arguments.get("last")
    after, before = arguments.get("after"), arguments.get("before")
    for name, value in (("first", first), ("last", last)):
        if value is not None and value < 0:
            raise Invalid(f'The argument "{name}" must not be negative')
    start = 0 if after is None else _position(after) + 1
    if last is not None and first is None:
        size = min(last, MAX_PAGE_SIZE)
        if before is None:
            return 0, size, True
        end = _position(before)
        start = max(start, end - size)
        return start, max(0, end - start), False
    size = MAX_PAGE_SIZE if first is None else min(first, MAX_PAGE_SIZE)
    if before is not None:
        size = max(0, min(size, _position(before) - start))
    return start, size, False


def _position(cursor: str) -> int:
    try:
        text = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (ValueError, binascii.Error):
        text = b""
    digits = text.removeprefix(_CURSOR)
    if not text.startswith(_CURSOR) or not digits.isdigit() or len(digits) > 12:
        raise Invalid("The cursor is not valid")
    return int(digits)


def _cursor(position: int) -> str:
    return b64encode(_CURSOR + str(position).encode()).decode().rstrip("=")


class PageInfo(msgspec.Struct):
    """Position of a page in its list."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


class Edge(msgspec.Struct):
    """A node with its cursor."""

    cursor: str
    node: Any


def _page_info(page: ConnectionPage) -> PageInfo:
    end = page.start + len(page.nodes)
    cursors = (_cursor(page.start), _cursor(end - 1)) if page.nodes else (None, None)
    return PageInfo(page.has_next, page.start > 0, *cursors)


def connection_resolvers(types: Sequence[str]) -> Resolvers:
    """Return the resolvers of the fields that every connection has."""
    resolvers = Resolvers()
    for name in types:
        resolvers.value(f"{name}.pageInfo")(lambda _, page: _page_info(page))
        resolvers.value(f"{name}.count")(
            lambda _, page: page.start + len(page.nodes) if page.total is None else page.total
        )
        resolvers.value(f"{name}.edges")(
            lambda _, page: [Edge(_cursor(page.start + index), node) for index, node in enumerate(page.nodes)]
        )
    return resolvers
