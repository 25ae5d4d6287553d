"""The search field as a palette: keyboard, screen reader and narrow screens."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.api.issues.factories import make_issue
from tests.browser.conftest import BrowserWindow
from tests.client import Make, User
from tests.factories import make_project


def test_control_k_opens_what_was_visited(window: BrowserWindow, make: Make, person: User) -> None:
    project = make_project(make, person)
    make_issue(make, project, person, title="Rust on the hinge")
    make_issue(make, project, person, title="Paint")
    window.set_session(person).open(f"/{project.path}/-/issues/1")
    page = window.open("/help")
    field = page.get_by_role("combobox", name="Search")
    page.keyboard.press("Control+K")
    options = page.get_by_role("option")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(options.first).to_contain_text("Rust on the hinge")
    expect(field).to_have_attribute("aria-activedescendant", "suggestion_0")
    expect(field).to_have_attribute("aria-expanded", "true")
    assert window.violations() == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    field.fill("rust")
    expect(options.first).to_contain_text("Rust on the hinge")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{project.path}/-/issues/1")


def test_enter_searches_and_letters_jump(window: BrowserWindow, make: Make, person: User) -> None:
    project = make_project(make, person)
    page = window.set_session(person).open(f"/{project.path}")
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url(f"**/{project.path}/-/issues")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/dashboard/todos")
    page = window.open("/help")
    page.keyboard.press("/")
    page.keyboard.type("anything")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?search=anything")


def test_suggestions_fit_a_phone(open_window: Callable[..., BrowserWindow], make: Make, person: User) -> None:
    project = make_project(make, person)
    window = open_window(viewport={"width": 390, "height": 700})
    page = window.set_session(person).open(f"/{project.path}")
    page.get_by_role("combobox", name="Search").click()
    listed = page.get_by_role("listbox")
    listed.wait_for()
    box = listed.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
