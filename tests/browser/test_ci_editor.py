"""The pipeline editor in the browser: views, checks while typing, and the commit."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PASSWORD, BrowserWindow
from tests.ci.pipelines.files import commit_files
from tests.client import Make
from tests.factories import make_project

_CONFIG = """stages: [build, test]
build: {stage: build, script: [make]}
unit: {stage: test, script: [make test], needs: [build]}
lint: {stage: test, script: [make lint]}
"""


@pytest.mark.parametrize("width", [1440, 390])
def test_file_is_checked_while_typing_and_committed(make: Make, window: BrowserWindow, width: int) -> None:
    person = make.user(password=PASSWORD)
    project = make_project(make, person)
    commit_files(make, project, {".gitlab-ci.yml": _CONFIG}, user=person)
    window.page.set_viewport_size({"width": width, "height": 900})
    page = window.set_session(person).open(f"/{project.path}/-/ci/editor")
    editor = page.get_by_role("textbox", name="Configuration")
    status = page.locator("#ci-result [role=status]")
    expect(status).to_contain_text("The configuration is valid.")
    assert window.violations() == []
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("deploy: {stage: nowhere, script: [x]}")
    expect(status).to_contain_text("The configuration is invalid.")
    expect(page.locator("#ci-result")).to_contain_text("chosen stage nowhere does not exist")
    assert window.violations() == []
    for _ in "nowhere, script: [x]}":
        page.keyboard.press("Backspace")
    page.keyboard.type("test, script: [x], needs: [unit]}")
    expect(status).to_contain_text("The configuration is valid.")
    # The views are reached and opened with the keyboard, and keep the text.
    page.get_by_role("button", name="Visualize").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-job]")).to_have_count(4)
    expect(page.locator(".ci-needs path")).to_have_count(2 if width > 800 else 0)
    expect(editor).to_be_hidden()
    assert window.violations() == []
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name="deploy", exact=True)).to_be_visible()
    assert window.violations() == []
    page.get_by_role("button", name="Full configuration").click()
    expect(page.get_by_text("- make lint")).to_be_visible()
    assert window.violations() == []
    page.get_by_role("button", name="Commit changes").click()
    page.get_by_text("File committed.").wait_for()
    file = make.api.get(f"{project.url}/repository/files/.gitlab-ci.yml/raw", person, ref="main")
    assert file.text.endswith("deploy: {stage: test, script: [x], needs: [unit]}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
