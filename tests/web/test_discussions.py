"""Discussions on pages: notes, replies, emoji and subscriptions, for issues and merge requests."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue
from tests.client import Api, Make, User
from tests.factories import Project, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


class DiscussionSetup(NamedTuple):
    """Project with an issue and a commit, its owner, a developer and another user."""

    owner: User
    developer: User
    stranger: User
    project: Project
    sha: str


@pytest.fixture(scope="module")
def setup(make: Make) -> DiscussionSetup:
    """Return users and a public project."""
    owner, developer, stranger = (make.user(password=PASSWORD) for _ in range(3))
    project = make_project(make, owner, visibility="public", members={developer: Level.DEVELOPER})
    sent = {"branch": "master", "commit_message": "One", "content": "a"}
    make.api.post(f"{project.url}/repository/files/a", owner, **sent)
    (commit,) = make.api.get(f"{project.url}/repository/commits", owner).json()
    return DiscussionSetup(owner, developer, stranger, project, commit["id"])


@pytest.fixture
def issue(make: Make, setup: DiscussionSetup) -> dict[str, Any]:
    """Return a new issue of the owner."""
    return make_issue(make, setup.project, setup.owner)


def _page(setup: DiscussionSetup, issue: dict[str, Any]) -> str:
    return f"/{setup.project.path}/-/issues/{issue['iid']}"


def _notes(api: Api, setup: DiscussionSetup, issue: dict[str, Any]) -> list[dict[str, Any]]:
    url = f"{setup.project.url}/issues/{issue['iid']}/notes?sort=asc"
    return [note for note in api.request("GET", url, setup.owner).json() if not note["system"]]


def test_life_cycle_of_a_note(
    api: Api, open_browser: Callable[[], Browser], setup: DiscussionSetup, issue: dict[str, Any]
) -> None:
    page, browser = _page(setup, issue), open_browser().signed_in_as(setup.developer)

    written = browser.submit(page, f"{page}/notes", **{"note[body]": f"**So** be it {HOSTILE}"})

    (note,) = _notes(api, setup, issue)
    assert (written.status_code, written.headers["location"]) == (302, f"{page}#note_{note['id']}")
    shown = browser.get(page).text
    assert f'id="note_{note["id"]}"' in shown
    assert "<strong>So</strong>" in shown
    assert "<script>alert" not in shown
    assert "onerror" not in shown.replace("&lt;img src=x onerror=alert(1)&gt;", "")

    discussion = api.get(f"{setup.project.url}/issues/{issue['iid']}/discussions", setup.owner).json()[0]["id"]
    url = f"{page}/discussions/{discussion}/notes"
    one, fields = f"{url}/{note['id']}", {"note[body]": "Otherwise"}
    edited = browser.submit(f"{one}/edit", one, does="put", fields=fields)
    assert edited.headers["location"] == f"{page}#note_{note['id']}"
    answered = browser.submit(f"{url}/new", url, **{"note[body]": "And so"})
    assert answered.status_code == 302
    assert [one["body"] for one in _notes(api, setup, issue)] == ["Otherwise", "And so"]

    assert browser.submit(f"{one}/edit", one, does="delete").status_code == 302
    assert [one["body"] for one in _notes(api, setup, issue)] == ["And so"]


def test_only_authors_and_masters_edit_a_note(
    api: Api, open_browser: Callable[[], Browser], setup: DiscussionSetup, issue: dict[str, Any]
) -> None:
    page = _page(setup, issue)
    sent = api.post(f"{setup.project.url}/issues/{issue['iid']}/discussions", setup.stranger, body="Mine").json()
    url = f"{page}/discussions/{sent['id']}/notes/{sent['notes'][0]['id']}"

    for person, may in ((setup.owner, True), (setup.stranger, True), (setup.developer, False)):
        browser = open_browser().signed_in_as(person)
        assert (f'href="{url}/edit"' in browser.get(page).text) is may
        assert browser.get(f"{url}/edit").status_code == (200 if may else 404)
        fields = {"_method": "put", "note[body]": person.username, "authenticity_token": browser.token()}
        assert browser.post(url, data=fields).status_code == (302 if may else 403)


def test_rejected_text_stays_in_the_form(
    open_browser: Callable[[], Browser], setup: DiscussionSetup, issue: dict[str, Any]
) -> None:
    page, browser = _page(setup, issue), open_browser().signed_in_as(setup.owner)

    refused = browser.submit(page, f"{page}/notes", **{"note[body]": " ", "note[discussion]": "1"})

    assert refused.status_code == 422
    assert "can&#39;t be blank" in refused.text
    assert 'name="note[discussion]" value="1"' in refused.text


def test_quick_actions_and_the_close_button(
    api: Api, open_browser: Callable[[], Browser], setup: DiscussionSetup, issue: dict[str, Any]
) -> None:
    page, browser = _page(setup, issue), open_browser().signed_in_as(setup.owner)
    url = f"{setup.project.url}/issues/{issue['iid']}"

    assert browser.submit(page, f"{page}/notes", **{"note[body]": "/title Better"}).headers["location"] == page
    assert api.get(url, setup.owner).json()["title"] == "Better"
    browser.submit(page, f"{page}/notes", **{"note[body]": "Done", "note[state_event]": "close"})
    assert api.get(url, setup.owner).json()["state"] == "closed"
    browser.submit(page, f"{page}/notes", **{"note[body]": "", "note[state_event]": "reopen"})
    assert api.get(url, setup.owner).json()["state"] == "opened"
    assert [note["body"] for note in _notes(api, setup, issue)] == ["Done"]
    assert 'class="event"' in browser.get(page).text, "A system note describes the change."


def test_emoji_are_awarded_and_removed(
    api: Api, open_browser: Callable[[], Browser], setup: DiscussionSetup, issue: dict[str, Any]
) -> None:
    page, browser = _page(setup, issue), open_browser().signed_in_as(setup.developer)
    note = api.post(f"{setup.project.url}/issues/{issue['iid']}/notes", setup.owner, body="x").json()["id"]
    fields = {"authenticity_token": browser.token(), "name": "tada"}

    for about, target in (({}, page), ({"note_id": str(note)}, f"{page}#note_{note}")):
        given = browser.post(f"{page}/award_emoji", data=fields | about)
        assert given.headers["location"] == target
    assert browser.get(page).text.count('aria-label="tada: 1" aria-pressed="true"') == 2
    part = browser.post(f"{page}/award_emoji", data=fields, headers={"HX-Request": "true"})
    assert "<html" not in part.text
    assert "tada: 1" not in part.text, "It was taken back."
    assert browser.post(f"{page}/award_emoji", data=fields | {"name": "no such"}).status_code == 422
    assert browser.post(f"{page}/award_emoji", data=fields | {"note_id": "999999"}).status_code == 404


def test_thumbs_are_offered_unless_the_project_hides_them(
    api: Api, open_browser: Callable[[], Browser], setup: DiscussionSetup, issue: dict[str, Any]
) -> None:
    page, browser, visitor = _page(setup, issue), open_browser().signed_in_as(setup.developer), open_browser()
    unused = [f'aria-label="{name}: 0" aria-pressed="false"' for name in ("thumbsup", "thumbsdown")]
    fields = {"authenticity_token": browser.token(), "name": "thumbsdown"}

    def shown() -> tuple[int, int]:
        text = browser.get(page).text
        return sum(text.count(each) for each in unused), text.count('aria-label="thumbsdown: 1"')

    assert shown() == (2, 0)
    assert "thumbsup: 0" not in visitor.get(page).text, "Visitors cannot react."
    part = browser.post(f"{page}/award_emoji", data=fields, headers={"HX-Request": "true"}).text
    assert part.index(unused[0]) < part.index("thumbsdown: 1")
    assert shown() == (1, 1)
    assert api.put(setup.project.url, setup.owner, show_default_award_emojis=False).status_code == 200
    assert shown() == (0, 1)
    browser.post(f"{page}/award_emoji", data=fields)
    assert shown() == (0, 0)
    assert "thumbsup: 0" not in browser.get(f"{page}/award_emoji?shown", headers={"HX-Request": "true"}).text
    assert api.put(setup.project.url, setup.owner, show_default_award_emojis=True).status_code == 200


def test_every_emoji_is_available(
    api: Api, open_browser: Callable[[], Browser], setup: DiscussionSetup, issue: dict[str, Any]
) -> None:
    browser, script = open_browser().signed_in_as(setup.owner), {"HX-Request": "true"}
    url = f"{_page(setup, issue)}/award_emoji"

    found = browser.get(f"{url}?search=sailboat", headers=script).text
    assert 'value="sailboat"' in found
    assert 'value="thumbsup"' not in found
    assert found.count("offered") < 70
    assert "No matching emoji." in browser.get(f"{url}?search=<script>nothing").text
    for odd in ("search[]=a", "search=%00", "search=:a:", "search=%20", "search=%E2%9B%B5", "shown=1"):
        assert browser.get(f"{url}?{odd}").status_code == 200
    given = browser.post(url, data={"authenticity_token": browser.token(), "name": "sailboat"}, headers=script)
    assert (given.status_code, "picker" in given.text, "sailboat: 1" in given.text) == (200, False, True)
    assert "picker" not in browser.get(f"{url}?shown", headers=script).text
    shown = api.get(f"{setup.project.url}/issues/{issue['iid']}/award_emoji", setup.owner).json()
    assert "sailboat" in [one["name"] for one in shown]


def test_subscribe_and_own_list(
    api: Api, open_browser: Callable[[], Browser], setup: DiscussionSetup, issue: dict[str, Any]
) -> None:
    page, browser = _page(setup, issue), open_browser().signed_in_as(setup.stranger)
    url = f"{setup.project.url}/issues/{issue['iid']}"

    for wish in (True, False):
        browser.submit(page, f"{page}/subscription")
        assert api.get(url, setup.stranger).json()["subscribed"] is wish
    for _ in range(2):
        assert browser.submit(page, f"{page}/todo").status_code == 302
    assert [todo["target"]["id"] for todo in api.get("/todos", setup.stranger).json()] == [issue["id"]]


def test_discussions_of_commits(api: Api, open_browser: Callable[[], Browser], setup: DiscussionSetup) -> None:
    browser = open_browser().signed_in_as(setup.stranger)
    page = f"/{setup.project.path}/-/commit/{setup.sha}"
    fields = {"authenticity_token": browser.token(), "note[body]": "Why"}

    assert browser.post(f"{page}/notes", data=fields).status_code == 302
    url = f"{setup.project.url}/repository/commits/{setup.sha}/discussions"
    (discussion,) = api.get(url, setup.owner).json()
    assert browser.post(f"{page}/discussions/{discussion['id']}/notes", data=fields).status_code == 302
    assert [note["body"] for note in api.get(url, setup.owner).json()[0]["notes"]] == ["Why", "Why"]


def test_discussions_of_a_merge_request_are_resolved(
    api: Api, open_browser: Callable[[], Browser], setup: DiscussionSetup, issue: dict[str, Any]
) -> None:
    api.post(f"{setup.project.url}/repository/branches", setup.owner, branch="side", ref="master")
    sent = {"branch": "side", "commit_message": "Two", "content": "b"}
    api.post(f"{setup.project.url}/repository/files/b", setup.owner, **sent)
    asked = {"source_branch": "side", "target_branch": "master", "title": "Side"}
    asked["description"] = f"Closes #{issue['iid']}"
    iid = api.post(f"{setup.project.url}/merge_requests", setup.owner, **asked).json()["iid"]
    browser = open_browser().signed_in_as(setup.owner)
    page = f"/{setup.project.path}/-/merge_requests/{iid}"
    fields = {"authenticity_token": browser.token()}
    assert "closes this issue" in browser.get(_page(setup, issue)).text

    browser.post(f"{page}/notes", data=fields | {"note[body]": "Why", "note[discussion]": "1"})
    url = f"{setup.project.url}/merge_requests/{iid}/discussions"
    (number,) = [one["id"] for one in api.get(url, setup.owner).json() if not one["individual_note"]]
    for word, resolved in (("true", True), ("false", False)):
        answer = browser.post(f"{page}/discussions/{number}", data=fields | {"_method": "put", "resolved": word})
        assert answer.status_code == 302
        assert api.get(f"{url}/{number}", setup.owner).json()["notes"][0]["resolved"] is resolved
    browser.post(
        f"{page}/discussions/{number}/notes", data=fields | {"note[body]": "Because", "note[resolved]": "true"}
    )
    assert all(note["resolved"] for note in api.get(f"{url}/{number}", setup.owner).json()["notes"])


def test_a_page_renders_a_limited_amount_of_new_text(
    api: Api, open_browser: Callable[[], Browser], setup: DiscussionSetup, issue: dict[str, Any]
) -> None:
    """Texts beyond it are shown as they were written; the next visit renders more, since the others are cached."""
    notes = f"{setup.project.url}/issues/{issue['iid']}/notes"
    for number in range(4):
        api.post(notes, setup.owner, body=f"**note {number}** " + ("word " * 200 + "\n\n") * 110)
    first, second = (open_browser().get(_page(setup, issue)).text for _ in range(2))
    assert [f"<strong>note {number}</strong>" in first for number in range(4)] == [True, True, False, False]
    assert [f"**note {number}**" in first for number in range(4)] == [False, False, True, True]
    assert [f"<strong>note {number}</strong>" in second for number in range(4)] == [True] * 4


def test_a_note_is_quoted_in_the_reply(
    api: Api, open_browser: Callable[[], Browser], setup: DiscussionSetup, issue: dict[str, Any]
) -> None:
    page, browser = _page(setup, issue), open_browser().signed_in_as(setup.developer)
    url = f"{setup.project.url}/issues/{issue['iid']}"
    note = api.post(f"{url}/notes", setup.owner, body="One </textarea>\n\nTwo").json()
    link = re.search(rf'data-part="quote" href="([^"]+quote={note["id"]})"', browser.get(page).text)
    assert link
    form = browser.get(unescape(link[1])).text
    assert "&gt; One &lt;/textarea&gt;\n&gt;\n&gt; Two\n" in form
    assert "&gt; One" not in browser.get(unescape(link[1]).replace(str(note["id"]), "0")).text
    assert 'data-part="quote"' not in open_browser().get(page).text
