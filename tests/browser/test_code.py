"""Repository pages in a real browser: content loaded by scripts."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import BrowserWindow
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History, repository_of, run


@pytest.fixture
def project(instance: Instance, make: Make, person: User) -> Project:
    """Return a project with a file of a hundred lines, of which the last commit changed one in the middle."""
    made = make_project(make, person, visibility="public")
    lines = [f"line {number}" for number in range(1, 101)]
    history = History()
    history.commit(files={"lib/tides.py": "\n".join([*lines, ""]), "README.md": "Read\n"}, message="Begin")
    lines[49] = "changed"
    history.commit(files={"lib/tides.py": "\n".join([*lines, ""])}, message="Change the middle")
    history.fill(instance, made)
    return made


def test_code_is_browsed_and_commented(window: BrowserWindow, person: User, project: Project, api: Api) -> None:
    page = window.set_session(person).open(f"/{project.path}")
    expect(page.locator(".files td.commit").get_by_text("Change the middle")).to_be_visible()

    page.keyboard.press("t")
    box = page.get_by_label("File path")
    expect(box).to_be_focused()
    with page.expect_response("**/find_file/**"):
        page.reload()
    box.fill("ltides")
    expect(page.locator(".file-matches .selected")).to_have_text("lib/tides.py")
    box.press("Enter")
    expect(page).to_have_url(f"{window.url}/{project.path}/-/blob/master/lib/tides.py")

    page.get_by_role("link", name="Change the middle").first.click()
    expect(page.locator("table.diff tr").get_by_text("line 46", exact=True)).to_have_count(0)
    page.get_by_role("link", name="Show 20 more lines above").click()
    expect(page.locator("table.diff tr").get_by_text("line 46", exact=True)).to_be_visible()
    page.get_by_role("link", name="Show 20 more lines below").click()
    expect(page.locator("table.diff tr").get_by_text("line 73", exact=True)).to_be_visible()
    assert window.violations() == []

    page.locator("table.diff .add a").click()
    page.get_by_label("Comment on line 50").fill("Is this in metres?")
    page.get_by_role("button", name="Comment", exact=True).first.click()
    expect(page.locator("tr.discussion").get_by_text("Is this in metres?")).to_be_visible()
    (comment,) = api.get(f"{project.url}/repository/commits/master/comments", person).json()
    assert (comment["path"], comment["line"]) == ("lib/tides.py", 50)


def test_commit_pages_at_full_width(
    instance: Instance, window: BrowserWindow, person: User, project: Project, api: Api
) -> None:
    """The id and all labels are on one line, and the badges of the signature and the pipeline are aligned."""
    oid = _add_signed_commit(instance, project)
    posted = api.post(f"{project.url}/statuses/{oid}", person, state="success", name="build", ref="signed")
    assert posted.status_code == 201, posted.text

    window.page.set_viewport_size({"width": 1440, "height": 900})
    page = window.set_session(person).open(f"/{project.path}/-/commit/{oid}")

    shown = page.locator(".properties dd span.mono.wrap")
    assert (shown.inner_text(), shown.evaluate(_LINES)) == (oid, 1)
    assert {label.evaluate(_LINES) for label in page.locator(".properties dt").all()} == {1}
    heights = [badge.evaluate("each => each.getBoundingClientRect().height") for badge in page.locator(".state").all()]
    assert (len(heights), len(set(heights))) == (2, 1), heights

    page = window.open(f"/{project.path}/-/commits/signed")
    tops = [
        badge.evaluate("each => each.getBoundingClientRect().top") for badge in page.locator(".commits .state").all()
    ]
    assert (len(tops), len(set(tops))) == (2, 1), tops
    page.locator(".signature summary").click()
    explanation = page.locator(".signature .sheet").evaluate("each => each.getBoundingClientRect().top")
    badge = page.locator(".signature summary").evaluate("each => each.getBoundingClientRect().bottom")
    assert explanation >= badge


_LINES = """element => {
    const content = document.createRange();
    content.selectNodeContents(element);
    return content.getClientRects().length;
}"""
_SIGNATURE = "gpgsig -----BEGIN SSH SIGNATURE-----\n U1NIU0lH\n -----END SSH SIGNATURE-----"


def _add_signed_commit(instance: Instance, project: Project) -> str:
    """Add a commit with a signature, which need not be valid, in a branch of its own; return its id."""
    path = repository_of(instance, project).path
    header, message = run(path, "cat-file", "commit", "master").split("\n\n", 1)
    content = f"{header}\n{_SIGNATURE}\n\n{message}\n"
    oid = run(path, "hash-object", "-t", "commit", "-w", "--stdin", input=content.encode())
    run(path, "update-ref", "refs/heads/signed", oid)
    return oid
