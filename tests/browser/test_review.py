"""Reviews in a real browser: by mouse and by keyboard, and a conflict that is resolved on a page."""

import base64
import struct
import zlib

import pytest
from playwright.sync_api import Page, expect

from tests.api.merge_requests.factories import commit
from tests.browser.conftest import BrowserWindow
from tests.client import Api, Make, User
from tests.factories import Project, make_project

LINES = "".join(f"line {number}\n" for number in range(1, 13))


def _picture(red: int) -> str:
    """Return a small PNG image in one color."""
    rows = b"".join(b"\0" + bytes([red, 80, 80]) * 40 for _ in range(30))
    header = struct.pack(">IIBBBBB", 40, 30, 8, 2, 0, 0, 0)
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    ]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


def _draw(api: Api, person: User, project: Project, branch: str, action: str, red: int) -> None:
    file = {"action": action, "file_path": "chart.png", "encoding": "base64", "content": _picture(red)}
    sent = {"branch": branch, "commit_message": "Draw", "actions": [file]}
    answer = api.post(f"{project.url}/repository/commits", person, **sent)
    assert answer.status_code == 201, answer.text


@pytest.fixture
def project(make: Make, person: User, api: Api) -> Project:
    """Return a project with a merge request that changes a text and an image."""
    made = make_project(make, person, visibility="public")
    commit(make, made, "master", {"docs/tides.txt": LINES, "sea.txt": "salt\n"}, person)
    _draw(api, person, made, "master", "create", 200)
    changed = LINES.replace("line 3\n", "line three\nline three and a half\n")
    files = {"docs/tides.txt": changed, "sea.txt": "salt \nwater\n"}
    commit(make, made, "topic", files, person, start="master", action="update")
    _draw(api, person, made, "topic", "update", 20)
    api.post(f"{made.url}/merge_requests", person, source_branch="topic", target_branch="master", title="High water")
    return made


def _changes(window: BrowserWindow, person: User, project: Project) -> Page:
    return window.set_session(person).open(f"/{project.path}/-/merge_requests/1/diffs")


def test_a_review_by_keyboard_is_submitted_at_once(
    window: BrowserWindow, person: User, project: Project, api: Api
) -> None:
    page = _changes(window, person, project)
    page.keyboard.press("j")  # The first change has the focus; further ones follow.
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    field = page.locator("form.line-comment textarea")
    expect(field).to_be_focused()
    page.keyboard.type("Is this in metres?")
    page.get_by_role("button", name="Start a review").press("Enter")
    expect(page.locator(".note.pending")).to_contain_text("Is this in metres?")
    assert api.get(f"{project.url}/merge_requests/1/notes", person).json() == []
    assert window.violations() == []

    page.keyboard.press("]")
    expect(page.locator(".note.pending")).to_be_focused()
    page.locator(".review-menu summary").press("Enter")
    page.get_by_label("Summary").fill("Good")
    page.get_by_role("button", name="Submit review").press("Enter")
    expect(page.get_by_text("Review submitted.")).to_be_visible()
    bodies = [note["body"] for note in api.get(f"{project.url}/merge_requests/1/notes", person).json()]
    assert sorted(bodies) == ["Good", "Is this in metres?"]


def test_a_suggestion_for_two_lines_is_applied(window: BrowserWindow, person: User, project: Project, api: Api) -> None:
    page = _changes(window, person, project)
    links = page.locator("details:has(summary:has-text('docs/tides.txt')) tr.add td > a")
    links.nth(0).click()
    page.locator("form.line-comment").wait_for()
    links.nth(1).click(modifiers=["Shift"])
    expect(page.get_by_text("to line 4")).to_be_visible()
    expect(page.locator("form.line-comment")).to_have_count(1)
    page.get_by_role("button", name="Suggest a change").click()
    field = page.locator("form.line-comment textarea")
    expect(field).to_have_value("```suggestion:-1+0\nline three\nline three and a half\n```\n")
    page.keyboard.type("line 3.5")  # The inserted lines are selected.
    page.get_by_role("button", name="Add comment now").click()
    expect(page.locator(".suggestion")).to_contain_text("line 3.5")
    page.get_by_role("button", name="Apply suggestion", exact=True).click()
    expect(page.get_by_text("Suggestions applied.")).to_be_visible()
    raw = api.get(f"{project.url}/repository/files/docs%2Ftides.txt/raw", person, ref="topic").text
    assert raw == LINES.replace("line 3\n", "line 3.5\n")


def test_files_are_filtered_compared_and_marked_as_viewed(
    window: BrowserWindow, person: User, project: Project
) -> None:
    page = _changes(window, person, project)
    page.get_by_label("Filter files").fill("tides")
    expect(page.locator(".tree-file:visible")).to_have_count(1)
    expect(page.locator(".tree-folder:visible")).to_have_text("docs")
    page.get_by_label("Filter files").fill("")

    page.get_by_label("Viewed: sea.txt").check()
    expect(page.locator("[data-viewed-count]")).to_have_text("1")
    expect(page.locator("details.diff-file:not([open])")).to_have_count(1)
    page.reload()
    expect(page.locator("[data-viewed-count]")).to_have_text("1")
    expect(page.locator("details.diff-file:not([open]) summary")).to_contain_text("sea.txt")

    page.get_by_role("button", name="Swipe").click()
    page.get_by_label("Position").fill("30")
    assert (
        page.locator(".image-pair figure").last.evaluate("figure => figure.style.clipPath") == "inset(0px 0px 0px 30%)"
    )
    page.get_by_role("link", name="Hide white space").click()
    expect(page.get_by_role("link", name="White space hidden")).to_be_visible()


def test_a_conflict_is_resolved_and_merged(
    window: BrowserWindow, make: Make, person: User, project: Project, api: Api
) -> None:
    commit(
        make, project, "master", {"docs/tides.txt": LINES.replace("line 3\n", "line drei\n")}, person, action="update"
    )
    page = window.set_session(person).open(f"/{project.path}/-/merge_requests/1")
    page.get_by_role("link", name="Resolve conflicts").click()
    assert window.violations() == []
    page.get_by_label("Use topic source").check()
    page.get_by_role("button", name="Commit to source branch").click()
    expect(page.get_by_text("Conflicts resolved.")).to_be_visible()
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.locator(".state.merged").first).to_be_visible()
    raw = api.get(f"{project.url}/repository/files/docs%2Ftides.txt/raw", person, ref="master").text
    assert "line three and a half" in raw
