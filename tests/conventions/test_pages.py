"""Every page is covered by the accessibility and injection tests, or listed with a reason."""

from collections import Counter

from ingot.core.names import RESERVED_AT_TOP
from ingot.web.all_pages import ALL_PAGES
from tests.sample_data.addresses import DUPLICATES, FILES, NOT_PAGES, PARTS, REDIRECTS, ROUTES, STATES

HANDLERS = {
    route.path: route.handler.__module__ for pages in ALL_PAGES for route in pages.routes if route.method == "GET"
}


def test_excluded_pages_exist_and_are_listed_once() -> None:
    """New pages are covered automatically, because the tests iterate over the routes."""
    listed = Counter([*PARTS, *REDIRECTS, *FILES, *DUPLICATES])

    assert [route for route, times in listed.items() if times > 1 or route not in ROUTES] == []
    assert [route for route in STATES if route in NOT_PAGES or route not in ROUTES] == []
    assert len(set(ROUTES) - NOT_PAGES) > 120


def test_first_segments_of_pages_are_reserved() -> None:
    """A user or group of this name would otherwise hide the page, or be hidden by it."""
    first_segments = {route.path.split("/")[1] for pages in ALL_PAGES for route in pages.routes}

    assert first_segments - RESERVED_AT_TOP - {"", ":path"} == set()


def test_duplicate_paths_share_their_page() -> None:
    assert [path for path, other in DUPLICATES.items() if HANDLERS[path] != HANDLERS[other] or other in NOT_PAGES] == []
