"""Geometry of every page at two widths: no overflow, aligned columns, no clipped text, visible actions."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import BrowserWindow
from tests.client import Make
from tests.conftest import Instance
from tests.sample_data.addresses import addresses
from tests.sample_data.records import SampleData, open_sample_data
from tests.sample_data.texts import SampleTexts

_SCRIPT = (Path(__file__).parent / "geometry.js").read_text()
_WIDTHS = (1440, 390)
_HEIGHT = 600
_BROKEN = """<!doctype html><html lang="en"><title>Broken</title><main>
<div style="width: 200px"><p style="width: 300px; margin: 0">Too wide</p></div>
<p style="width: 2000px; margin: 0">Far too wide</p>
<table><tr><td>1</td><td>2</td></tr><tr><td style="display: flex">3</td><td>4</td></tr></table>
<p style="width: 50px; overflow: hidden; white-space: nowrap">Nobody can read the end of this</p>
<p style="height: 20px; overflow: hidden">One<br>Two<br>Three</p>
<div class="heading" style="overflow: auto; width: 300px"><div style="min-width: 3000px; text-align: right">
<button>Save</button></div></div></main>"""


@pytest.fixture(scope="module")
def samples(instance: Instance, make: Make) -> Iterator[SampleData]:
    """Yield one object for each page."""
    with open_sample_data(instance, make, SampleTexts(hostile=False)) as samples:
        yield samples


def _begin(window: BrowserWindow) -> BrowserWindow:
    """Open a first page, into whose window all others are loaded, so that styles and scripts are loaded once."""
    window.open("/explore")
    window.page.evaluate(_SCRIPT)
    return window


def _faults(window: BrowserWindow, path: str, sent: dict[str, str] | None = None) -> list[str]:
    """Return the faults of a page at both widths; the page is loaded once, at the width of the page before."""
    window.page.evaluate("([path, sent]) => openPage(path, sent)", [path, sent])
    faults = []
    size = window.page.viewport_size
    assert size is not None
    for width in (size["width"], *(other for other in _WIDTHS if other != size["width"])):
        window.page.set_viewport_size({"width": width, "height": _HEIGHT})
        faults += [f"{width}: {fault}" for fault in window.page.evaluate("checkGeometry()")]
    return faults


@pytest.mark.parametrize("visitor", ["owner", "colleague", "root", "nobody"])
def test_pages_are_in_shape(open_window: Callable[..., BrowserWindow], samples: SampleData, visitor: str) -> None:
    """The list of pages is derived from all routes, which another test checks."""
    window = open_window(viewport={"width": _WIDTHS[0], "height": _HEIGHT})
    if visitor != "nobody":
        window.set_session(samples.people[visitor])
    _begin(window)

    found = {
        f"{address.route} {address.path}": _faults(window, address.path, address.sent)
        for address in addresses(samples)
        if address.visitor == visitor
    }

    assert {path: faults for path, faults in found.items() if faults} == {}


def test_faults_are_detected(open_window: Callable[..., BrowserWindow]) -> None:
    window = open_window(viewport={"width": 1440, "height": _HEIGHT}, bypass_csp=True)
    window.page.route("**/broken", lambda route: route.fulfill(content_type="text/html", body=_BROKEN))
    _begin(window)

    faults = "\n".join(_faults(window, "/broken"))

    expected = ["leaves <div>", "leaves the window", "px wide", "is no table cell", "cuts off its content"]
    expected += ["cuts off lines", "is out of view"]
    assert [fault for fault in expected if fault not in faults] == [], faults


def test_blame_shows_code_on_a_phone(open_window: Callable[..., BrowserWindow], samples: SampleData) -> None:
    window = open_window(viewport={"width": 390, "height": _HEIGHT})
    page = window.open(f"/{samples.project.path}/-/blame/master/{samples.named['file']}")

    rows = page.locator("table.blame tr")
    boxes = [row.locator("td").last.bounding_box() for row in rows.all()[:5]]
    edges = {round(box["x"]) for box in boxes if box is not None}
    assert len(edges) == 1, "The code of all lines begins at one edge."
    assert max(edges) < 250, "The beginning of the code is visible."
