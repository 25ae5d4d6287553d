"""Bulk edit of issues and merge requests on the lists of projects and groups."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import httpx
import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue, make_milestone
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Make, User
from tests.factories import Group, Project, make_group, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

Open = Callable[[], Browser]
_NOTICE = re.compile(r'<p class="flash" role="status">([^<]*)</p>')


class BulkScene(NamedTuple):
    """Public project in a group, with a reporter and a user without a role."""

    owner: User
    reporter: User
    stranger: User
    group: Group
    project: Project


@pytest.fixture
def scene(make: Make) -> BulkScene:
    """Return a project with two labels."""
    owner, reporter, stranger = (make.user(password=PASSWORD) for _ in range(3))
    group = make_group(make, owner, visibility="public", members={reporter: Level.REPORTER})
    project = make_project(make, owner, group=group, visibility="public")
    for name in ("bug", "old"):
        make.api.post(f"{project.url}/labels", owner, name=name, color="#aa0000")
    return BulkScene(owner, reporter, stranger, group, project)


def _update(browser: Browser, url: str, items: list[str], **fields: Any) -> httpx.Response:
    token = browser.token()
    return browser.post(f"{url}/bulk_update", data={"authenticity_token": token, "items[]": items, **fields})


def test_selected_issues_are_changed(scene: BulkScene, make: Make, open_browser: Open) -> None:
    browser, api, url = open_browser().signed_in_as(scene.reporter), make.api, f"/{scene.project.path}/-/issues"
    for _ in range(3):
        make_issue(make, scene.project, scene.owner, labels="old")
    milestone = make_milestone(make, scene.project)
    items = [f"{scene.project.path}#{number}" for number in (1, 2)]
    page = browser.get(url).text
    assert "?bulk=1" in page and "bulk-edit" not in page and 'name="items[]"' not in page
    page = browser.get(f"{url}?bulk=1").text
    assert page.count('name="items[]"') == 3 and " checked></label>" not in page
    assert all(f'value="{item}" form="bulk-edit"' in page for item in items)
    assert browser.get(f"{url}?bulk=all").text.count(" checked></label>") == 3

    changed = _update(
        browser,
        url,
        items,
        **{
            "issue[add_labels][]": ["bug"],
            "issue[remove_labels][]": ["old"],
            "issue[milestone_id]": str(milestone["id"]),
            "issue[assignee_ids][]": [str(scene.owner.id)],
            "issue[state_event]": "close",
            "issue[confidential]": "true",
        },
    )
    assert changed.status_code == 302, changed.text
    assert _NOTICE.findall(browser.get(changed.headers["location"]).text) == ["2 issues changed."]
    for number in (1, 2):
        issue = api.get(f"{scene.project.url}/issues/{number}", scene.owner).json()
        assert (issue["state"], issue["labels"], issue["confidential"]) == ("closed", ["bug"], True)
        assert (issue["milestone"]["id"], issue["assignee"]["id"]) == (milestone["id"], scene.owner.id)
    other = api.get(f"{scene.project.url}/issues/3", scene.owner).json()
    assert (other["state"], other["labels"], other["milestone"]) == ("opened", ["old"], None)
    notes = api.get(f"{scene.project.url}/issues/1/notes", scene.owner).json()
    assert {"closed"} <= {note["body"] for note in notes} and len(notes) > 2, "As for edits of one issue."

    cleared = {"issue[milestone_id]": "0", "issue[assignee_ids][]": ["0"]}
    assert _update(browser, f"{url}", items[:1], **cleared).status_code == 302
    issue = api.get(f"{scene.project.url}/issues/1", scene.owner).json()
    assert (issue["milestone"], issue["assignees"], issue["labels"]) == (None, [], ["bug"])


def test_mistakes_and_refusals_are_named(scene: BulkScene, make: Make, open_browser: Open) -> None:
    browser, url = open_browser().signed_in_as(scene.reporter), f"/{scene.project.path}/-/issues"
    other = make_project(make, scene.owner, visibility="public")
    make_issue(make, scene.project, scene.owner)
    make_issue(make, other, scene.reporter)
    first, close = f"{scene.project.path}#1", {"issue[state_event]": "close"}
    for items, fields, message in (
        ([], close, "Select at least one item."),
        ([first], {}, "Choose at least one change."),
        ([first], {"issue[state_event]": "burn"}, "Choose at least one change."),
        ([f"{scene.project.path}#{number}" for number in range(1, 102)], close, "Select at most 100 items."),
        ([first], {"issue[milestone_id]": "999999"}, "Milestone id is invalid."),
    ):
        answer = _update(browser, url, items, **fields)
        assert answer.status_code == 422 and message in answer.text, answer.text
    hostile = f"{scene.project.path}#<b>"
    answer = _update(browser, url, [first, f"{scene.project.path}#99", f"{other.path}#1", hostile], **close)
    assert answer.status_code == 422 and "1 item changed. The others were refused:" in answer.text
    assert f"{scene.project.path}#99" in answer.text and "#&lt;b&gt;" in answer.text and "<b>" not in answer.text
    assert make.api.get(f"{scene.project.url}/issues/1", scene.owner).json()["state"] == "closed"
    assert make.api.get(f"{other.url}/issues/1", scene.owner).json()["state"] == "opened", "Not in this list."
    assert browser.get(f"{url}/bulk_update").headers["location"] == url


def test_only_those_who_may_triage_edit_in_bulk(scene: BulkScene, make: Make, open_browser: Open) -> None:
    make_issue(make, scene.project, scene.stranger)
    close = {"issue[state_event]": "close"}
    stranger = open_browser().signed_in_as(scene.stranger)
    for url in (f"/{scene.project.path}/-/issues", f"/groups/{scene.group.path}/-/issues"):
        for browser in (stranger, open_browser()):
            assert "bulk" not in browser.get(url).text
            assert 'name="items[]"' not in browser.get(f"{url}?bulk=1").text
        assert _update(stranger, url, [f"{scene.project.path}#1"], **close).status_code == 404
        assert "?bulk=1" in open_browser().signed_in_as(scene.reporter).get(url).text
    reporter = open_browser().signed_in_as(scene.reporter)
    for url in (f"/{scene.project.path}/-/merge_requests", f"/groups/{scene.group.path}/-/merge_requests"):
        assert "bulk" not in reporter.get(url).text, "Developers triage merge requests."
    assert make.api.get(f"{scene.project.url}/issues/1", scene.owner).json()["state"] == "opened"


def test_a_group_edits_issues_of_its_projects(scene: BulkScene, make: Make, open_browser: Open) -> None:
    browser, url = open_browser().signed_in_as(scene.reporter), f"/groups/{scene.group.path}/-/issues"
    second = make_project(make, scene.owner, group=scene.group, visibility="public")
    outside = make_project(make, scene.owner, visibility="public")
    for project in (scene.project, second, outside):
        make_issue(make, project, scene.owner)
    assert browser.get(f"{url}?bulk=all&state=opened").text.count('name="items[]"') == 2
    items = [f"{scene.project.path}#1", f"{second.path}#1"]
    changed = _update(browser, url, items, **{"issue[state_event]": "close"})
    assert _NOTICE.findall(browser.get(changed.headers["location"]).text) == ["2 issues changed."]
    for project in (scene.project, second):
        assert make.api.get(f"{project.url}/issues/1", scene.owner).json()["state"] == "closed"
    assert _update(browser, url, [f"{outside.path}#1"], **{"issue[state_event]": "close"}).status_code == 422


def test_selected_merge_requests_are_changed(make: Make, open_browser: Open) -> None:
    owner, developer = make.user(password=PASSWORD), make.user(password=PASSWORD)
    group = make_group(make, owner, members={developer: Level.DEVELOPER})
    project = filled_project(make, owner, group=group, visibility="private")
    make.api.post(f"{project.url}/labels", owner, name="bug", color="#aa0000")
    requests = [make_merge_request(make, project, developer) for _ in range(2)]
    browser = open_browser().signed_in_as(developer)
    items = [f"{project.path}!{one['iid']}" for one in requests]
    for url in (f"/{project.path}/-/merge_requests", f"/groups/{group.path}/-/merge_requests"):
        assert "?bulk=1" in browser.get(url).text
        assert browser.get(f"{url}?bulk=all").text.count(" checked></label>") == 2
    fields = {
        "merge_request[add_labels][]": ["bug"],
        "merge_request[assignee_ids][]": [str(developer.id)],
        "merge_request[reviewer_ids][]": [str(owner.id)],
    }
    url = f"/{project.path}/-/merge_requests"
    changed = _update(browser, url, items[:1], **fields)
    assert _NOTICE.findall(browser.get(changed.headers["location"]).text) == ["1 merge request changed."]
    first, second = (make.api.get(f"{project.url}/merge_requests/{one['iid']}", owner).json() for one in requests)
    assert (first["labels"], second["labels"]) == (["bug"], [])
    assert [user["id"] for user in first["assignees"] + first["reviewers"]] == [developer.id, owner.id]
    closed = _update(
        browser, f"/groups/{group.path}/-/merge_requests", items, **{"merge_request[state_event]": "close"}
    )
    assert _NOTICE.findall(browser.get(closed.headers["location"]).text) == ["2 merge requests changed."]
    for one in requests:
        assert make.api.get(f"{project.url}/merge_requests/{one['iid']}", owner).json()["state"] == "closed"
