"""Search in the choices of a form, and the assignment to the own user."""

from playwright.sync_api import expect

from tests.browser.conftest import BrowserWindow
from tests.client import Make, User
from tests.factories import make_project


def test_labels_are_searched_and_choices_kept(window: BrowserWindow, make: Make, person: User) -> None:
    project = make_project(make, person)
    for name in ("bug", "build", "docs"):
        make.api.post(f"{project.url}/labels", person, name=name, color="#aa0000")
    page = window.set_session(person).open(f"/{project.path}/-/issues/new")
    page.get_by_label("Title").fill("Rust")
    page.get_by_label("docs").check()
    page.get_by_role("searchbox", name="Search labels").fill("bu")
    expect(page.get_by_label("bug")).to_be_visible()
    expect(page.get_by_label("docs")).to_be_checked()
    page.get_by_label("bug").check()
    page.get_by_role("button", name="Assign to me").click()
    expect(page.get_by_role("button", name="Assign to me")).to_be_hidden()
    assert window.violations() == []
    page.get_by_role("button", name="Create issue").click()
    page.wait_for_url("**/-/issues/1")
    issue = make.api.get(f"{project.url}/issues/1", person).json()
    assert issue["labels"] == ["bug", "docs"]
    assert [user["id"] for user in issue["assignees"]] == [person.id]
