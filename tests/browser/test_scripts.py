"""Scripts of pages that also work without them."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import expect

from tests.api.issues.factories import make_issue
from tests.browser.conftest import BrowserWindow
from tests.client import Api, Make, User
from tests.factories import Project, make_project


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return a project with an issue."""
    made = make_project(make, person)
    make_issue(make, made, person, title="Rust on the hinge")
    return made


def test_copying_works_without_https(window: BrowserWindow, person: User, project: Project) -> None:
    window.page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page = window.set_session(person).open(f"/{project.path}/-/issues/1")
    button = page.get_by_role("button", name="Copy reference")
    button.click()
    expect(button).to_have_text("Copied")

    page.get_by_role("textbox", name="Comment").press("Control+V")
    expect(page.get_by_role("textbox", name="Comment")).to_have_value(f"{project.path}#1")


def test_the_commands_of_a_first_push_are_copied_completely(
    window: BrowserWindow, person: User, project: Project
) -> None:
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = window.set_session(person).open(f"/{project.path}")
    page.get_by_role("button", name="Copy the commands of step 2").click()
    expect(page.get_by_text("Copied")).to_be_visible()

    copied = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert copied[1] == f"git remote add origin {window.url}/{project.path}.git"
    assert copied[2] == 'git add . && git commit -m "First commit"'


def test_keyboard_shortcuts_on_the_project_home(window: BrowserWindow, person: User, project: Project) -> None:
    """The help fits into a low window, where it can be scrolled; ``n`` opens the form for a new issue."""
    window.page.set_viewport_size({"width": 1000, "height": 220})
    page = window.set_session(person).open(f"/{project.path}")
    page.keyboard.press("?")
    last = page.get_by_label("Enable keyboard shortcuts")
    last.wait_for()
    sheet = page.locator(".shortcuts .sheet").bounding_box()
    assert sheet is not None
    assert sheet["y"] >= 0 and sheet["y"] + sheet["height"] <= 220
    last.uncheck()
    last.check()
    box = last.bounding_box()
    assert box is not None and box["y"] + box["height"] <= 220
    page.keyboard.press("Escape")
    last.blur()

    page.keyboard.press("n")
    page.wait_for_url(f"**/{project.path}/-/issues/new")
    page = window.open(f"/{project.path}/-/merge_requests")
    page.keyboard.press("n")
    page.wait_for_url(f"**/{project.path}/-/merge_requests/new*")


def test_the_api_viewer_shows_the_operations_of_a_group(window: BrowserWindow) -> None:
    page = window.open("/api/v4/docs?group=deploy_keys")
    expect(page.locator(".opblock")).not_to_have_count(0, timeout=60_000)

    assert all("deploy_keys" in path for path in page.locator(".opblock-summary-path").all_inner_texts())
    expect(page.locator(".opblock-tag").first).to_contain_text("Deploy keys")
    expect(page.locator("main")).to_have_count(1)
    page.get_by_role("link", name="All groups").click()
    expect(page.get_by_role("heading", name="API", exact=True)).to_be_visible()


def test_a_notice_is_announced(window: BrowserWindow, person: User, project: Project) -> None:
    """The status changes after the page has loaded, because screen readers announce only changes."""
    page = window.set_session(person).open(f"/{project.path}")
    page.get_by_role("button", name="Star").click()
    expect(page.get_by_role("status").filter(has_text="Project starred.")).to_be_visible()
    assert window.violations() == []
    page.reload()
    expect(page.get_by_text("Project starred.")).to_have_count(0)


def test_a_double_click_submits_once(window: BrowserWindow, person: User, project: Project, api: Api) -> None:
    page = window.set_session(person).open(f"/{project.path}/-/issues/1")
    page.get_by_role("textbox", name="Comment").fill("Only once")
    page.get_by_role("button", name="Comment", exact=True).dblclick()
    expect(page.get_by_text("Only once")).to_be_visible()

    said = api.get(f"{project.url}/issues/1/notes", person).json()
    assert [note["body"] for note in said].count("Only once") == 1


def test_an_expired_session_is_reported_and_keeps_the_text(
    window: BrowserWindow, person: User, project: Project
) -> None:
    page = window.set_session(person).open(f"/{project.path}/-/issues/1")
    page.get_by_role("textbox", name="Comment").fill("Oil it *well*, and oil it often")
    window.context.clear_cookies()

    page.get_by_role("button", name="Preview").first.click()
    expect(page.get_by_role("alert")).to_contain_text("You are signed out")
    assert "401" in window.complaints.pop(), "The library says so too."
    page.get_by_role("button", name="Write").first.click()
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.get_by_label("Your text")).to_have_value("Oil it *well*, and oil it often")
    page.get_by_role("link", name="sign in").click()
    page.get_by_label("Username or email").fill(person.username)
    page.get_by_label("Password").fill(person.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Rust on the hinge")).to_be_visible()


def test_a_narrow_screen_shows_the_current_section(window: BrowserWindow, person: User, project: Project) -> None:
    window.page.set_viewport_size({"width": 360, "height": 740})
    page = window.set_session(person).open(f"/{project.path}/-/hooks")

    expect(page.get_by_role("navigation", name="Project").get_by_role("link", name="Settings")).to_be_in_viewport()
    expect(page.get_by_role("link", name="Hooks")).to_be_in_viewport()


def test_a_name_does_not_change_the_direction_of_its_line(
    window: BrowserWindow, person: User, project: Project, make: Make
) -> None:
    """Attack: a bidirectional control character in a title reorders the rest of the line."""
    make_issue(make, project, person, title="abc \u202e fed")
    page = window.set_session(person).open(f"/{project.path}/-/issues")

    title = page.get_by_role("link", name="abc").first
    assert title.evaluate("element => getComputedStyle(element).unicodeBidi") == "isolate"


def test_a_download_shows_its_progress(
    window: BrowserWindow, person: User, project: Project, api: Api, tmp_path: Path
) -> None:
    """Until it starts; a second click meanwhile starts no other."""
    file = {"branch": "master", "content": "x", "commit_message": "Begin"}
    assert api.post(f"{project.url}/repository/files/hinge.txt", person, **file).status_code == 201
    asked: list[str] = []
    window.page.on("request", lambda request: asked.append(request.url))
    page = window.set_session(person).open(f"/{project.path}")
    page.get_by_text("Clone", exact=True).click()
    link = page.get_by_role("link", name="Download zip")

    with page.expect_download() as begun:
        shown = link.evaluate("link => { link.click(); link.click(); return [link.textContent, link.ariaBusy] }")

    assert shown == ["Preparing download…", "true"]
    begun.value.save_as(tmp_path / "hinge.zip")
    assert any(name.endswith("/hinge.txt") for name in ZipFile(tmp_path / "hinge.zip").namelist())
    expect(link).to_be_visible()
    assert (link.get_attribute("aria-busy"), "began=" in str(link.get_attribute("href"))) == (None, False)
    assert sum("/-/archive/" in address for address in asked) == 1


def test_keyboard_shortcuts_are_listed_and_can_be_disabled(
    window: BrowserWindow, person: User, project: Project
) -> None:
    """Speech input would trigger them (WCAG 2.1.4)."""
    page = window.set_session(person).open(f"/{project.path}/-/issues/1")
    keys = page.get_by_role("checkbox", name="Enable keyboard shortcuts")
    expect(keys).not_to_be_visible()
    page.keyboard.press("?")
    expect(keys).to_be_checked()
    assert window.violations() == []
    page.keyboard.press("Escape")
    expect(keys).not_to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("combobox", name="Search")).to_be_focused()

    page.get_by_text("Keyboard shortcuts", exact=True).click()
    keys.uncheck()
    page.reload()
    page.keyboard.press("/")
    page.keyboard.press("?")
    expect(page.get_by_role("combobox", name="Search")).not_to_be_focused()
    expect(keys).not_to_be_visible()
