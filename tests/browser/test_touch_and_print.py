"""Boards on touch screens, and printed pages."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.api.issues.factories import make_issue
from tests.browser.conftest import BrowserWindow
from tests.client import Make, User
from tests.factories import make_project


def test_cards_of_boards_are_moved_by_touch(
    open_window: Callable[..., BrowserWindow], make: Make, person: User
) -> None:
    project = make_project(make, person)
    make_issue(make, project, person, title="Move me")
    window = open_window(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).set_session(person)
    page = window.open(f"/{project.path}/-/boards")
    card = page.locator(".card-issue").filter(has_text="Move me")
    expect(card.get_by_role("combobox")).to_be_visible()
    card.get_by_role("combobox").select_option("Closed")
    card.get_by_role("button", name="Move #1").tap()
    closed = page.locator(".column").filter(has=page.get_by_role("heading", name="Closed"))
    expect(closed.locator(".card-issue")).to_contain_text("Move me")


def test_printed_pages_contain_the_text_without_controls(window: BrowserWindow, make: Make, person: User) -> None:
    project = make_project(make, person)
    issue = make_issue(make, project, person, title="Printed", description="# Head\n\n> [!NOTE]\n> Text")
    page = window.set_session(person).open(f"/{project.path}/-/issues/{issue['iid']}")
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", name="Printed")).to_be_visible()
    expect(page.locator(".markdown-alert")).to_be_visible()
    for hidden in ("header.top", "footer", ".tabs", ".comment"):
        expect(page.locator(hidden).first).to_be_hidden()
