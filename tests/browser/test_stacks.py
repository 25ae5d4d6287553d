"""Moving through a stack of merge requests with the keyboard, and merging it."""

import pytest
from playwright.sync_api import expect

from tests.api.merge_requests.factories import filled_project
from tests.api.merge_requests.stacks import make_stack
from tests.browser.conftest import BrowserWindow
from tests.client import Api, Make, User


@pytest.mark.parametrize("width", [1440, 390])
def test_keys_move_between_layers_and_the_stack_is_merged(
    window: BrowserWindow, person: User, make: Make, api: Api, width: int
) -> None:
    project = filled_project(make, person)
    layers = make_stack(make, project, person, ["parser", "checker", "printer", "editor"])
    base = f"/{project.path}/-/merge_requests"
    window.page.set_viewport_size({"width": width, "height": 900})
    page = window.set_session(person).open(f"{base}/{layers[1]['iid']}")
    expect(page.get_by_text("Layer 2 of 4")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_text("Layer 3 of 4")).to_be_visible()
    page.goto(f"{window.url}{base}/{layers[2]['iid']}/diffs")
    page.keyboard.press("d")
    expect(page.get_by_text("Layer 2 of 4")).to_be_visible()
    assert page.url.endswith(f"{layers[1]['iid']}/diffs")
    page.goto(f"{window.url}{base}/{layers[3]['iid']}")
    button = page.get_by_role("button", name="Merge this and everything below")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".state.merged").first).to_be_visible()
    states = {one["state"] for one in api.get(f"{project.url}/merge_requests", person).json()}
    assert states == {"merged"}
