"""Bulk edit of a list by keyboard, and its layout on a desktop and on a phone."""

import pytest
from playwright.sync_api import expect

from tests.api.issues.factories import make_issue
from tests.browser.conftest import BrowserWindow
from tests.browser.page_checks import DESK, PHONE
from tests.client import Make, User
from tests.factories import make_project


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_issues_are_edited_by_keyboard(width: int, window: BrowserWindow, make: Make, person: User) -> None:
    project = make_project(make, person)
    for name in ("bug", "docs"):
        make.api.post(f"{project.url}/labels", person, name=name, color="#aa0000")
    for title in ("Rust", "Moss"):
        make_issue(make, project, person, title=title)
    window.page.set_viewport_size({"width": width, "height": 900})
    page = window.set_session(person).open(f"/{project.path}/-/issues")
    page.get_by_role("link", name="Bulk edit").press("Enter")
    page.get_by_role("group", name="Add labels").get_by_label("bug").press("Space")
    everything = page.get_by_role("link", name="Select all on this page")
    everything.press("Enter")
    expect(page.get_by_label("Select Rust")).to_be_checked()
    everything.press("Enter")
    expect(page.get_by_label("Select Moss")).not_to_be_checked()
    page.get_by_label("Select Moss").press("Space")
    assert window.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Update selected").press("Enter")
    expect(page.get_by_text("1 issue changed.")).to_be_visible()
    assert [make.api.get(f"{project.url}/issues/{number}", person).json()["labels"] for number in (1, 2)] == [
        [],
        ["bug"],
    ]
