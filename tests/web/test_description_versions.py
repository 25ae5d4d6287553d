"""Versions of the descriptions of issues and merge requests: comparison, visibility and deletion."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.factories import Project, add_members
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

Open = Callable[[], Browser]
_LINK = re.compile(r'href="([^"]*/descriptions/(\d+))">compare with previous version')


def _subject(make: Make, project: Project, owner: User, kind: str, **attributes: Any) -> str:
    """Return the path of a new issue or merge request below the project."""
    made = (make_issue if kind == "issues" else make_merge_request)(make, project, owner, **attributes)
    return f"{kind}/{made['iid']}"


@pytest.mark.parametrize("kind", ["issues", "merge_requests"])
def test_changes_of_a_description_can_be_compared_and_deleted(
    api: Api, make: Make, open_browser: Open, kind: str
) -> None:
    owner, developer, stranger = (make.user(password=PASSWORD) for _ in range(3))
    project = filled_project(make, owner)
    add_members(make, project, {developer: Level.DEVELOPER})
    path = _subject(make, project, owner, kind, description="A <b>secret</b> word\nSame")
    browser, page = open_browser().signed_in_as(owner), f"/{project.path}/-/{path}"
    assert not _LINK.search(browser.get(page).text)
    for text in ("An open word\nSame", "An open door\nSame", ""):
        assert api.put(f"{project.url}/{path}", owner, description=text).status_code == 200
    links = [link for link, _ in _LINK.findall(browser.get(page).text)]
    assert len(links) == 3
    first, second, third = (browser.get(link).text for link in links)
    assert "A &lt;b&gt;secret&lt;/b&gt; word" in first
    assert "<b>word</b>" in second
    assert "<b>door</b>" in second
    assert "An open door" in third
    assert open_browser().signed_in_as(stranger).get(links[0]).status_code == 404
    assert open_browser().get(links[0]).status_code == 404
    other = open_browser().signed_in_as(developer)
    assert other.get(links[0]).status_code == 200
    assert "Delete previous version" not in other.get(links[0]).text
    refused = other.post(links[0], data={"_method": "delete", "authenticity_token": other.token()})
    assert refused.status_code == 404
    assert "secret" in browser.get(links[0]).text
    browser.submit(links[0], links[0])
    assert "A maintainer has deleted the text" in browser.get(links[0]).text
    browser.submit(links[1], links[1])
    assert "is not visible to you" not in browser.get(links[2]).text, "Its own texts remain."
    assert "An open word" not in browser.get(links[0]).text + browser.get(links[1]).text
    for wrong in ("0", "99999999", "x", "1' OR '1'='1"):
        assert browser.get(f"{page}/descriptions/{wrong}").status_code == 404


def test_versions_of_a_confidential_time_stay_hidden(api: Api, make: Make, open_browser: Open) -> None:
    owner, guest = make.user(password=PASSWORD), make.user(password=PASSWORD)
    project = filled_project(make, owner)
    add_members(make, project, {guest: Level.GUEST})
    path = _subject(make, project, owner, "issues", description="public one")
    url, page = f"{project.url}/{path}", f"/{project.path}/-/{path}"
    api.put(url, owner, description="public two")
    api.put(url, owner, confidential=True)
    api.put(url, owner, description="hidden three")
    api.put(url, owner, description="open four", confidential=False)
    api.put(url, owner, description="open five")
    browser, reader = (open_browser().signed_in_as(person) for person in (owner, guest))
    links = [link for link, _ in _LINK.findall(browser.get(page).text)]
    assert len(links) == 4
    assert "three" in browser.get(links[1]).text
    visible = [link for link, _ in _LINK.findall(reader.get(page).text)]
    assert visible == [links[0], links[3]]
    for link in links[1:3]:
        assert reader.get(link).status_code == 404
    pages = "".join(reader.get(link).text for link in visible)
    assert "three" not in pages
    assert "<b>five</b>" in pages
    assert "is not visible to you" in reader.get(links[0]).text, "The next version was replaced while confidential."


def test_versions_belong_to_their_subject(api: Api, make: Make, open_browser: Open) -> None:
    owner = make.user(password=PASSWORD)
    project = filled_project(make, owner)
    path, other = (_subject(make, project, owner, "issues", description="one") for _ in range(2))
    api.put(f"{project.url}/{path}", owner, description="two")
    browser = open_browser().signed_in_as(owner)
    (number,) = [number for _, number in _LINK.findall(browser.get(f"/{project.path}/-/{path}").text)]
    assert browser.get(f"/{project.path}/-/{other}/descriptions/{number}").status_code == 404
    assert api.delete(f"{project.url}/{path}", owner).is_success
    assert browser.get(f"/{project.path}/-/{path}/descriptions/{number}").status_code == 404
