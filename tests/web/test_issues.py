"""Pages of issues: lists, single issues, and forms."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue, make_milestone
from tests.client import Api, Make, User
from tests.factories import Group, Project, make_group, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

HOSTILE = "\"'><script>alert(1)</script>{{7*7}}"


class IssuePages(NamedTuple):
    """Group with a project and users."""

    owner: User
    stranger: User
    group: Group
    project: Project

    def url(self, issue: dict[str, Any]) -> str:
        """Return the path of an issue's page."""
        return f"/{self.project.path}/-/issues/{issue['iid']}"


@pytest.fixture(scope="module")
def setup(make: Make) -> IssuePages:
    """Return a public project in a public group."""
    owner, stranger = make.user(password=PASSWORD), make.user(password=PASSWORD)
    group = make_group(make, owner, visibility="public")
    return IssuePages(owner, stranger, group, make_project(make, owner, group=group, visibility="public"))


@pytest.fixture(scope="module")
def filtered_issues(make: Make, setup: IssuePages) -> dict[str, dict[str, Any]]:
    """Return issues to filter, in their own project."""
    milestone = make_milestone(make, setup.project)["id"]
    assert make.api.post(f"{setup.project.url}/labels", setup.owner, name="a & b", color="#ff0000").status_code == 201
    return {
        "labelled": make_issue(make, setup.project, setup.owner, title="Labelled one", labels="a & b"),
        "planned": make_issue(make, setup.project, setup.owner, title="Planned one", milestone_id=milestone),
        "mine": make_issue(make, setup.project, setup.stranger, title="Mine one", description=HOSTILE),
        "hostile": make_issue(make, setup.project, setup.owner, title=HOSTILE, description=HOSTILE),
    }


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["labelled", "planned", "mine", "hostile"]),
        ("?label_name[]=a+%26+b", ["labelled"]),
        ("?label_name[]=no+such", []),
        ("?milestone_title=None&search=one", ["labelled", "mine"]),
        ("?search=Planned", ["planned"]),
        ("?author_username={stranger}", ["mine"]),
        ("?assignee_username=Any", []),
        ("?state=closed", []),
        ("?state=all&sort=created_asc&page=1", ["labelled", "planned", "mine", "hostile"]),
        ("?state[]=x&sort[a]=b&label_name=%00&search[]=1&page=zero", ["labelled", "planned", "mine", "hostile"]),
        ("?page=1000000", []),
    ],
)
def test_lists_are_filtered_by_query_parameters(
    browser: Browser, setup: IssuePages, filtered_issues: dict[str, dict[str, Any]], query: str, found: list[str]
) -> None:
    query = query.format(stranger=setup.stranger.username)

    for start in (f"/{setup.project.path}", f"/groups/{setup.group.path}"):
        page = browser.get(f"{start}/-/issues{query}")
        assert page.status_code == 200, page.text
        shown = [name for name, issue in filtered_issues.items() if f'/issues/{issue["iid"]}"' in page.text]
        assert shown == found
        assert "<script>alert" not in page.text


def test_own_issues(
    open_browser: Callable[[], Browser], setup: IssuePages, filtered_issues: dict[str, dict[str, Any]]
) -> None:
    browser = open_browser().signed_in_as(setup.stranger)

    assert "Mine one" in browser.get("/dashboard/issues?scope=created_by_me").text
    assert "Mine one" not in browser.get("/dashboard/issues").text
    assert open_browser().get("/dashboard/issues").status_code == 302, "Anonymous visitors are asked to sign in."


def test_life_cycle_of_an_issue(api: Api, open_browser: Callable[[], Browser], setup: IssuePages) -> None:
    browser = open_browser().signed_in_as(setup.owner)
    start = f"/{setup.project.path}/-/issues"

    begun = browser.form(f"{start}/new?issue[title]={HOSTILE}&issue[description]=x", start)
    assert begun.fields["issue[title]"] == HOSTILE, "The address may say it, and it stays text."
    refused = browser.submit(f"{start}/new", start, **{"issue[title]": " ", "issue[description]": "A long story"})
    assert refused.status_code == 422
    assert "A long story" in refused.text
    fields = {"issue[title]": "So", "issue[description]": "**so**", "issue[confidential]": "true"}
    fields |= {"issue[assignee_ids][]": str(setup.owner.id), "issue[due_date]": "2031-02-03"}
    page = browser.submit(f"{start}/new", start, fields=fields).headers["location"]

    url = f"{setup.project.url}/issues/{page.rpartition('/')[2]}"
    issue = api.get(url, setup.owner).json()
    assert (issue["title"], issue["confidential"], issue["due_date"]) == ("So", True, "2031-02-03")
    assert [person["id"] for person in issue["assignees"]] == [setup.owner.id]
    assert "<strong>so</strong>" in browser.get(page).text

    # A form without checked boxes removes their values.
    fields = {"issue[title]": "Otherwise", "issue[due_date]": ""}
    assert browser.submit(f"{page}/edit", page, does="put", fields=fields).headers["location"] == page
    issue = api.get(url, setup.owner).json()
    assert (issue["title"], issue["confidential"], issue["due_date"]) == ("Otherwise", False, None)
    assert issue["assignees"] == []

    assert browser.submit(page, f"{page}/state", state_event="close").status_code == 302
    assert api.get(url, setup.owner).json()["state"] == "closed"
    assert browser.submit(f"{page}/edit", page, does="delete").headers["location"] == start
    assert browser.get(page).status_code == 404


def test_a_conflicting_edit_loses_nothing(
    api: Api, make: Make, open_browser: Callable[[], Browser], setup: IssuePages
) -> None:
    issue = make_issue(make, setup.project, setup.owner, description="- [ ] one\n- [x] two")
    browser, page = open_browser().signed_in_as(setup.owner), setup.url(issue)
    form = browser.form(f"{page}/edit", page, "put").fields
    tasks = browser.form(page, f"{page}/tasks").fields
    url = f"{setup.project.url}/issues/{issue['iid']}"
    api.put(url, setup.owner, description="- [ ] another\n- [ ] two")

    slow = browser.post(page, data=form | {"issue[description]": "Mine"})
    assert slow.status_code == 422
    assert "Mine" in slow.text
    assert browser.post(f"{page}/tasks", data=tasks | {"task": "0-done"}).status_code == 409
    assert api.get(url, setup.owner).json()["description"] == "- [ ] another\n- [ ] two"


def test_tasks_are_checked(api: Api, make: Make, open_browser: Callable[[], Browser], setup: IssuePages) -> None:
    text = "- [ ] one\n\n```\n- [ ] code\n```\n\n1. [x] two `[ ]`"
    issue = make_issue(make, setup.project, setup.owner, description=text)
    browser, page, url = open_browser().signed_in_as(setup.owner), setup.url(issue), f"{setup.project.url}/issues/"

    assert browser.get(page).text.count('class="task"') == 2
    for task in ("0-done", "1-open"):
        assert browser.submit(page, f"{page}/tasks", task=task).status_code == 302
    described = api.get(f"{url}{issue['iid']}", setup.owner).json()["description"]
    assert described == text.replace("- [ ] one", "- [x] one").replace("[x] two", "[ ] two")
    for task in ("2-done", "-1-done", "x", "99999999", ""):
        assert browser.submit(page, f"{page}/tasks", task=task).status_code in (400, 409)
    stranger = open_browser().signed_in_as(setup.stranger)
    assert 'class="task"' not in stranger.get(page).text
    sent = {"authenticity_token": stranger.token(), "task": "0-open", "version": "x"}
    assert stranger.post(f"{page}/tasks", data=sent).status_code == 403


def test_links_and_moves(api: Api, make: Make, open_browser: Callable[[], Browser], setup: IssuePages) -> None:
    issue, other = (make_issue(make, setup.project, setup.owner) for _ in range(2))
    elsewhere = make_project(make, setup.owner)
    browser, page = open_browser().signed_in_as(setup.owner), setup.url(issue)
    url = f"{setup.project.url}/issues/{issue['iid']}"

    for wrong in ("nothing", "#999999"):
        assert browser.submit(page, f"{page}/links", target=wrong).status_code == 422
    assert browser.submit(page, f"{page}/links", target=other["web_url"]).status_code == 302
    (link,) = api.get(f"{url}/links", setup.owner).json()
    assert link["iid"] == other["iid"]
    assert browser.submit(page, f"{page}/links/{link['issue_link_id']}").status_code == 302
    assert api.get(f"{url}/links", setup.owner).json() == []

    assert browser.submit(page, f"{page}/move", to_project="no/such").status_code == 422
    moved = browser.submit(page, f"{page}/move", to_project=elsewhere.path)
    assert moved.headers["location"] == f"/{elsewhere.path}/-/issues/1"
    assert browser.get(moved.headers["location"]).status_code == 200


def test_tasks_of_an_issue(make: Make, open_browser: Callable[[], Browser], setup: IssuePages) -> None:
    issue, other, secret = (make_issue(make, setup.project, setup.owner, title=f"Issue <{n}>") for n in range(3))
    make.api.put(f"{setup.project.url}/issues/{secret['iid']}", setup.owner, confidential=True)
    browser, page = open_browser().signed_in_as(setup.owner), setup.url(issue)
    assert browser.submit(page, f"{page}/children", task="First <part>").status_code == 302
    task = make.api.get(f"{setup.project.url}/issues", setup.owner, issue_type="task").json()[0]
    shown = browser.get(page).text
    assert "0 of 1 closed" in shown and "First &lt;part&gt;" in shown
    own = browser.get(setup.url(task)).text
    assert ">Task</span>" in own and f'/issues/{issue["iid"]}">Issue &lt;0&gt;</a>' in own
    assert "Add task" not in own
    make.api.put(f"{setup.project.url}/issues/{task['iid']}", setup.owner, state_event="close")
    assert "1 of 1 closed" in browser.get(page).text
    assert browser.submit(page, f"{page}/children/{task['id']}").status_code == 302
    assert "First" not in browser.get(page).text and "part of" not in browser.get(setup.url(task)).text
    assert browser.submit(page, f"{page}/children", task=f"#{task['iid']}").status_code == 302
    assert "1 of 1 closed" in browser.get(page).text
    refused = browser.submit(page, f"{page}/children", task=f"#{other['iid']}")
    assert refused.status_code == 422 and "only an issue or incident can contain tasks" in refused.text
    for wrong in ("#999999", " "):
        assert browser.submit(page, f"{page}/children", task=wrong).status_code == 422
    hidden = setup.url(secret)
    assert browser.submit(hidden, f"{hidden}/children", task="Secret part").status_code == 302
    (made,) = [
        each
        for each in make.api.get(f"{setup.project.url}/issues", setup.owner, issue_type="task").json()
        if each["title"] == "Secret part"
    ]
    assert made["confidential"] is True
    guest = make.user(password=PASSWORD)
    make.api.post(f"{setup.project.url}/members", setup.owner, user_id=guest.id, access_level=int(Level.GUEST))
    seen = open_browser().signed_in_as(guest).get(page).text
    assert "1 of 1 closed" in seen and "Add task" not in seen and f"{page}/children" not in seen


def test_other_users_have_no_actions_and_no_permission(
    make: Make, open_browser: Callable[[], Browser], browser: Browser, setup: IssuePages
) -> None:
    issue = make_issue(make, setup.project, setup.owner)
    page, stranger = setup.url(issue), open_browser().signed_in_as(setup.stranger)
    shown = stranger.get(page).text
    token = stranger.token()

    for part in ("/edit", "/state", "/move", "/sidebar/labels"):
        assert f'{page}{part}"' not in shown
    assert stranger.get(f"{page}/edit").status_code == 404
    for path, sent in (
        (page, {"_method": "put", "issue[title]": "x"}),
        (page, {"_method": "delete"}),
        (f"{page}/state", {"state_event": "close"}),
        (f"{page}/move", {"to_project": setup.project.path}),
    ):
        assert stranger.post(path, data=sent | {"authenticity_token": token}).status_code in (403, 422)
    assert browser.get(page).status_code == 200, "Anonymous visitors can read it."
    assert "Sign in</a> to comment" in browser.get(page).text


def test_project_templates_are_offered(api: Api, open_browser: Callable[[], Browser], setup: IssuePages) -> None:
    sent = {"branch": "master", "commit_message": "Ask", "content": "## Steps to <b>repeat</b>"}
    path = ".gitlab%2Fissue_templates%2FBug%20report.md"
    assert api.post(f"{setup.project.url}/repository/files/{path}", setup.owner, **sent).status_code == 201
    browser = open_browser().signed_in_as(setup.stranger)
    start = f"/{setup.project.path}/-/issues/new"

    shown = browser.get(start).text
    assert 'href="?issuable_template=Bug+report"' in shown
    assert "Steps to" not in shown
    assert "## Steps to &lt;b&gt;repeat" in browser.get(f"{start}?issuable_template=Bug report").text
    for odd in ("=../../x", "[]=Bug report", "=Bug%00report", "="):
        assert browser.get(f"{start}?issuable_template{odd}").status_code == 200
    assert "My own" in browser.get(f"{start}?issuable_template=Bug report&issue[description]=My own").text
    default = ".gitlab%2Fissue_templates%2Fdefault.md"
    sent["content"] = "What everybody is asked" + "!" * 200_000
    assert api.post(f"{setup.project.url}/repository/files/{default}", setup.owner, **sent).status_code == 201
    assert 100_000 < len(browser.get(start).text) < 140_000, "One that is too long is cut."
    label = api.post(f"{setup.project.url}/labels", setup.owner, name="asked", color="#ff0000").json()
    asked = f"issue[label_ids][]={label['id']}&issue[assignee_id]={setup.owner.id}&issue[confidential]=true"
    begun = open_browser().signed_in_as(setup.owner).get(f"{start}?{asked}").text
    for value in ("asked", setup.owner.id, "true"):
        assert f'value="{value}" checked>' in begun


def test_commits_are_shown_to_members_only(make: Make, browser: Browser, open_browser: Callable[[], Browser]) -> None:
    """Pages of hidden commits get 404."""
    owner = make.user(password=PASSWORD)
    guest = make.user(password=PASSWORD)
    project = make_project(make, owner, members={guest: Level.GUEST})
    issue = make_issue(make, project, owner)
    pages = [f"/{project.path}/-/issues", f"/{project.path}/-/issues/{issue['iid']}", f"/{project.path}/-/labels"]
    member = open_browser().signed_in_as(guest)

    for page in [*pages, f"/{project.path}/-/milestones", f"/{project.path}/-/boards/"]:
        assert browser.get(page).status_code == 404
        assert member.get(page).status_code in (200, 302)
