"""The code editor of files in the browser."""

from playwright.sync_api import expect

from tests.api.merge_requests.factories import commit, filled_project
from tests.browser.conftest import PASSWORD, BrowserWindow
from tests.client import Make


def test_file_is_edited_previewed_and_committed(make: Make, window: BrowserWindow) -> None:
    person = make.user(password=PASSWORD)
    project = filled_project(make, person)
    commit(make, project, "master", {"tool.py": "def run():\n    return 1\n"}, person)
    page = window.set_session(person).open(f"/{project.path}/-/edit/master/tool.py")
    editor = page.get_by_role("textbox", name="Content")
    expect(page.locator(".cm-lineNumbers")).to_contain_text("2")
    expect(page.locator("textarea#content")).to_be_hidden()
    word = page.locator(".cm-line span", has_text="def").first
    assert word.evaluate("span => getComputedStyle(span).color") != page.evaluate(
        "getComputedStyle(document.body).color"
    )
    assert window.violations() == []
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("if True:")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("run()")
    page.get_by_role("button", name="Preview changes").click()
    expect(page.locator("#changes .plus")).to_have_text("+2")
    page.get_by_role("button", name="Commit changes").click()
    page.get_by_text("File committed.").wait_for()
    file = make.api.get(f"{project.url}/repository/files/tool.py/raw", person, ref="master")
    assert file.text == "def run():\n    return 1\nif True:\n    run()"
