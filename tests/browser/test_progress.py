"""Progress of requests that take long."""

from playwright.sync_api import Route, expect

from tests.browser.conftest import BrowserWindow
from tests.client import Make, User
from tests.factories import make_project


def test_bar_appears_after_a_second(make: Make, window: BrowserWindow, person: User) -> None:
    project = make_project(make, person)
    make.api.post(f"{project.url}/issues", person, title="Slow")
    page = window.set_session(person).open(f"/{project.path}/-/issues/1")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/-/preview", hold)
    page.locator("#comment").fill("Some **text**")
    page.get_by_role("button", name="Preview").first.click()
    bar = page.get_by_role("progressbar", name="Loading")
    bar.wait_for()
    held[0].continue_()
    page.locator(".preview strong").wait_for()
    expect(bar).to_be_hidden()
