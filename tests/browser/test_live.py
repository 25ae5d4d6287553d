"""Live updates in two browsers: one user writes, the page of the other shows it."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.browser.conftest import PASSWORD, BrowserWindow
from tests.client import Make
from tests.factories import make_project

OPEN = "[data-live-state=open]"


def test_comment_of_another_user_appears(make: Make, open_window: Callable[..., BrowserWindow]) -> None:
    writer, reader = make.user(password=PASSWORD), make.user(password=PASSWORD)
    project = make_project(make, writer, visibility="internal")
    make.api.post(f"{project.url}/issues", writer, title="Watched")
    address = f"/{project.path}/-/issues/1"
    watched = open_window().set_session(reader).open(address)
    watched.locator(OPEN).wait_for(state="attached")
    watched.get_by_label("Comment", exact=True).fill("Half a thou")
    watched.evaluate("window.untouched = true")

    written = open_window().set_session(writer).open(address)
    written.get_by_label("Comment", exact=True).fill("First **words**")
    written.get_by_role("button", name="Comment", exact=True).click()
    watched.get_by_text("First words").wait_for()
    assert watched.get_by_text("No comments yet").count() == 0
    assert watched.get_by_label("Comment", exact=True).input_value() == "Half a thou"
    assert watched.evaluate("document.activeElement.id") == "comment"

    # A reply appears in the discussion in which the reader writes one, too.
    watched.get_by_role("link", name="Reply", exact=True).click()
    reply = watched.locator(".discussion textarea")
    reply.fill("Also half")
    written.get_by_role("link", name="Reply", exact=True).click()
    written.locator(".discussion textarea").fill("Second words")
    written.locator(".discussion").get_by_role("button", name="Comment", exact=True).click()
    watched.get_by_text("Second words").wait_for()
    assert reply.input_value() == "Also half"

    written.get_by_role("button", name="Close issue").first.click()
    watched.locator(".about").get_by_text("Closed", exact=True).wait_for()
    watched.get_by_text("closed", exact=True).first.wait_for()
    assert watched.evaluate("window.untouched") is True


def test_focus_stays_in_a_part_that_is_replaced(make: Make, open_window: Callable[..., BrowserWindow]) -> None:
    person = make.user(password=PASSWORD)
    project = make_project(make, person)
    make.api.post(f"{project.url}/issues", person, title="Watched")
    page = open_window().set_session(person).open(f"/{project.path}/-/issues/1")
    page.locator(OPEN).wait_for(state="attached")
    link = page.get_by_role("link", name="Edit labels")
    link.focus()

    make.api.put(f"{project.url}/issues/1", person, labels="urgent")

    page.locator("[data-live-part]").get_by_text("urgent", exact=True).first.wait_for()
    expect(link).to_be_focused()


def test_merge_box_follows_a_pipeline(make: Make, open_window: Callable[..., BrowserWindow]) -> None:
    person = make.user(password=PASSWORD)
    project = filled_project(make, person)
    request = make_merge_request(make, project, person)
    page = open_window().set_session(person).open(f"/{project.path}/-/merge_requests/{request['iid']}")
    page.locator(OPEN).wait_for(state="attached")
    page.get_by_label("Delete source branch").check()
    statuses = f"{project.url}/statuses/{request['sha']}"
    make.api.post(statuses, person, state="running", name="build", ref=request["source_branch"])
    page.get_by_role("button", name="Merge when pipeline succeeds").wait_for()
    assert page.get_by_label("Delete source branch").is_checked()
    make.api.post(statuses, person, state="success", name="build", ref=request["source_branch"])
    page.get_by_role("button", name="Merge", exact=True).wait_for()
    make.api.put(f"{project.url}/merge_requests/{request['iid']}/merge", person)
    page.get_by_role("heading", name="Merged", exact=True).wait_for()


def test_page_polls_without_a_stream(make: Make, open_window: Callable[..., BrowserWindow]) -> None:
    person = make.user(password=PASSWORD)
    project = make_project(make, person)
    make.api.post(f"{project.url}/issues", person, title="Watched")
    window = open_window().set_session(person)
    window.page.route("**/-/live?**", lambda route: route.fulfill(status=503))
    window.page.clock.install()
    page = window.open(f"/{project.path}/-/issues/1")
    page.locator("[data-live-state=polling]").wait_for(state="attached")
    make.api.post(f"{project.url}/issues/1/notes", person, body="Polled")
    page.clock.run_for(16_000)
    page.get_by_text("Polled").wait_for()
