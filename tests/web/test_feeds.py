"""Atom feeds of projects, groups, issues, commits and users, with feed tokens for private projects."""

import re
from html import unescape
from xml.etree import ElementTree

import httpx
import pytest

from ingot.accounts.users.tables import users
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.web.browser import Browser

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return a private project with an issue and a commit, both with hostile texts."""
    project = make_project(make, person, visibility="private")
    make.api.post(f"{project.url}/issues", person, title='<b>&"\u0001\ufffe Tide', description="]]><script>")
    sent = {"branch": "master", "commit_message": "Add <tides> & more", "content": "x"}
    make.api.post(f"{project.url}/repository/files/a", person, **sent)
    return project


def _paths(project: Project, person: User) -> dict[str, str]:
    return {
        f"/{project.path}.atom": "created",
        f"/{project.path}/-/activity.atom": "created",
        f"/{project.path}/-/issues.atom": "Tide",
        f"/{project.path}/-/commits/master?format=atom": "Add <tides> & more",
        f"/{person.username}.atom": "Tide",
    }


def _titles(answer: httpx.Response) -> list[str]:
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/atom+xml; charset=utf-8")
    feed = ElementTree.fromstring(answer.text)
    return [entry.findtext(f"{ATOM}title") or "" for entry in feed.iter(f"{ATOM}entry")]


def test_feeds_with_a_token(browser: Browser, person: User, make: Make, project: Project, instance: Instance) -> None:
    page = browser.signed_in_as(person).get(f"/{project.path}/-/activity").text
    (token,) = set(re.findall(r"feed_token=(glft-[0-9a-f]+-\d+)", page))
    for path, title in _paths(project, person).items():
        with Browser(browser.url) as reader:
            mark = "&" if "?" in path else "?"
            titles = _titles(reader.get(f"{path}{mark}feed_token={token}"))
            assert any(title in each for each in titles), (path, titles)
            stranger = reader.get(path)
            assert stranger.status_code == 404 or _titles(stranger) == [], path
            forged = f"{token.rpartition('-')[0]}-{make.root.id}"
            for wrong in (forged, token[:-1], "", "x" * 5000):
                refused = reader.get(f"{path}{mark}feed_token={wrong}")
                assert refused.status_code == 404 or _titles(refused) == [], path
            assert not reader.is_signed_in()
            assert reader.get(f"/{project.path}?feed_token={token}").status_code in (302, 404), "Feeds only."

    instance.app.database.write(lambda db: db.update(users, person.id, state="blocked"))
    with Browser(browser.url) as reader:
        assert reader.get(f"/{project.path}.atom?feed_token={token}").status_code == 404


def test_feeds_of_groups(browser: Browser, person: User, make: Make) -> None:
    group = make_group(make, person, visibility="public")
    subgroup = make_group(make, person, parent=group)
    for parent, title, visibility in ((group, "Open", "public"), (subgroup, "Secret", "private")):
        project = make_project(make, person, group=parent, visibility=visibility)
        make.api.post(f"{project.url}/issues", person, title=title)
    browser.signed_in_as(person)
    head = r'<link rel="alternate" type="application/atom\+xml" href="([^"]+)"'
    pages = (f"/groups/{group.path}", f"/groups/{group.path}/-/issues")
    activity, issues = (unescape(re.findall(head, browser.get(page).text)[0]) for page in pages)
    assert activity.startswith(f"/{group.path}.atom?feed_token=")
    with Browser(browser.url) as reader:
        for feed in (activity, activity.replace("/", "/groups/", 1), issues):
            for address, seen in ((feed, (True, True)), (feed.partition("?")[0], (True, False))):
                titles = _titles(reader.get(address))
                assert tuple(any(word in title for title in titles) for word in ("Open", "Secret")) == seen, address
        for path in (
            f"/{subgroup.path}.atom",
            f"/groups/{subgroup.path}.atom",
            f"/groups/{subgroup.path}/-/issues.atom",
        ):
            assert reader.get(path).status_code == 404, path


def test_a_token_ends_with_the_private_token(browser: Browser, person: User, project: Project) -> None:
    browser.signed_in_as(person)
    (token,) = set(re.findall(r"feed_token=([\w-]+)", browser.get(f"/{project.path}/-/activity").text))
    browser.post("/profile/reset_private_token", data={"authenticity_token": browser.token()})
    with Browser(browser.url) as reader:
        assert reader.get(f"/{project.path}.atom?feed_token={token}").status_code == 404


def test_confidential_issues_are_hidden(browser: Browser, person: User, make: Make) -> None:
    project = make_project(make, person, visibility="public")
    make.api.post(f"{project.url}/issues", person, title="Secret", confidential=True)
    make.api.post(f"{project.url}/issues", person, title="Open")
    stranger = make.user(password="correct horse battery")
    browser.signed_in_as(stranger)
    assert _titles(browser.get(f"/{project.path}/-/issues.atom")) == ["Open"]
    assert not any("Secret" in title for title in _titles(browser.get(f"/{project.path}.atom")))


def test_pages_name_their_feeds(instance: Instance, browser: Browser, person: User, project: Project) -> None:
    browser.signed_in_as(person)
    for address in (f"/{project.path}", f"/{project.path}/-/issues", f"/{project.path}/-/commits/master"):
        (feed,) = re.findall(
            r'<link rel="alternate" type="application/atom\+xml" href="([^"]+)"', browser.get(address).text
        )
        assert _titles(httpx.get(instance.url + unescape(feed))), address
    assert f'href="/{person.username}.atom' in browser.get(f"/{person.username}").text
