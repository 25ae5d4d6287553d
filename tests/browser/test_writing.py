"""Editors in the browser: formatting, completion, attachments and drafts, by keyboard and by mouse."""

import re
from collections.abc import Callable

from playwright.sync_api import Dialog, Page, expect

from tests.browser.conftest import PASSWORD, BrowserWindow
from tests.client import Make
from tests.factories import make_project


def _editor(make: Make, window: BrowserWindow) -> tuple[Page, str]:
    person = make.user(password=PASSWORD)
    project = make_project(make, person)
    make.api.post(f"{project.url}/issues", person, title="First problem")
    make.api.post(f"{project.url}/labels", person, name="needs work", color="#aa0000")
    return window.set_session(person).open(f"/{project.path}/-/issues/1"), person.username


def test_formatting_and_completion(make: Make, window: BrowserWindow) -> None:
    page, username = _editor(make, window)
    field = page.locator("#comment")
    field.fill("word")
    field.select_text()
    page.keyboard.press("Control+b")
    assert field.input_value() == "**word**"
    page.keyboard.press("Control+b")
    assert field.input_value() == "word"
    page.get_by_role("toolbar").first.get_by_role("button", name="Task list").click()
    assert field.input_value() == "- [ ] word"
    field.focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert field.input_value() == "- [ ] word\n- [ ] "
    page.keyboard.press("Enter")
    assert field.input_value() == "- [ ] word\n"

    page.keyboard.type(f"@{username[:4]}")
    page.locator("[role=option]").first.wait_for()
    assert window.violations() == []
    page.keyboard.press("Enter")
    assert field.input_value().endswith(f"@{username} ")
    page.keyboard.type("see #fir")
    page.get_by_role("option", name="First problem").click()
    page.keyboard.type("~need")
    page.get_by_role("option", name="needs work").wait_for()
    page.keyboard.press("Tab")
    assert field.input_value().endswith(f'@{username} see #1 ~"needs work" ')
    page.keyboard.press("Enter")
    page.keyboard.type("/assi")
    page.get_by_role("option", name="/assign").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("option", name=username).wait_for()
    page.keyboard.press("Escape")
    expect(page.locator("[role=option]")).to_have_count(0)
    assert field.input_value().endswith("\n/assign @")


def test_attachment_and_preview(make: Make, window: BrowserWindow) -> None:
    page, _ = _editor(make, window)
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Attach files").first.click()
    chosen.value.set_files({"name": "notes.txt", "mimeType": "text/plain", "buffer": b"attached"})
    expect(page.locator("#comment")).to_have_value(re.compile(r"\[notes\.txt\]\(/uploads/.+\)"))
    page.locator("#comment").evaluate(
        """field => {
          const files = new DataTransfer();
          files.items.add(new File(["x"], "dropped.txt"));
          field.dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: files}));
        }"""
    )
    expect(page.locator("#comment")).to_have_value(re.compile(r"dropped\.txt\]\(/uploads/"))
    page.get_by_role("button", name="Preview").first.click()
    page.locator(".preview a", has_text="notes.txt").wait_for()


def test_drafts_stay_until_they_are_sent(make: Make, open_window: Callable[..., BrowserWindow]) -> None:
    window = open_window()
    page, _ = _editor(make, window)
    dialogs: list[str] = []

    def leave(dialog: Dialog) -> None:
        dialogs.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    page.locator("#comment").click()
    page.keyboard.type("Not sent yet")
    page.reload()
    assert dialogs == ["beforeunload"]
    expect(page.locator("#comment")).to_have_value("Not sent yet")
    page.get_by_role("button", name="Comment", exact=True).click()
    page.locator(".note").get_by_text("Not sent yet").wait_for()
    expect(page.locator("#comment")).to_have_value("")
    page.reload()
    expect(page.locator("#comment")).to_have_value("")
    assert dialogs == ["beforeunload"]
    page.locator("#comment").click()
    page.keyboard.type("Discarded")
    page.reload()
    page.get_by_role("button", name="Discard").click()
    page.reload()
    expect(page.locator("#comment")).to_have_value("")
