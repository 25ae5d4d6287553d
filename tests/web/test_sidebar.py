"""Sidebar of issues and merge requests, with and without scripts."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue, make_milestone
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.factories import Project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

HOSTILE = "\"'><script>alert(1)</script>"
SCRIPT = {"HX-Request": "true"}


class Scene(NamedTuple):
    """Project with an object of each kind."""

    owner: User
    reporter: User
    guest: User
    project: Project
    milestone: dict[str, Any]
    things: dict[str, dict[str, Any]]

    def page(self, kind: str) -> str:
        """Return the path of the page of a kind."""
        return f"/{self.project.path}/-/{kind}/{self.things[kind]['iid']}"

    def now(self, api: Api, kind: str) -> dict[str, Any]:
        """Return its state from the API."""
        found: dict[str, Any] = api.get(f"{self.project.url}/{kind}/{self.things[kind]['iid']}", self.owner).json()
        return found


@pytest.fixture(scope="module")
def scene(make: Make) -> Scene:
    """Return users, labels and a milestone to choose from."""
    owner, reporter, guest = (make.user(password=PASSWORD) for _ in range(3))
    members = {reporter: Level.REPORTER, guest: Level.GUEST}
    project = filled_project(make, owner, members=members, visibility="public")
    for name in (HOSTILE, "first", "second", "third"):
        assert make.api.post(f"{project.url}/labels", owner, name=name, color="#ff0000").status_code == 201
    things = {"issues": make_issue(make, project, owner), "merge_requests": make_merge_request(make, project, owner)}
    return Scene(owner, reporter, guest, project, make_milestone(make, project), things)


@pytest.fixture
def browser(open_browser: Callable[[], Browser], scene: Scene) -> Browser:
    """Return a browser of the owner."""
    return open_browser().signed_in_as(scene.owner)


def _save(browser: Browser, url: str, fields: dict[str, Any], **options: Any) -> Any:
    form = browser.form(url, url, "put").fields
    kept = {name: form[name] for name in ("authenticity_token", "_method")}
    return browser.post(url, data=kept | fields, **options)


@pytest.mark.parametrize("kind", ["issues", "merge_requests"])
def test_each_field_is_changed(api: Api, browser: Browser, scene: Scene, kind: str) -> None:
    page = scene.page(kind)
    me, chosen, had = str(scene.owner.id), "field[selected][]", "field[previous][]"
    facts = ["assignees", "labels", "milestone", "time"]
    facts.append("due_date" if kind == "issues" else "reviewers")
    shown = browser.get(page).text
    for fact in facts:
        assert f'href="{page}/sidebar/{fact}"' in shown
        part = browser.get(f"{page}/sidebar/{fact}", headers=SCRIPT).text
        assert "<html" not in part
        assert "<script>alert" not in part
        assert '<div class="sidebar-field editing">' in part
        assert "<h1>" in browser.get(f"{page}/sidebar/{fact}").text
    assert browser.get(f"{page}/sidebar/weight").status_code == 404

    saved = _save(browser, f"{page}/sidebar/assignees", {chosen: [me, str(scene.reporter.id)]})
    assert saved.headers["location"] == page
    # A form that was opened before the first one was added removes only the second.
    saved = _save(browser, f"{page}/sidebar/assignees", {had: [str(scene.reporter.id)]}, headers=SCRIPT)
    assert (saved.status_code, f"/{scene.owner.username}" in saved.text) == (200, True)
    assert [person["id"] for person in scene.now(api, kind)["assignees"]] == [scene.owner.id]

    _save(browser, f"{page}/sidebar/labels", {chosen: [HOSTILE, "first"]})
    saved = _save(browser, f"{page}/sidebar/labels", {had: ["first"], chosen: ["second"]}, headers=SCRIPT)
    assert "second" in saved.text
    assert "<script>alert" not in saved.text
    assert sorted(scene.now(api, kind)["labels"]) == sorted([HOSTILE, "second"])

    _save(browser, f"{page}/sidebar/milestone", {chosen: [str(scene.milestone["id"])]})
    assert scene.now(api, kind)["milestone"]["id"] == scene.milestone["id"]
    assert "None" in _save(browser, f"{page}/sidebar/milestone", {chosen: [""]}, headers=SCRIPT).text
    assert scene.now(api, kind)["milestone"] is None


@pytest.mark.parametrize("kind", ["issues", "merge_requests"])
def test_new_system_notes_are_returned(browser: Browser, scene: Scene, kind: str) -> None:
    page, chosen = scene.page(kind), "field[selected][]"
    known = browser.get(page).text

    saved = _save(browser, f"{page}/sidebar/labels", {chosen: ["third"]}, headers=SCRIPT).text
    again = _save(
        browser, f"{page}/sidebar/labels", {"field[previous][]": ["third"], chosen: ["third"]}, headers=SCRIPT
    ).text
    asked = browser.get(f"{page}/sidebar/labels?shown", headers=SCRIPT).text

    fact, _, records = saved.partition('<ol hx-swap-oob="beforeend:#discussions">')
    assert re.search(r'<ol class="discussions"[^>]* id="discussions">', known)
    assert "third" in fact
    (number,) = re.findall(r'<li class="event" id="note_(\d+)">', records)
    assert f'id="note_{number}"' not in known, "Only what is new is put there."
    assert f'id="note_{number}"' in browser.get(page).text
    assert "<script>alert" not in saved
    assert "oob" not in again + asked, "Where nothing changed there is nothing to tell."
    _save(browser, f"{page}/sidebar/labels", {"field[previous][]": ["third"]})


@pytest.mark.parametrize("kind", ["issues", "merge_requests"])
def test_time_tracking(api: Api, browser: Browser, scene: Scene, kind: str) -> None:
    page, estimate, spent = scene.page(kind), "field[estimate]", "field[spent]"
    url = f"{page}/sidebar/time"

    assert _save(browser, url, {estimate: "3h", spent: "1h 30m"}).status_code == 302
    assert "1h 30m spent of 3h estimated" in browser.get(page).text
    wrong = _save(browser, url, {estimate: "3h", spent: HOSTILE})
    assert wrong.status_code == 422
    assert "&#34;&#39;&gt;&lt;script" in wrong.text
    part = _save(browser, url, {estimate: "3h", spent: HOSTILE}, headers=SCRIPT)
    assert (part.status_code, 'class="errors"' in part.text) == (200, True), "Scripts show only what succeeded."
    assert _save(browser, url, {estimate: "", spent: ""}).status_code == 302
    stats = scene.now(api, kind)["time_stats"]
    assert (stats["time_estimate"], stats["total_time_spent"]) == (0, 5400)
    assert _save(browser, url, {"field[reset_spent]": "1", estimate: "2h", spent: "9h"}).status_code == 302
    stats = scene.now(api, kind)["time_stats"]
    assert (stats["time_estimate"], stats["total_time_spent"]) == (0, 0)


def test_a_due_date(api: Api, browser: Browser, scene: Scene) -> None:
    url = f"{scene.page('issues')}/sidebar/due_date"

    assert "2031-02-03" in _save(browser, url, {"field[due_date]": "2031-02-03"}, headers=SCRIPT).text
    assert _save(browser, url, {"field[due_date]": "soon"}).status_code == 422
    assert scene.now(api, "issues")["due_date"] == "2031-02-03"
    assert "2031-02-03" in browser.get(f"{url}?shown", headers=SCRIPT).text
    assert _save(browser, url, {"field[due_date]": ""}).status_code == 302
    assert scene.now(api, "issues")["due_date"] is None
    assert browser.get(f"{scene.page('merge_requests')}/sidebar/due_date").status_code == 404


def test_search_finds_more_options(browser: Browser, scene: Scene) -> None:
    url = f"{scene.page('issues')}/sidebar"

    found = browser.get(f"{url}/labels?search=firs", headers=SCRIPT).text
    assert 'value="first"' in found
    assert 'value="third"' not in found
    assert 'value="first"' not in browser.get(f"{url}/labels?search=firs&field[selected][]=first", headers=SCRIPT).text
    assert f"@{scene.reporter.username}" in browser.get(f"{url}/assignees?search={scene.reporter.username}").text
    assert "No matching results." in browser.get(f"{url}/milestone?search=nothing-at-all").text
    for odd in ("search[]=1", "search=%00", "field[selected]=1", "field=1", "shown[a]=b"):
        assert browser.get(f"{url}/labels?{odd}").status_code == 200


@pytest.mark.parametrize(
    ("who", "kind", "offered"),
    [("reporter", "issues", True), ("reporter", "merge_requests", False), ("guest", "issues", False)],
)
def test_fields_require_a_reporter(
    open_browser: Callable[[], Browser], scene: Scene, who: str, kind: str, offered: bool
) -> None:
    browser, page = open_browser().signed_in_as(getattr(scene, who)), scene.page(kind)
    sent = {"_method": "put", "authenticity_token": browser.token(), "field[selected][]": "second"}

    assert (f"{page}/sidebar/" in browser.get(page).text) is offered
    for fact in ("assignees", "labels", "milestone", "time"):
        url = f"{page}/sidebar/{fact}"
        assert browser.get(url).status_code == (200 if offered else 404)
        if not offered:
            assert browser.post(url, data=sent).status_code == 404
            assert open_browser().get(url).status_code == 302
