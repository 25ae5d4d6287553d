"""Suggestions of editors: what each caller is offered, and at which cost."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from ingot.collaboration.issues.quick_actions.definitions import ISSUE_COMMANDS
from ingot.collaboration.merge_requests.quick_actions.definitions import MERGE_REQUEST_COMMANDS
from ingot.web.discussions.quick_actions import QUICK_ACTIONS
from tests.client import Make, User
from tests.factories import Project, make_group, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD


def suggested(browser: Browser, trigger: str, search: str = "", **place: str) -> list[dict[str, Any]]:
    """Return the suggestions for a text."""
    query = urlencode({"trigger": trigger, "search": search, **place})
    answer = browser.get(f"/-/completions?{query}", headers={"HX-Request": "true"})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def values(browser: Browser, trigger: str, search: str = "", **place: str) -> list[str]:
    """Return the inserted texts of the suggestions."""
    return [each["value"] for each in suggested(browser, trigger, search, **place)]


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return a private project with an issue, a label and a milestone."""
    project = make_project(make, person, group=make_group(make, person), visibility="private")
    api = make.api
    api.post(f"{project.url}/issues", person, title="Cannot sign in")
    api.post(f"{project.url}/issues", person, title="Hidden plans", confidential=True)
    api.post(f"{project.url}/labels", person, name="needs work", color="#aa0000")
    api.post(f"{project.url}/labels", person, name="bug", color="#00aa00")
    api.post(f"{project.url}/milestones", person, title="v1.0")
    return project


def test_suggestions_of_a_project(
    make: Make, person: User, project: Project, open_browser: Callable[[], Browser]
) -> None:
    browser = open_browser().signed_in_as(person)
    place = {"root": "projects", "path": project.path}
    assert values(browser, "@", person.username, **place) == [f"@{person.username}"]
    assert values(browser, "#", "sign", **place) == ["#1"]
    assert values(browser, "#", "2", **place) == ["#2"]
    assert set(values(browser, "#", **place)) == {"#1", "#2"}
    assert suggested(browser, "~", "needs", **place) == [
        {"value": '~"needs work"', "name": "needs work", "color": "#aa0000"}
    ]
    assert values(browser, "~", "bug", **place) == ["~bug"]
    assert values(browser, "%", "v1", **place) == ['%"v1.0"']
    assert values(browser, "!", **place) == []
    assert ":tada:" in values(browser, ":", "tada")
    group = {"root": "groups", "path": project.path.rpartition("/")[0]}
    assert values(browser, "#", "sign", **group) == [f"{project.path}#1"]
    assert values(browser, "@", person.username, **group) == [f"@{person.username}"]
    guest = make.user(password=PASSWORD)
    make.api.post(f"{project.url}/members", person, user_id=guest.id, access_level=10)
    assert values(open_browser().signed_in_as(guest), "#", **place) == ["#1"], "The other one is confidential."


def test_other_users_get_no_suggestions(make: Make, project: Project, open_browser: Callable[[], Browser]) -> None:
    stranger = open_browser().signed_in_as(make.user(password=PASSWORD))
    query = urlencode({"trigger": "@", "root": "projects", "path": project.path})
    assert stranger.get(f"/-/completions?{query}").status_code == 404
    assert open_browser().get(f"/-/completions?{query}", headers={"HX-Request": "true"}).status_code == 401
    for nonsense in ("", "trigger=?", "trigger=@&root=users&path=x", "trigger=%00", "trigger[]=@"):
        answer = stranger.get(f"/-/completions?{nonsense}")
        assert (answer.status_code, answer.json()) == (200, [])


def test_quick_actions_are_those_that_exist(browser: Browser, person: User) -> None:
    assert set(QUICK_ACTIONS["issue"]) <= ISSUE_COMMANDS.names
    assert set(QUICK_ACTIONS["merge request"]) <= MERGE_REQUEST_COMMANDS.names
    browser.signed_in_as(person)
    assert values(browser, "/", "ass", subject="issue") == ["/assign @", "/unassign "]
    assert values(browser, "/", "merge", subject="issue") == []
    assert values(browser, "/", "merge", subject="merge request") == ["/merge "]
    assert values(browser, "/", "close") == []
