"""Cache of the results of frequent reads, whole responses and views for pages, until the next commit of any process."""

from collections.abc import Callable, Hashable
from typing import TypeVar

from ingot.core.access.actor import Actor
from ingot.core.api.endpoint_call import EndpointCall
from ingot.core.api.responses import ApiResponse, encode
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing
from ingot.core.http.request import Request
from ingot.core.other_sources import watch_sources

T = TypeVar("T")
_MAX_BYTES = 512 * 2**10
"""A larger result would evict too many of the small ones that share the cache."""
_OVERHEAD_BYTES = 2_000
"""Memory of the headers of a response and of its key, besides the URL."""
_VIEW_BYTES = 4
"""Memory of views as a multiple of their JSON."""


def cached_response(
    db: Connection, request: Request, actor: Actor, state: Hashable, read: Callable[[], ApiResponse]
) -> ApiResponse:
    """Return the response of ``read`` from the cache, or call it.

    The caller must have been authenticated by this unit of work.
    """
    url = request.path, request.query, request.origin.base

    def size(response: ApiResponse) -> int | None:
        # One that is streamed can be sent once.
        is_whole = response.status == 200 and response.pieces is None and not response.final
        return len(response.body) + sum(map(len, url)) if is_whole else None

    return _cached(db, ("response", *url, actor), state, read, size)


def cached_views(db: Connection, call: EndpointCall, state: Hashable, read: Callable[[], T]) -> T:
    """Return the views of ``read`` for an internal call from the cache, or call it; callers must not change them."""
    key = "views", call.endpoint.path, *call.path.items(), repr(call.sent), call.origin.base, call.actor
    return _cached(db, key, state, read, bytes_of_views)


def bytes_of_views(result: object) -> int | None:
    """Return the memory of views; None for a result of another kind, such as a file."""
    items = result.items if isinstance(result, Listing) else result
    if isinstance(items, View) or (isinstance(items, list) and all(isinstance(item, View) for item in items)):
        return _VIEW_BYTES * len(encode(items))
    return None


def _cached(
    db: Connection,
    key: tuple[Hashable, ...],
    state: Hashable,
    read: Callable[[], T],
    size: Callable[[T], int | None],
) -> T:
    """Return the result of ``read`` from the cache, or call it.

    A result is stored only if it depends on nothing but rows, the key, the day and, unless it is None, ``state``: the
    state of a repository.
    """
    fresh: list[T] = []
    found_size = 0

    def read_to_cache() -> T | None:
        nonlocal found_size
        result, sources = watch_sources(read)
        fresh.append(result)
        if sources and (state is None or sources != {"repository"}):
            return None
        found_size = size(result) or 0
        return result if 0 < found_size <= _MAX_BYTES else None

    cached = db.cached(
        (*key, state, db.today, db.follow_redirects), read_to_cache, lambda _: found_size + _OVERHEAD_BYTES
    )
    return fresh[0] if cached is None else cached
