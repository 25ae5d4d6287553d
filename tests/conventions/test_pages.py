"""Every page is covered by the accessibility and injection tests, or listed with a reason."""

from collections import Counter

from ingot.web.component import ALL_PAGES
from tests.sample_data.addresses import DUPLICATES, EXCLUDED, FILES, NOT_PAGES, PARTS, REDIRECTS, ROUTES, STATES

HANDLERS = {
    place.path: place.handler.__module__ for pages in ALL_PAGES for place in pages.places if place.method == "GET"
}


def test_excluded_pages_exist_and_are_listed_once() -> None:
    """New pages are covered automatically, because the tests iterate over the routes."""
    listed = Counter([*PARTS, *REDIRECTS, *FILES, *DUPLICATES, *EXCLUDED])

    assert [route for route, times in listed.items() if times > 1 or route not in ROUTES] == []
    assert [route for route in STATES if route in NOT_PAGES or route not in ROUTES] == []
    assert len(set(ROUTES) - NOT_PAGES) > 120


def test_duplicate_paths_share_their_page() -> None:
    assert [path for path, other in DUPLICATES.items() if HANDLERS[path] != HANDLERS[other] or other in NOT_PAGES] == []
