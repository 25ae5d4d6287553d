"""Faults that the checks of all pages detect, and positions of elements that they do not know."""

from collections.abc import Callable

from tests.browser.conftest import BrowserWindow
from tests.browser.page_checks import PHONE, PageChecker
from tests.sample_data.records import SampleData

_BROKEN = """<!doctype html><html lang="en"><title>Broken</title><main><h1>Broken</h1><p style="color: #eee">By day</p>
<p style="color: #222">By night</p><input>
<div style="width: 200px"><p style="width: 300px; margin: 0">Too wide</p></div>
<p style="width: 2000px; margin: 0">Far too wide</p>
<table><tr><td>1</td><td>2</td></tr><tr><td style="display: flex">3</td><td>4</td></tr></table>
<p style="width: 50px; overflow: hidden; white-space: nowrap">Nobody can read the end of this</p>
<label style="display: flex"><input type="checkbox" style="margin-top: 20px"> Choice</label>
<p style="height: 20px; overflow: hidden">One<br>Two<br>Three</p>
<div class="heading" style="overflow: auto; width: 300px"><div style="min-width: 3000px; text-align: right">
<button>Save</button></div></div></main>"""


def test_faults_are_detected(open_window: Callable[..., BrowserWindow]) -> None:
    """Colors of each scheme, other rules of axe-core, the status of the response, and the geometry at both widths."""
    window = open_window(bypass_csp=True)
    window.page.route("**/broken", lambda route: route.fulfill(status=418, content_type="text/html", body=_BROKEN))

    faults = PageChecker(window).faults("/broken")

    contrast = [fault for fault in faults if fault.startswith("color-contrast:")]
    assert ["By day" in contrast[0], "By night" in contrast[-1]] == [True, True], faults
    assert [start for start in ("label:", "answered 418") if not any(fault.startswith(start) for fault in faults)] == []
    expected = ["leaves <div>", "leaves the window", "px wide", "is no table cell", "cuts off its content"]
    expected += ["cuts off lines", "is out of view", "px below its text"]
    for width in ("1440: ", "390: "):
        seen = "\n".join(fault for fault in faults if fault.startswith(width))
        assert [fault for fault in expected if fault not in seen] == [], (width, faults)


def test_a_phone_shows_the_active_tab(open_window: Callable[..., BrowserWindow], samples: SampleData) -> None:
    window = open_window(viewport={"width": PHONE, "height": 100}).set_session(samples.owner)

    for path in ("", "/-/issues/1", "/-/merge_requests/1/diffs", "/-/edit", "/-/boards"):
        tab = window.open(f"/{samples.project.path}{path}").locator(".tabs a[aria-current]").first.bounding_box()
        assert tab is not None, path
        assert tab["x"] >= 0 and tab["x"] + tab["width"] <= PHONE, path


def test_blame_shows_code_on_a_phone(open_window: Callable[..., BrowserWindow], samples: SampleData) -> None:
    window = open_window(viewport={"width": PHONE, "height": 600})
    page = window.open(f"/{samples.project.path}/-/blame/master/{samples.named['file']}")

    rows = page.locator("table.blame tr")
    boxes = [row.locator("td").last.bounding_box() for row in rows.all()[:5]]
    edges = {round(box["x"]) for box in boxes if box is not None}
    assert len(edges) == 1, "The code of all lines begins at one edge."
    assert max(edges) < 250, "The beginning of the code is visible."
