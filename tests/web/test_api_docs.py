"""API reference: all endpoints in the layout of the pages, and a viewer for one group."""

import re

from ingot.server.registry import all_endpoints
from tests.web.browser import Browser


def test_all_groups_are_listed_in_order(browser: Browser) -> None:
    page = browser.get("/api/v4/docs")
    names = re.findall(r"<summary>([^<]+) <span", page.text)

    assert page.status_code == 200
    assert 'class="top"' in page.text, "The page has the header of all pages."
    assert names == sorted(names) and len(names) > 40
    assert "Merge requests" in names and not any("_" in name for name in names)
    assert "swagger-ui-bundle" not in page.text, "The list needs no script."
    assert all(f">{endpoint.path}</code>" in page.text for endpoint in all_endpoints())


def test_the_viewer_shows_one_group(browser: Browser) -> None:
    page = browser.get("/api/v4/docs?group=merge_requests")

    assert page.status_code == 200
    assert 'href="/api/v4/docs">All groups' in page.text
    assert 'data-group="merge_requests"' in page.text
    assert "/projects/:id/merge_requests/:merge_request_iid" in page.text
    assert "/projects/:id/labels" not in page.text
    assert browser.get("/api/v4/docs?group=nothing").status_code == 404
