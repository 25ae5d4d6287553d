"""Watch menu on the pages of projects and groups, and the page of their notification settings."""

import re

import pytest

from tests.client import Make, User
from tests.factories import make_group, make_project
from tests.web.browser import Browser
from tests.web.merge_requests.scene import Open

_LEVELS = ("watch", "participating", "mention", "disabled", "global")


@pytest.fixture(params=["project", "group"])
def subject(request: pytest.FixtureRequest, make: Make) -> tuple[str, str]:
    """Return the page and the API path of a public project or group of somebody else."""
    if request.param == "project":
        project = make_project(make, visibility="public")
        return f"/{project.path}", project.url
    group = make_group(make, visibility="public")
    return f"/groups/{group.path}", f"/groups/{group.id}"


def test_a_level_is_chosen_in_the_menu(
    make: Make, person: User, open_browser: Open, browser: Browser, subject: tuple[str, str]
) -> None:
    page, api = subject
    settings, address = f"{api}/notification_settings", f"{page}/-/notification_settings"
    assert "watch-menu" not in browser.get(page).text, "Visitors have no notifications."
    browser.signed_in_as(person)
    assert 'value="global" aria-pressed="true"' in browser.get(page).text
    for level in _LEVELS:
        sent = browser.submit(page, address, fields={"level": level}, does="put")
        assert (sent.status_code, sent.headers["location"]) == (302, page)
        assert make.api.get(settings, person).json() == {"level": level}
        shown = browser.get(page).text
        assert "Notification settings saved." in shown
        assert re.findall(r'name="level" value="(\w+)" aria-pressed="true"', shown) == [level]
    assert "Global: use the global setting" in browser.get(address).text


def test_single_events_are_chosen_on_the_page(
    make: Make, person: User, browser: Browser, subject: tuple[str, str]
) -> None:
    page, api = subject
    settings, address = f"{api}/notification_settings", f"{page}/-/notification_settings"
    browser.signed_in_as(person)
    fields = {"level": "custom", "new_issue": "1", "merge_merge_request": "1"}
    assert browser.submit(address, address, fields=fields, does="put").headers["location"] == page
    stored = make.api.get(settings, person).json()
    assert stored["level"] == "custom"
    assert {name for name, on in stored["events"].items() if on} == {"new_issue", "merge_merge_request"}
    shown = browser.get(address).text
    assert re.findall(r'name="(\w+)" value="\w+" checked>', shown) == ["level", "new_issue", "merge_merge_request"]
    assert browser.submit(page, address, fields={"level": "watch"}, does="put").status_code == 302
    assert make.api.put(settings, person, level="custom").json() == stored, "Another level keeps the events."
    assert make.api.get(settings, make.root).json()["level"] == "global", "Others keep their own."


def test_bad_levels_and_visitors_are_refused(
    make: Make, person: User, browser: Browser, open_browser: Open, subject: tuple[str, str]
) -> None:
    page, api = subject
    address = f"{page}/-/notification_settings"
    browser.signed_in_as(person)
    token = browser.token()
    for fields in ({"level": "loud"}, {"level": ""}, {}, {"level[]": "watch"}):
        sent = browser.post(address, data={"authenticity_token": token, "_method": "put", **fields})
        assert (sent.status_code, 'role="alert"' in sent.text) == (422, True), fields
    assert make.api.get(f"{api}/notification_settings", person).json() == {"level": "global"}
    visitor = open_browser()
    assert visitor.get(address).headers["location"].startswith("/users/sign_in")
    make.api.put(api, make.root, visibility="private")
    assert browser.get(address).status_code == 404
    sent = browser.post(address, data={"authenticity_token": token, "_method": "put", "level": "watch"})
    assert sent.status_code == 404
