"""Suggestions of the search field: what each caller is offered, and what stays hidden."""

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import urlencode

import pytest

from tests.client import Make, User
from tests.factories import Project, make_group, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

_GROUP = re.compile(r'role="group" aria-label="([^"]+)">(.*?)</div>', re.DOTALL)
_OPTION = re.compile(r'role="option"[^>]* href="([^"]+)"')


def suggested(
    browser: Browser, search: str, project: str = "", visited: list[str] | None = None
) -> dict[str, list[str]]:
    """Return the suggested addresses by heading."""
    query = urlencode({"search": search, "project": project, "visited[]": visited or []}, doseq=True)
    answer = browser.get(f"/-/suggestions?{query}", headers={"HX-Request": "true"})
    assert answer.status_code == 200, answer.text
    return {heading: [unescape(url) for url in _OPTION.findall(part)] for heading, part in _GROUP.findall(answer.text)}


def addresses(found: dict[str, list[str]]) -> set[str]:
    """Return all suggested addresses."""
    return {address for each in found.values() for address in each}


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return a private project in a private group, with a file, an issue and a confidential issue."""
    group = make_group(make, person, name="Lighthouse keepers", visibility="private")
    project = make_project(make, person, group=group, name="Lighthouse lamp", visibility="private")
    api = make.api
    api.post(f"{project.url}/issues", person, title="Lighthouse is dark")
    api.post(f"{project.url}/issues", person, title="Lighthouse plans", confidential=True)
    sent = {"branch": "master", "commit_message": "Add", "content": "x"}
    assert api.post(f"{project.url}/repository/files/src%2Flighthouse.py", person, **sent).status_code == 201
    assert api.post(f"{project.url}/repository/branches", person, branch="fix", ref="master").status_code == 201
    sent = {"branch": "fix", "commit_message": "Fix", "content": "y"}
    assert api.post(f"{project.url}/repository/files/fix.py", person, **sent).status_code == 201
    request = {"source_branch": "fix", "target_branch": "master", "title": "Repair the lighthouse"}
    assert api.post(f"{project.url}/merge_requests", person, **request).status_code == 201
    return project


def test_objects_of_each_kind_are_suggested(browser: Browser, person: User, project: Project) -> None:
    browser.signed_in_as(person)
    url = f"/{project.path}"
    found = suggested(browser, "lighthouse", project.path)
    assert url in found["Projects"]
    assert any(address == f"/groups/{project.path.rpartition('/')[0]}" for address in found["Groups"])
    assert found["Files"] == [f"{url}/-/blob/master/src/lighthouse.py"]
    assert found["Issues"] == [f"{url}/-/issues/2", f"{url}/-/issues/1"]
    assert found["Merge requests"] == [f"{url}/-/merge_requests/1"]
    assert f"/{person.username}" in suggested(browser, f"@{person.username}")["People"]
    assert suggested(browser, "#1", project.path)["Issues"] == [f"{url}/-/issues/1"]
    assert suggested(browser, "!1", project.path)["Merge requests"] == [f"{url}/-/merge_requests/1"]
    by_number = suggested(browser, "1", project.path)
    assert (by_number["Issues"], by_number["Merge requests"]) == ([f"{url}/-/issues/1"], [f"{url}/-/merge_requests/1"])
    assert f"{url}/-/issues/1" in suggested(browser, "lighthouse is dark")["Issues"], "In all projects."
    assert suggested(browser, f"{project.path}#2")["Recently visited"] == [f"{url}/-/issues/2"]


def test_pages_and_actions_are_suggested_by_label(browser: Browser, person: User, project: Project) -> None:
    assert suggested(browser, "explore") == {"Pages and actions": ["/explore"]}
    browser.signed_in_as(person)
    assert suggested(browser, "new iss", project.path)["Pages and actions"] == [f"/{project.path}/-/issues/new"]
    assert suggested(browser, "webho", project.path)["Pages and actions"] == [f"/{project.path}/-/hooks"]
    assert suggested(browser, "ssh k")["Pages and actions"] == ["/profile/keys"]
    assert "Pages and actions" not in suggested(browser, "administration")
    assert "/dashboard/issues" in suggested(browser, "")["Pages and actions"]


def test_visited_objects_come_first_and_once(browser: Browser, person: User, project: Project) -> None:
    browser.signed_in_as(person)
    url, group = f"/{project.path}", f"/groups/{project.path.rpartition('/')[0]}"
    visited = [
        f"{url}/-/issues/1",
        url,
        group,
        f"{url}/-/merge_requests/1",
        "/nowhere/at-all",
        "x",
        f"{url}/-/issues/99",
    ]
    found = suggested(browser, "", visited=visited)
    assert next(iter(found)) == "Recently visited"
    assert found["Recently visited"] == visited[:4]
    found = suggested(browser, "dark", project.path, visited)
    assert found["Recently visited"] == [f"{url}/-/issues/1"]
    assert "Issues" not in found, "It is suggested once."


def test_hidden_objects_are_never_suggested(
    make: Make, person: User, project: Project, open_browser: Callable[[], Browser]
) -> None:
    url, group = f"/{project.path}", f"/groups/{project.path.rpartition('/')[0]}"
    hidden = [url, group, f"{url}/-/issues/1", f"{url}/-/issues/2", f"{url}/-/merge_requests/1"]
    stranger = open_browser().signed_in_as(make.user(password=PASSWORD))
    for browser in (stranger, open_browser()):
        for text in ("lighthouse", "", "1", "#1", f"{project.path}#1"):
            for place in ("", project.path):
                shown = addresses(suggested(browser, text, place, hidden))
                assert not any(address.startswith((url, group)) for address in shown), text
    guest = make.user(password=PASSWORD)
    make.api.post(f"{project.url}/members", person, user_id=guest.id, access_level=10)
    browser = open_browser().signed_in_as(guest)
    for text in ("lighthouse", "", "2", "fix"):
        shown = addresses(suggested(browser, text, project.path, hidden))
        assert url in shown or text not in ("lighthouse", "")
        assert f"{url}/-/issues/2" not in shown, "It is confidential."
        assert not any("merge_requests" in each or "/blob/" in each for each in shown if each.startswith(url)), text


def test_invalid_values_are_ignored(browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    for query in ("search[]=x", "search=%00", "project[]=x", "visited=x", "visited[a]=x", f"search={'x' * 5000}"):
        assert browser.get(f"/-/suggestions?{query}").status_code == 200


def test_titles_are_escaped(browser: Browser, make: Make, person: User) -> None:
    project = make_project(make, person)
    make.api.post(f"{project.url}/issues", person, title="<img src=x> dazzle")
    answer = browser.signed_in_as(person).get(f"/-/suggestions?search=dazzle&project={project.path}").text
    assert "&lt;img src=x&gt; dazzle" in answer and "<img" not in answer
