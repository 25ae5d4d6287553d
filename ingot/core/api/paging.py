"""Page parameters of lists, and the headers that link to other pages."""

from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

from ingot.core.api.params import Params, ParamsReader
from ingot.core.db.paging import Listing, Page

MAX_PER_PAGE = 100
_MAX_CACHED_QUERY_BYTES = 1_000
_POSITION_PARAMS = frozenset({"page", "id_after", "id_before", "page_token"})
_NUMBERS = frozenset({"page", "per_page"})
_SECRETS = frozenset({"private_token", "access_token", "job_token", "authenticity_token"})
Header = tuple[bytes, bytes]


class PageParams(Params):
    """Parameters of every list besides its own filters."""

    page: int = 1
    per_page: int = 20
    pagination: str = ""
    order_by: str = ""
    sort: str = "desc"
    id_after: int | None = None
    id_before: int | None = None


_READER = ParamsReader(PageParams)
_DEFAULT = Page()


def read_page(sent: dict[str, Any]) -> Page:
    """Return the requested page; a size out of range is limited."""
    if not sent:
        return _DEFAULT
    params: PageParams = _READER.read(sent)
    size = min(params.per_page, MAX_PER_PAGE) if params.per_page > 0 else _DEFAULT.size
    keyset = params.pagination == "keyset" and params.order_by in ("", "id")
    ascending = params.sort == "asc"
    return Page(
        number=max(params.page, 1),
        size=size,
        keyset=keyset,
        after=params.id_after if ascending else params.id_before,
        direction="asc" if ascending else "desc",
        explicit="page" in sent or "per_page" in sent,
    )


def page_headers(listing: Listing[Any], url: str, query: bytes) -> list[Header]:
    """Return ``Link`` and the ``X-`` headers; links retain the other parameters and the origin of the request.

    They contain no secrets: links are logged and passed on, and clients send their credentials again.
    """
    page = listing.page
    if listing.total is None and listing.more is None:
        return _keyset_headers(listing, url, query)
    last = None if listing.total is None else max(1, -(-listing.total // page.size))
    has_next = listing.more if last is None else page.number < last
    following = page.number + 1 if has_next else None
    previous = page.number - 1 if page.number > 1 else None
    common = _common_query(query) if len(query) <= _MAX_CACHED_QUERY_BYTES else _common_query.__wrapped__(query)
    start = f"{url}?{common}&" if common else f"{url}?"

    def link(number: int, rel: str) -> str:
        return f'<{start}page={number}&per_page={page.size}>; rel="{rel}"'

    links = [link(previous, "prev")] if previous else []
    links += [link(following, "next")] if following else []
    links += [link(1, "first")]
    totals: list[Header] = []
    if listing.total is not None and last is not None:
        links += [link(last, "last")]
        totals = [(b"x-total", b"%d" % listing.total), (b"x-total-pages", b"%d" % last)]
    return [
        (b"link", ", ".join(links).encode()),
        *totals,
        (b"x-per-page", b"%d" % page.size),
        (b"x-page", b"%d" % page.number),
        (b"x-next-page", b"%d" % following if following else b""),
        (b"x-prev-page", b"%d" % previous if previous else b""),
    ]


def _keyset_headers(listing: Listing[Any], url: str, query: bytes) -> list[Header]:
    headers = [(b"x-per-page", b"%d" % listing.page.size)]
    if listing.next_key is not None or listing.next_token is not None:
        key = "id_after" if listing.page.direction == "asc" else "id_before"
        position = (key, listing.next_key) if listing.next_token is None else ("page_token", listing.next_token)
        target = f"{url}?{urlencode([*_query_pairs(query, excluded=_POSITION_PARAMS), position])}"
        headers.append((b"link", f'<{target}>; rel="next"'.encode()))
    return headers


@lru_cache(256)
def _common_query(query: bytes) -> str:
    """Return the query parameters that all links share; cached, because quoting costs more than the rest."""
    return urlencode(_query_pairs(query, excluded=_NUMBERS))


def _query_pairs(query: bytes, excluded: frozenset[str]) -> list[tuple[str, str]]:
    if not query:
        return []
    pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True)
    return [(name, value) for name, value in pairs if name not in excluded and name not in _SECRETS]
