"""Fixtures for a real browser; every console error fails the test."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from ingot.web.cookies import SESSION_COOKIE
from tests.client import Make, User
from tests.conftest import Instance
from tests.sample_data.records import SampleData, open_sample_data
from tests.sample_data.texts import SampleTexts
from tests.transactions import RECORDER
from tests.web.browser import Browser

PASSWORD = "correct horse battery"
# The windows are invisible, so smooth drawing is disabled.
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-threaded-animation", "--disable-features=PaintHolding"]
# The headless shell needs a third less processor time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_TIMEOUT_MS = 60_000
"""A busy machine may need long."""
expect.set_options(timeout=_TIMEOUT_MS)
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
# Most of the time is spent on the markup of passed rules, and on reloaded style sheets.
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    "resultTypes": ["violations"],
    "preload": False,
}


def browser_path() -> str | None:
    """Return the path of the installed browser."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    """Yield the installed browser, not Playwright's.

    It is closed after each file: while it runs, an event loop runs in this thread, and no test can run another.
    """
    path = browser_path()
    if path is None:
        pytest.skip("NO BROWSER: chromium is missing; scripts/browser installs it where it may")
    with sync_playwright() as playwright:
        RECORDER.browser_loop = asyncio.get_running_loop()
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        yield browser
        browser.close()


class BrowserWindow:
    """Window with its own cookies and the errors that occurred in it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context = context
        self.page: Page = context.new_page()
        self.url = url
        self.complaints: list[str] = []
        self.page.on("console", self._record)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._watch)
        self.page.set_default_timeout(_TIMEOUT_MS)

    def _record(self, message: Any) -> None:
        # A response of 404 or 422 is logged as a network error; tests check those themselves.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def _watch(self, request: Any) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.complaints.append(f"asked for {request.url}")

    def open(self, path: str) -> Page:
        """Go to a page of the instance."""
        self.page.goto(self.url + path)
        return self.page

    def sign_in(self, person: User) -> "BrowserWindow":
        """Fill in the sign-in form."""
        page = self.open("/users/sign_in")
        page.get_by_label("Username or email").fill(person.username)
        page.get_by_label("Password").fill(person.password)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text(f"@{person.username}").first.wait_for()
        return self

    def set_session(self, person: User) -> "BrowserWindow":
        """Sign in by a cookie, without the form."""
        with Browser(self.url) as browser:
            browser.signed_in_as(person)
            cookie = {"name": SESSION_COOKIE, "value": browser.cookies[SESSION_COOKIE], "url": self.url}
        self.context.add_cookies([cookie])  # type: ignore[list-item]  # It is a dictionary of three texts.
        return self

    def violations(self) -> list[str]:
        """Return the violations that axe-core finds in the open page."""
        self.page.evaluate(AXE)
        return describe(self.page.evaluate("rules => axe.run(document, rules)", RULES)["violations"])


def describe(violations: list[dict[str, Any]]) -> list[str]:
    """Return the violations as readable text."""
    return [
        f"{broken['id']}: {broken['help']}: {node['html'][:200]}" for broken in violations for node in broken["nodes"]
    ]


@pytest.fixture
def open_window(chromium: Chromium, instance: Instance) -> Iterator[Callable[..., BrowserWindow]]:
    """Yield a function that opens isolated windows; options are those of a context, such as ``color_scheme``."""
    windows: list[BrowserWindow] = []

    def open_one(**options: Any) -> BrowserWindow:
        windows.append(BrowserWindow(chromium.new_context(**options), instance.url))
        return windows[-1]

    yield open_one
    for window in windows:
        window.context.close()
    assert [complaint for window in windows for complaint in window.complaints] == []


@pytest.fixture
def window(open_window: Callable[..., BrowserWindow]) -> BrowserWindow:
    """Return a window without a session."""
    return open_window()


@pytest.fixture(scope="module")
def samples(instance: Instance, make: Make) -> Iterator[SampleData]:
    """Yield one object for each page."""
    with open_sample_data(instance, make, SampleTexts(hostile=False)) as samples:
        yield samples


@pytest.fixture
def person(make: Make) -> User:
    """Return a user with a password."""
    return make.user(password=PASSWORD)
