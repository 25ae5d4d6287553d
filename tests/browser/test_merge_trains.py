"""A merge train in a browser: merge requests join it, and its page follows the pipelines."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import BrowserWindow
from tests.ci.merge_trains.train_project import TrainProject
from tests.client import Make
from tests.conftest import Instance


@pytest.mark.parametrize("width", [1440, 390])
def test_from_the_button_to_the_merge(window: BrowserWindow, make: Make, instance: Instance, width: int) -> None:
    trains = TrainProject(make, instance)
    first, second = trains.offer("first"), trains.offer("second")
    base = f"/{trains.project.path}/-"
    window.page.set_viewport_size({"width": width, "height": 900})
    page = window.set_session(make.root).open(f"{base}/merge_requests/{first['iid']}")
    page.get_by_role("button", name="Add to merge train").click()
    expect(page.get_by_role("heading", name="In the merge train")).to_be_visible()
    trains.work()
    expect(page.get_by_text("tests it with those before it")).to_be_visible()
    assert trains.add(second).status_code == 201

    page.get_by_role("link", name="View merge trains").click()
    train = page.get_by_role("region", name="Merge train into main")
    expect(train.get_by_role("listitem")).to_have_text([re.compile("Merge first"), re.compile("Merge second")])
    page.locator("[data-live-state=open]").wait_for(state="attached")
    trains.end(first)
    expect(page.get_by_role("region", name="Merged by trains")).to_contain_text("Merge first")
    expect(train.get_by_role("listitem")).to_have_text([re.compile("1 of 1")])

    train.get_by_role("button", name=f"Remove !{second['iid']} from the merge train").click()
    expect(page.get_by_role("heading", name="Ready to merge")).to_be_visible()
    trains.work()
    assert trains.iids() == []
    assert [trains.shown(each)["state"] for each in (first, second)] == ["merged", "opened"]
    assert window.complaints == []


@pytest.mark.parametrize("width", [1440, 390])
def test_auto_merge_waits_for_a_draft(window: BrowserWindow, make: Make, instance: Instance, width: int) -> None:
    trains = TrainProject(make, instance, merge_trains_enabled=False)
    draft = trains.offer("draft", title="Draft: x")
    window.page.set_viewport_size({"width": width, "height": 900})
    page = window.set_session(make.root).open(f"/{trains.project.path}/-/merge_requests/{draft['iid']}")
    page.get_by_role("button", name="Set to auto-merge").click()
    expect(page.get_by_role("heading", name="Set to merge when all checks pass")).to_be_visible()
    expect(page.get_by_text("The merge request is a draft. Mark it as ready.")).to_be_visible()
    make.api.put(f"{trains.project.url}/merge_requests/{draft['iid']}", make.root, title="x")
    trains.work()
    assert trains.shown(draft)["state"] == "merged"
    assert window.complaints == []
