"""Diagrams and formulas of Markdown in a real browser, with hostile sources."""

from playwright.sync_api import expect

from tests.browser.conftest import BrowserWindow
from tests.client import Make, User
from tests.factories import make_project

TEXT = """\
```mermaid
graph LR
  push --> build
```

```mermaid
this is no diagram
```

```mermaid
graph LR
  a["<img src=x onerror=parent.postMessage('stolen','*')>"] --> b
  click a "javascript:alert(1)"
```

The height is $`\\frac{a}{2}`$ metres.

```math
\\href{javascript:alert(1)}{x} + \\sum_{i=1}^{n} i
```

$$
\\sqrt{2}
$$

So $$x$$ and $y_1 + y_2$, `code` stays, and $5 are not $6.
"""


def test_diagrams_and_formulas(window: BrowserWindow, person: User, make: Make) -> None:
    project = make_project(make, person)
    issue = make.api.post(f"{project.url}/issues", person, title="Tide", description=TEXT).json()
    window.page.emulate_media(color_scheme="dark")
    page = window.set_session(person).open(f"/{project.path}/-/issues/{issue['iid']}")

    frames = page.locator("iframe.diagram")
    drawn = page.frame_locator("iframe.diagram").first.locator("#place svg")
    expect(drawn).to_be_visible(timeout=60_000)
    expect(frames).to_have_count(2, timeout=60_000)
    expect(page.get_by_text("this is no diagram")).to_be_visible()
    assert frames.first.get_attribute("sandbox") == "allow-scripts"
    frame = next(frame for frame in page.frames if frame.url.endswith("/-/diagram_frame"))
    assert frame.evaluate("self.origin") == "null"
    scheme = "element => getComputedStyle(element).colorScheme"
    schemes = frames.first.evaluate(scheme), frame.locator("html").evaluate(scheme)
    assert schemes == ("dark", "dark"), "Different schemes make the background of the frame opaque."

    expect(page.locator("span.formula math")).to_have_count(3)
    expect(page.locator("math[display=block]")).to_have_count(3)
    assert page.locator(".prose a[href^=javascript]").count() == 0
    expect(page.get_by_text("stays, and $5 are not $6.")).to_be_visible()
    blocked = [complaint for complaint in window.complaints if "Content Security Policy" in complaint]
    assert window.complaints == blocked, "The policy of the frame blocks what its library lets through."
    window.complaints.clear()
