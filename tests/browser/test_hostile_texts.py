"""Hostile texts in a real browser: nothing runs, no external request is made, no dialog opens."""

from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest

from tests.browser.conftest import BrowserWindow
from tests.client import Make
from tests.conftest import Instance
from tests.sample_data.records import SampleData, open_sample_data
from tests.sample_data.texts import MARK, SampleTexts

OF_PROJECT = ["", "/-/issues", "/-/issues/1", "/-/boards", "/-/merge_requests/1", "/-/merge_requests/1/diffs"]
OF_PROJECT += ["/-/branches", "/-/releases", "/-/commits/master", "/-/wikis", "/-/labels", "/-/hooks", "/-/find_file"]
# Elements and attributes created from texts anywhere in the page, and the effects of their scripts.
_ALIVE = """mark => [
  ...document.querySelectorAll("script:not([src]), style, [style*=zqx], iframe, base"),
  ...[...document.querySelectorAll("*")].filter((each) => each.localName.includes(mark)
    || [...each.attributes].some((held) => held.name.startsWith("on") || held.name.includes(mark))),
].map((each) => each.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def samples(instance: Instance, make: Make) -> Iterator[SampleData]:
    """Yield sample data of hostile texts."""
    with open_sample_data(instance, make, SampleTexts(hostile=True)) as samples:
        yield samples


def test_hostile_texts_run_nothing(open_window: Callable[..., BrowserWindow], samples: SampleData) -> None:
    window = open_window().set_session(samples.owner)
    page = window.page
    page.on("dialog", lambda dialog: window.complaints.append(f"a dialog: {dialog.message}"))
    page.add_init_script(f"window.{MARK} = () => console.error('it ran')")
    file = f"/-/blob/master/{quote(samples.named['file'])}"
    found = {}
    for path in [
        "/",
        f"/{samples.owner.username}",
        *(f"/{samples.project.path}{each}" for each in [*OF_PROJECT, file]),
    ]:
        window.open(path)
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
        found[path] = page.evaluate(_ALIVE, MARK)

    assert {path: elements for path, elements in found.items() if elements} == {}


def test_scripts_insert_hostile_texts_safely(open_window: Callable[..., BrowserWindow], samples: SampleData) -> None:
    """File finder, preview and autocompletion build elements by script."""
    window = open_window().set_session(samples.owner)
    window.page.add_init_script(f"window.{MARK} = () => console.error('it ran')")

    page = window.open(f"/{samples.project.path}/-/find_file/master")
    page.get_by_placeholder("File path").press_sequentially("moon")
    page.get_by_role("link", name="moon").first.wait_for()
    assert page.evaluate(_ALIVE, MARK) == []

    page = window.open(f"/{samples.project.path}/-/issues/new")
    page.get_by_role("textbox", name="Description").fill(samples.words.markdown("Seen"))
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("Seen").last.wait_for()
    assert page.evaluate(_ALIVE, MARK) == []
