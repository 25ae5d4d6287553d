"""Accessibility of every page: no violations of axe-core in light and dark mode, and no overflow on a phone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import AXE, RULES, BrowserWindow, describe
from tests.client import Make
from tests.conftest import Instance
from tests.sample_data.addresses import addresses
from tests.sample_data.records import SampleData, open_sample_data
from tests.sample_data.texts import SampleTexts

_READER = (Path(__file__).parent / "reader.js").read_text()
_READ = "([path, sent, rules]) => readPage(path, sent, rules)"
# As low as possible, because the whole window is drawn.
_DESK, _PHONE = {"width": 1280, "height": 100}, {"width": 390, "height": 100}
_BROKEN = """<!doctype html><html lang="en"><title>Broken</title><main><h1>Broken</h1><p style="color: #eee">By day</p>
<p style="color: #222">By night</p><input><p style="width: 800px">Wide</p></main>"""


@pytest.fixture(scope="module")
def samples(instance: Instance, make: Make) -> Iterator[SampleData]:
    """Yield one object for each page."""
    with open_sample_data(instance, make, SampleTexts(hostile=False)) as samples:
        yield samples


def _begin(window: BrowserWindow) -> BrowserWindow:
    """Open a first page, into whose window all others are loaded, so that axe-core is loaded once."""
    window.open("/explore")
    window.page.evaluate(AXE)
    window.page.evaluate(_READER)
    return window


def _read(window: BrowserWindow, path: str, sent: dict[str, str] | None = None, status: int = 200) -> list[str]:
    """Return the violations of a page in light and dark mode, on a desktop and on a phone."""
    read: dict[str, Any] = window.page.evaluate(_READ, [path, sent, RULES])
    found = describe(read["violations"])
    if read["status"] != status:
        found.append(f"answered {read['status']}")
    if read["window"] == _DESK["width"]:
        window.page.set_viewport_size(_PHONE)  # type: ignore[arg-type]  # It is a dictionary of two numbers.
        width = window.page.evaluate("document.documentElement.scrollWidth")
    else:
        width = read["width"]
        window.page.set_viewport_size(_DESK)  # type: ignore[arg-type]  # Reset to the desktop size for the next page.
    return [*found, f"is {width} pixels wide"] if width > _PHONE["width"] else found


@pytest.mark.parametrize("visitor", ["owner", "colleague", "root", "nobody"])
def test_pages_have_no_violations(open_window: Callable[..., BrowserWindow], samples: SampleData, visitor: str) -> None:
    """The list of pages is derived from all routes, which another test checks."""
    window = open_window(viewport=_DESK)
    if visitor != "nobody":
        window.set_session(samples.people[visitor])
    _begin(window)

    found = {
        f"{address.route} {address.path}": _read(window, address.path, address.sent, address.status)
        for address in addresses(samples)
        if address.visitor == visitor
    }

    assert {path: barriers for path, barriers in found.items() if barriers} == {}


def test_violations_are_detected(open_window: Callable[..., BrowserWindow]) -> None:
    """Colors of each scheme, other rules, the width on a phone, and the status of the response."""
    window = open_window(viewport=_DESK, bypass_csp=True)
    window.page.route("**/broken", lambda route: route.fulfill(status=418, content_type="text/html", body=_BROKEN))
    _begin(window)

    found = _read(window, "/broken")

    begun = ["label:", "color-contrast:", "color-contrast:", "answered 418", "is 8"]
    assert [trouble.startswith(start) for trouble, start in zip(found, begun, strict=True)] == [True] * 5, found
    assert ["By day" in found[1], "By night" in found[2]] == [True, True]


def test_a_phone_shows_the_active_tab(open_window: Callable[..., BrowserWindow], samples: SampleData) -> None:
    window = open_window(viewport=_PHONE).set_session(samples.owner)

    for path in ("", "/-/issues/1", "/-/merge_requests/1/diffs", "/-/edit", "/-/boards"):
        tab = window.open(f"/{samples.project.path}{path}").locator(".tabs a[aria-current]").first.bounding_box()
        assert tab is not None, path
        assert tab["x"] >= 0 and tab["x"] + tab["width"] <= 390, path
