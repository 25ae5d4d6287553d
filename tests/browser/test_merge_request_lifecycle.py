"""Life cycle of a merge request in a real browser: push, conflict, line discussion, merge."""

import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import BrowserWindow
from tests.client import Api, Make, User
from tests.factories import Project, make_project

FILE = "tides.txt"


@pytest.fixture
def project(make: Make, person: User, api: Api) -> Project:
    """Return a project with a branch that changes a file."""
    made = make_project(make, person, visibility="public")
    _write(api, person, made, "POST", "master", "low\nhigh\n")
    api.post(f"{made.url}/repository/branches", person, branch="topic", ref="master")
    _write(api, person, made, "PUT", "topic", "low\nhighest\n")
    return made


def _write(api: Api, person: User, project: Project, method: str, branch: str, content: str) -> None:
    sent = {"branch": branch, "content": content, "commit_message": f"Write {content.split()[-1]}"}
    answer = api.request(method, f"{project.url}/repository/files/{FILE}", person, json=sent)
    assert answer.status_code in (200, 201), answer.text


def test_from_open_to_merged_with_a_conflict(
    window: BrowserWindow, person: User, project: Project, api: Api, tmp_path: Path
) -> None:
    page = window.set_session(person).open(f"/{project.path}/-/merge_requests/new?merge_request[source_branch]=topic")
    _open(page)
    expect(page.get_by_role("heading", name="Ready to merge")).to_be_visible()

    _write(api, person, project, "PUT", "master", "low\nlower\n")
    page.reload()
    expect(page.get_by_role("heading", name="Not ready to merge")).to_be_visible()
    expect(page.get_by_role("link", name="Resolve conflicts")).to_be_visible()
    expect(page.get_by_text("Resolve conflicts locally")).to_be_visible()
    page.clock.install()
    page.reload()
    _solve(f"{window.url}/{project.path}.git".replace("://", f"://x:{person.token}@"), tmp_path)
    page.clock.fast_forward(15_000)  # The merge box refreshes itself.
    expect(page.get_by_role("heading", name="Ready to merge")).to_be_visible()

    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.locator(".state.merged").first).to_be_visible()
    assert api.get(f"{project.url}/merge_requests/1", person).json()["state"] == "merged"


def _solve(url: str, folder: Path) -> None:
    """Resolve the conflict locally, as the page describes."""
    who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    commands = (
        ["clone", "-q", "-b", "topic", url, "."],
        ["merge", "-q", "-X", "ours", "origin/master"],
        ["push", "-q"],
    )
    for command in commands:
        subprocess.run(["git", *who, *command], cwd=folder, check=True, capture_output=True)


def _open(page: Page) -> None:
    if page.get_by_role("button", name="Create merge request").count() == 0:
        page.get_by_role("button", name="Compare").first.click()
    page.get_by_label("Title").fill("Say how high")
    page.get_by_role("button", name="Create merge request").click()
    expect(page.get_by_role("heading", name="Say how high")).to_be_visible()


def test_a_discussion_on_a_line(window: BrowserWindow, person: User, project: Project, api: Api) -> None:
    sent = {"source_branch": "topic", "target_branch": "master", "title": "Say how high"}
    api.post(f"{project.url}/merge_requests", person, **sent)
    page = window.set_session(person).open(f"/{project.path}/-/merge_requests/1/diffs")

    page.locator("table.diff a[href*='at=']").last.click()
    page.locator("form.line-comment textarea").fill("Is this in metres?")
    page.get_by_role("button", name="Add comment now").click()

    expect(page.get_by_text("Is this in metres?")).to_be_visible()
    notes = api.get(f"{project.url}/merge_requests/1/discussions", person).json()
    placed = [note for talk in notes for note in talk["notes"] if note.get("position")]
    assert placed[0]["position"]["new_path"] == FILE
    page.get_by_role("button", name="Resolve").first.click()
    expect(page.get_by_role("button", name="Unresolve").or_(page.get_by_text("Resolved:")).first).to_be_attached()
