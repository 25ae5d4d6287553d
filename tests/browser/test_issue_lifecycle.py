"""Life cycle of an issue in a real browser: preview, task list, comments, closing."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, expect

from tests.browser.conftest import BrowserWindow
from tests.client import Api, Make, User
from tests.factories import Project, make_project


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return a project of the user."""
    return make_project(make, person, visibility="public")


def test_issue_life_cycle(window: BrowserWindow, person: User, project: Project, api: Api) -> None:
    api.post(f"{project.url}/labels", person, name="leak", color="#d9534f")
    page = window.set_session(person).open(f"/{project.path}/-/issues")
    page.get_by_role("link", name="New issue").first.click()
    page.get_by_label("Title").fill("Water in the cellar")
    page.get_by_label("Description").fill("It is **wet**\n\n- [ ] find the leak\n- [ ] mend it")

    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".preview strong")).to_have_text("wet")
    page.get_by_role("button", name="Create issue").click()

    expect(page.get_by_role("heading", name="Water in the cellar")).to_be_visible()
    page.locator(".prose li").first.locator("button, input").first.click()
    expect(page.get_by_text("1 of 2 tasks done")).to_be_visible()
    page.get_by_label("Comment", exact=True).fill("I saw it too.\n\n/label ~leak\n/estimate 2h")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.get_by_text("I saw it too.")).to_be_visible()
    expect(page.locator("main .label", has_text="leak").first).to_be_visible()
    page.get_by_role("button", name="Close issue").first.click()
    expect(page.locator(".about .state")).to_have_text("Closed")
    assert api.get(f"{project.url}/issues/1", person).json()["state"] == "closed"


def test_concurrent_edits_of_a_description(
    open_window: Callable[..., BrowserWindow], person: User, project: Project, api: Api
) -> None:
    """Checking a task of an outdated description changes nothing else."""
    api.post(f"{project.url}/issues", person, title="Tasks", description="- [ ] one\n- [ ] two")
    page = open_window().set_session(person).open(f"/{project.path}/-/issues/1")
    api.put(f"{project.url}/issues/1", person, description="All is different now\n\n- [ ] three")

    page.locator(".prose li").first.locator("button, input").first.click()
    page.wait_for_load_state()

    text = api.get(f"{project.url}/issues/1", person).json()["description"]
    assert text.startswith("All is different now")


def test_sidebar_and_emoji_by_keyboard(window: BrowserWindow, person: User, project: Project, api: Api) -> None:
    """Selections stay during a search, Escape cancels, and focus is kept."""
    for name in ("leak", "cellar"):
        api.post(f"{project.url}/labels", person, name=name, color="#d9534f")
    api.post(f"{project.url}/issues", person, title="Water")
    page = window.set_session(person).open(f"/{project.path}/-/issues/1")
    edit = page.get_by_role("link", name="Edit labels")

    edit.click()
    search = page.get_by_role("searchbox", name="Search labels")
    expect(search).to_be_focused()  # Before that, the script is not attached yet.
    search.fill("cel")
    expect(page.get_by_label("leak")).to_have_count(0)
    page.get_by_label("cellar").press("Space")
    search.fill("leak")
    page.get_by_label("leak").press("Space")
    assert window.violations() == []
    page.get_by_role("button", name="Save").press("Enter")
    expect(edit).to_be_focused()
    expect(page.locator(".sidebar-field .label")).to_have_text(["cellar", "leak"])
    expect(page.locator(".discussions > .event")).to_contain_text("added")
    expect(page.get_by_text("No comments yet.")).to_be_hidden()
    page.get_by_role("link", name="Edit due date").press("Enter")
    expect(page.locator("#field_due_date")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Edit due date")).to_be_focused()

    page.get_by_role("link", name="Add reaction").press("Enter")
    search = page.get_by_role("searchbox", name="Search emoji")
    expect(search).to_be_focused()
    search.fill("sailb")
    expect(page.get_by_role("button", name="React with thumbsup")).to_have_count(0)
    assert window.violations() == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="sailboat: 1")).to_be_visible()
    assert api.get(f"{project.url}/issues/1", person).json()["labels"] == ["cellar", "leak"]


def test_a_card_is_moved_by_keyboard(window: BrowserWindow, person: User, project: Project, api: Api) -> None:
    api.post(f"{project.url}/issues", person, title="A card")
    page = window.set_session(person).open(f"/{project.path}/-/boards")

    choice = page.get_by_label("Move #1 to")
    choice.focus()
    choice.select_option(label="Closed")
    page.get_by_role("button", name="Move").first.press("Enter")
    page.wait_for_load_state()

    expect(page.get_by_text("A card")).to_be_visible()
    assert api.get(f"{project.url}/issues/1", person).json()["state"] == "closed"


def test_a_template_replaces_typed_text_only_after_confirmation(
    window: BrowserWindow, person: User, project: Project, api: Api
) -> None:
    for name in ("Bug", "Idea"):
        sent = {"branch": "master", "commit_message": "Offer it", "content": f"What is the {name.lower()}?"}
        made = api.post(f"{project.url}/repository/files/.gitlab%2Fissue_templates%2F{name}.md", person, **sent)
        assert made.status_code == 201
    page = window.set_session(person).open(f"/{project.path}/-/issues/new")
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    text = page.get_by_label("Description")

    page.get_by_role("link", name="Bug").click()
    expect(text).to_have_value("What is the bug?")
    page.get_by_role("link", name="Idea").click()
    expect(text).to_have_value("What is the idea?")
    assert asked == [], "No input was lost."
    text.fill("My own words")
    page.get_by_role("link", name="Bug").click()

    expect(text).to_have_value("My own words")
    assert asked == ["Replace the description with this template?"]
