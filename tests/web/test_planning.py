"""Pages of labels, milestones, boards and to-dos, of projects and groups."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue
from tests.client import Api, Make, User
from tests.factories import Group, Project, make_group, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

HOSTILE = "\"'><script>alert(1)</script>"


class PlanningSetup(NamedTuple):
    """Group with a project, its owner and a guest."""

    owner: User
    guest: User
    group: Group
    project: Project

    def page(self, kind: str) -> str:
        """Return the path of the pages of the project or the group."""
        return f"/{self.project.path}/-" if kind == "project" else f"/groups/{self.group.path}/-"

    def url(self, kind: str) -> str:
        """Return the API path."""
        return self.project.url if kind == "project" else self.group.url


@pytest.fixture(scope="module")
def setup(make: Make) -> PlanningSetup:
    """Return a private group, so that permissions differ."""
    owner, guest = make.user(password=PASSWORD), make.user(password=PASSWORD)
    group = make_group(make, owner, members={guest: Level.GUEST})
    return PlanningSetup(owner, guest, group, make_project(make, owner, group=group))


@pytest.fixture
def owner(open_browser: Callable[[], Browser], setup: PlanningSetup) -> Browser:
    """Return a browser of the owner."""
    return open_browser().signed_in_as(setup.owner)


@pytest.fixture
def guest(open_browser: Callable[[], Browser], setup: PlanningSetup) -> Browser:
    """Return a browser of the guest."""
    return open_browser().signed_in_as(setup.guest)


@pytest.mark.parametrize("kind", ["project", "group"])
def test_life_cycle_of_a_label(
    api: Api, owner: Browser, guest: Browser, browser: Browser, setup: PlanningSetup, kind: str
) -> None:
    page, url = f"{setup.page(kind)}/labels", f"{setup.url(kind)}/labels"

    def only() -> dict[str, Any]:
        (label,) = [
            one for one in api.get(url, setup.owner).json() if one["name"].startswith((f"x {kind}", f"y {kind}"))
        ]
        return dict(label)

    fields = {"label[name]": f"x {kind} {HOSTILE}", "label[color]": "#123456", "label[description]": HOSTILE}
    assert owner.submit(page, page, fields=fields).headers["location"] == page
    label = only()
    refused = owner.submit(page, page, fields=fields | {"label[description]": "Typed"})
    assert (refused.status_code, "Typed" in refused.text) == (422, True)
    assert "<script>alert" not in owner.get(page).text

    one = f"{page}/{label['id']}"
    edited = {"label[name]": f"y {kind}", "label[color]": "#654321"}
    assert owner.submit(f"{one}/edit", one, does="put", fields=edited).headers["location"] == page
    assert (only()["name"], only()["color"]) == (f"y {kind}", "#654321")
    assert owner.submit(f"{one}/edit", one, does="put", **{"label[color]": "no colour"}).status_code == 422
    assert guest.submit(page, f"{one}/subscription").status_code == 302
    assert api.get(f"{url}/{label['id']}", setup.guest).json()["subscribed"] is True

    assert f'action="{one}"' not in guest.get(page).text
    assert guest.get(f"{one}/edit").status_code == 404
    token = guest.token()
    for sent in ({"_method": "delete"}, {"_method": "put", **edited}):
        assert guest.post(one, data=sent | {"authenticity_token": token}).status_code in (403, 422)
    assert browser.get(page).status_code == 404
    assert owner.submit(page, one, does="delete").status_code == 302
    assert [one for one in api.get(url, setup.owner).json() if one["id"] == label["id"]] == []


def test_labels_are_prioritized(api: Api, make: Make, owner: Browser, guest: Browser, setup: PlanningSetup) -> None:
    page, url = f"{setup.page('project')}/labels", f"{setup.project.url}/labels"
    names = [make.name("rank") for _ in range(3)]
    made = [api.post(url, setup.owner, name=name, color="#111111", priority=7).json()["id"] for name in names[:2]]
    made.append(api.post(f"{setup.group.url}/labels", setup.owner, name=names[2], color="#111111").json()["id"])

    def move(number: int, to: str, browser: Browser = owner) -> int:
        sent = {"_method": "put", "authenticity_token": browser.token(), "move": to}
        return int(browser.post(f"{page}/{made[number]}/rank", data=sent).status_code)

    def prioritized() -> list[str]:
        shown = owner.get(page).text.partition("<h2>Prioritized labels</h2>")[2].partition("<h2>Other labels</h2>")[0]
        return sorted((name for name in names if f">{name}<" in shown), key=lambda name: shown.index(f">{name}<"))

    assert prioritized() == names[:2]
    assert move(2, "last") == 302, "Those of groups are ranked in the project too."
    assert prioritized() == names
    assert (move(2, "up"), move(0, "down"), move(0, "down"), move(2, "up"), move(2, "up")) == (302,) * 5
    assert prioritized() == [names[2], names[1], names[0]]
    assert move(1, "drop") == 302
    assert [api.get(f"{url}/{number}", setup.owner).json()["priority"] for number in made] == [1, None, 0]
    assert "<h2>Prioritized labels</h2>" in guest.get(page).text
    assert "/rank" not in guest.get(page).text
    assert move(1, "last", guest) == 403
    sent = {"_method": "put", "authenticity_token": owner.token(), "move": "up"}
    assert owner.post(f"{setup.page('group')}/labels/{made[2]}/rank", data=sent).status_code == 404
    for number in (0, 2):
        move(number, "drop")
    assert prioritized() == []


def test_a_label_is_promoted(api: Api, owner: Browser, setup: PlanningSetup) -> None:
    label = api.post(f"{setup.project.url}/labels", setup.owner, name="wide", color="#111111").json()
    page = f"{setup.page('project')}/labels"

    assert owner.submit(page, f"{page}/{label['id']}/promote").status_code == 302
    assert "wide" in [one["name"] for one in api.get(f"{setup.group.url}/labels", setup.owner).json()]
    assert "group label" in owner.get(page).text


@pytest.mark.parametrize("kind", ["project", "group"])
def test_life_cycle_of_a_milestone(
    api: Api, make: Make, owner: Browser, guest: Browser, browser: Browser, setup: PlanningSetup, kind: str
) -> None:
    page, url = f"{setup.page(kind)}/milestones", f"{setup.url(kind)}/milestones"
    title = f"{kind} {HOSTILE}"
    fields = {"milestone[title]": title, "milestone[description]": "*so*", "milestone[due_date]": "2031-01-02"}

    assert owner.submit(f"{page}/new", page, **{"milestone[title]": " "}).status_code == 422
    one = owner.submit(f"{page}/new", page, fields=fields).headers["location"]
    (milestone,) = api.get(url, setup.owner, search=kind).json()
    assert milestone["web_url"].endswith(one.replace("/-/", "/") if kind == "project" else one)
    done = make_issue(make, setup.project, setup.owner, milestone_id=milestone["id"])
    make_issue(make, setup.project, setup.owner, milestone_id=milestone["id"])
    api.put(f"{setup.project.url}/issues/{done['iid']}", setup.owner, state_event="close")

    shown = guest.get(one).text
    assert "50 %: 1 of 2 issues closed" in shown
    assert "<em>so</em>" in shown
    assert "<script>alert" not in shown + guest.get(page).text
    assert f'action="{one}"' not in shown
    assert (guest.get(f"{one}/edit").status_code, browser.get(one).status_code) == (404, 404)
    assert browser.get(f"{page}/999").status_code == guest.get(f"{page}/999").status_code == 404

    late = {"milestone[title]": f"{kind} two", "milestone[start_date]": "2032-01-01"}
    refused = owner.submit(f"{one}/edit", one, does="put", fields=late)
    assert (refused.status_code, f'value="{kind} two"' in refused.text) == (422, True)
    changed = {"milestone[title]": f"{kind} two", "milestone[due_date]": ""}
    assert owner.submit(f"{one}/edit", one, does="put", fields=changed).status_code == 302
    assert owner.submit(one, one, does="put", state_event="close").status_code == 302
    after = api.get(f"{url}/{milestone['id']}", setup.owner).json()
    assert (after["title"], after["due_date"], after["state"]) == (f"{kind} two", None, "closed")
    assert f"{kind} two" in owner.get(f"{page}?state=closed").text
    assert owner.submit(one, one, does="delete").headers["location"] == page
    assert owner.get(one).status_code == 404


def test_progress_of_milestones(
    api: Api, make: Make, owner: Browser, guest: Browser, browser: Browser, setup: PlanningSetup
) -> None:
    """Hidden issues are not counted."""
    title = make.name("far")
    group = api.post(f"{setup.group.url}/milestones", setup.owner, title=title).json()["id"]
    made = [make_issue(make, setup.project, setup.owner, milestone_id=group, confidential=hid) for hid in (0, 0, 1)]
    api.put(f"{setup.project.url}/issues/{made[0]['iid']}", setup.owner, state_event="close")

    for kind in ("project", "group"):
        page = f"{setup.page(kind)}/milestones"
        for visitor, text in ((owner, "33 % "), (guest, "50 % ")):
            row = visitor.get(page).text.partition(f">{title}<")[2].partition("</li>")[0]
            assert text in row
        assert browser.get(page).status_code == 404
    api.delete(f"{setup.group.url}/milestones/{group}", setup.owner)


def test_a_milestone_is_promoted(api: Api, owner: Browser, setup: PlanningSetup) -> None:
    made = api.post(f"{setup.project.url}/milestones", setup.owner, title="wide").json()
    page = f"{setup.page('project')}/milestones/{made['iid']}"

    promoted = owner.submit(page, f"{page}/promote").headers["location"]

    assert promoted.startswith(f"/groups/{setup.group.path}/-/milestones/")
    assert owner.get(promoted).status_code == 200


def test_cards_are_moved(api: Api, make: Make, owner: Browser, guest: Browser, setup: PlanningSetup) -> None:
    project = make_project(make, setup.owner, group=setup.group)
    labels = [api.post(f"{project.url}/labels", setup.owner, name=name, color="#111111").json() for name in "ab"]
    first, second = (make_issue(make, project, setup.owner, title=HOSTILE) for _ in range(2))
    page = owner.get(f"/{project.path}/-/boards").headers["location"]
    for label in labels:
        assert owner.submit(page, f"{page}/lists", list=f"label_id {label['id']}").status_code == 302
    assert owner.submit(page, f"{page}/lists", list=f"label_id {labels[0]['id']}").status_code == 422
    board = api.get(f"{project.url}/boards/{page.rpartition('/')[2]}", setup.owner).json()
    a, b = (str(one["id"]) for one in board["lists"])
    token = owner.token()

    def move(issue: dict[str, Any], source: str, target: str, before: str = "") -> dict[str, Any]:
        sent = {"authenticity_token": token, "from": source, "to": target, "before": before}
        assert owner.post(f"{page}/issues/{issue['iid']}", data=sent).status_code == 302
        return dict(api.get(f"{project.url}/issues/{issue['iid']}", setup.owner).json())

    assert move(first, "open", a)["labels"] == ["a"]
    assert move(first, a, b)["labels"] == ["b"]
    closed = move(first, b, "closed")
    assert (closed["labels"], closed["state"]) == ([], "closed")
    again = move(first, "closed", a)
    assert (again["labels"], again["state"]) == (["a"], "opened")
    move(second, "open", a, str(first["id"]))
    shown = owner.get(page).text
    assert shown.index(f"Move #{second['iid']} to") < shown.index(f"Move #{first['iid']} to")
    assert "<script>alert" not in shown
    sent = {"authenticity_token": token, "from": a, "to": "nowhere"}
    assert owner.post(f"{page}/issues/{first['iid']}", data=sent).status_code == 404

    assert "draggable" not in guest.get(page).text.replace('draggable="false"', "")
    sent = {"authenticity_token": guest.token(), "from": a, "to": "closed"}
    assert guest.post(f"{page}/issues/{first['iid']}", data=sent).status_code == 403
    assert guest.post(page, data={"authenticity_token": guest.token(), "_method": "delete"}).status_code == 403

    left = owner.post(f"{page}/lists/{b}", data={"authenticity_token": token, "_method": "put", "position": "0"})
    assert left.status_code == 302
    assert owner.submit(page, f"{page}/lists/{b}", does="delete").status_code == 302
    lists = api.get(f"{project.url}/boards/{board['id']}", setup.owner).json()["lists"]
    assert [str(one["id"]) for one in lists] == [a]
    other = owner.submit(page, f"/{project.path}/-/boards", **{"board[name]": HOSTILE}).headers["location"]
    assert "<script>alert" not in owner.get(f"/{project.path}/-/boards").text
    assert owner.submit(other, other, does="put", **{"board[name]": " "}).status_code == 422
    assert owner.submit(other, other, does="delete").headers["location"] == f"/{project.path}/-/boards"
    assert owner.submit(page, page, does="delete").headers["location"] == f"/{project.path}/-/boards"
    assert "No boards yet" in owner.get(f"/{project.path}/-/boards").text


def test_group_boards(api: Api, make: Make, owner: Browser, guest: Browser, setup: PlanningSetup) -> None:
    start = f"{setup.page('group')}/boards"
    projects = [make_project(make, setup.owner, group=setup.group) for _ in range(2)]
    issues = [make_issue(make, project, setup.owner, title=HOSTILE) for project in projects]
    outside = make_issue(make, make_project(make, setup.owner), setup.owner)
    label = api.post(f"{setup.group.url}/labels", setup.owner, name=make.name("lane"), color="#111111").json()
    page = owner.submit(start, start, **{"board[name]": "Together"}).headers["location"]
    assert owner.submit(page, f"{page}/lists", list=f"label_id {label['id']}").status_code == 302
    (column,) = api.get(f"{setup.group.url}/boards/{page.rpartition('/')[2]}", setup.owner).json()["lists"]

    shown = owner.get(page).text
    assert all(issue["references"]["full"] in shown for issue in issues)
    assert "<script>alert" not in shown
    assert guest.get(page).status_code == 200
    assert "draggable" not in guest.get(page).text.replace('draggable="false"', "")

    def move(issue: dict[str, Any], before: str = "", browser: Browser = owner) -> int:
        sent = {"authenticity_token": browser.token(), "from": "open", "to": str(column["id"]), "before": before}
        sent["project_id"] = str(issue["project_id"])
        return int(browser.post(f"{page}/issues/{issue['iid']}", data=sent).status_code)

    assert move(issues[0], browser=guest) == 403
    assert [move(issues[0]), move(issues[1], str(issues[0]["id"]))] == [302, 302], "Projects have orders of their own."
    for issue in issues:
        url = f"/projects/{issue['project_id']}/issues/{issue['iid']}"
        assert api.get(url, setup.owner).json()["labels"] == [label["name"]]
    assert move(outside) == 404


def test_todos_are_done(api: Api, make: Make, guest: Browser, setup: PlanningSetup) -> None:
    two = [make_issue(make, setup.project, setup.owner, title=f"{HOSTILE} {n}") for n in range(2)]
    for issue in two:
        note = f"@{setup.guest.username} {HOSTILE}"
        api.post(f"{setup.project.url}/issues/{issue['iid']}/notes", setup.owner, body=note)
    first, second = api.get("/todos", setup.guest).json()

    shown = guest.get("/dashboard/todos").text
    assert 'To-dos</span> <span class="number">2</span>' in shown
    assert "<script>alert" not in shown
    for todo in (first, second):
        assert guest.get(todo["target_url"].split("#")[0]).status_code == 200
    assert "No to-do items found" in guest.get("/dashboard/todos?type=MergeRequest").text
    assert guest.get("/dashboard/todos?type=x&action[]=1&project_id=-1&state=z").status_code == 200

    assert guest.submit("/dashboard/todos", f"/dashboard/todos/{first['id']}/done").status_code == 302
    assert [todo["id"] for todo in api.get("/todos", setup.guest).json()] == [second["id"]]
    assert guest.submit("/dashboard/todos", "/dashboard/todos/done").status_code == 302
    assert api.get("/todos", setup.guest).json() == []
    assert "Your to-do list is empty" in guest.get("/dashboard/todos").text
    assert str(two[0]["iid"]) in guest.get("/dashboard/todos?state=done").text


def test_todos_for_commits(api: Api, make: Make, owner: Browser, setup: PlanningSetup) -> None:
    project = make_project(make, setup.owner, initialize_with_readme=True)
    url = f"{project.url}/repository/commits/master"
    sha = api.get(url, setup.owner).json()["id"]
    note = f"Look, @{setup.owner.username} {HOSTILE}"
    assert api.post(f"{url}/comments", make.root, note=note).status_code == 201

    shown = owner.get("/dashboard/todos?type=Commit").text
    assert sha[:8] in shown
    assert "<script>alert" not in shown
    (todo,) = api.get("/todos", setup.owner, type="Commit").json()
    assert owner.get(todo["target_url"].removeprefix(owner.url)).status_code == 200
    assert owner.submit("/dashboard/todos?type=Commit", f"/dashboard/todos/{todo['id']}/done").status_code == 302


def test_every_url_of_the_api_is_valid(
    api: Api, make: Make, owner: Browser, guest: Browser, browser: Browser, setup: PlanningSetup
) -> None:
    """For permitted users; others get 404."""
    group, project = setup.group.url, setup.project.url
    planned = [
        api.post(f"{start}/milestones", setup.owner, title=make.name("plan")).json() for start in (group, project)
    ]
    issue = make_issue(make, setup.project, setup.owner, milestone_id=planned[0]["id"])
    todo = api.post(f"{project}/issues/{issue['iid']}/todo", setup.owner).json()
    addresses = [issue["web_url"], todo["target_url"], issue["milestone"]["web_url"]]
    addresses += [milestone["web_url"] for milestone in planned]

    for address in addresses:
        path = address.removeprefix(browser.url)
        assert owner.get(path).status_code == guest.get(path).status_code == 200, path
        assert browser.get(path).status_code == 404, path
        assert owner.get(f"{path.split('?')[0]}999").status_code == 404, path


def _move(browser: Browser, page: str, iid: int, **fields: str) -> None:
    sent = {"authenticity_token": browser.token(), "before": "", **fields}
    assert browser.post(f"{page}/issues/{iid}?group_by=assignee", data=sent).headers["location"].endswith("=assignee")


def test_a_board_with_people_milestones_limits_and_lanes(
    api: Api, make: Make, owner: Browser, guest: Browser, setup: PlanningSetup
) -> None:
    project = make_project(make, setup.owner, group=setup.group)
    plan = api.post(f"{project.url}/milestones", setup.owner, title="Spring").json()
    page = owner.get(f"/{project.path}/-/boards").headers["location"]
    for choice in (f"assignee_id {setup.owner.id}", f"milestone_id {plan['id']}"):
        assert owner.submit(page, f"{page}/lists", list=choice).status_code == 302
    for refused in ("", "board_id 1", f"assignee_id {setup.owner.id}"):
        assert owner.submit(page, f"{page}/lists", list=refused).status_code == 422
    board = api.get(f"{project.url}/boards/{page.rpartition('/')[2]}", setup.owner).json()
    mine, spring = (str(each["id"]) for each in board["lists"])
    iid = make_issue(make, project, setup.owner, title="Paint the mast")["iid"]

    def issue() -> tuple[list[str], str | None, str]:
        shown = api.get(f"{project.url}/issues/{iid}", setup.owner).json()
        milestone = shown["milestone"]["title"] if shown["milestone"] else None
        return [each["username"] for each in shown["assignees"]], milestone, shown["state"]

    _move(owner, page, iid, **{"from": "open", "to": mine})
    assert issue() == ([setup.owner.username], None, "opened")
    _move(owner, page, iid, **{"from": mine, "to": spring})
    assert issue() == ([], "Spring", "opened")
    _move(owner, page, iid, **{"from": spring, "to": spring, "from_lane": "0", "to_lane": str(setup.guest.id)})
    assert issue() == ([setup.guest.username], "Spring", "opened")
    _move(owner, page, iid, **{"from": spring, "to": "closed"})
    assert issue() == ([setup.guest.username], "Spring", "closed")
    _move(owner, page, iid, **{"from": "closed", "to": "open"})
    assert issue() == ([setup.guest.username], None, "opened")
    _move(owner, page, iid, **{"from": "open", "to": spring, "from_lane": str(setup.guest.id), "to_lane": "0"})
    assert issue() == ([], "Spring", "opened")

    make_issue(make, project, setup.owner, title="Caulk", milestone_id=plan["id"], assignee_ids=[setup.guest.id])
    limited = {"authenticity_token": owner.token(), "_method": "put", "max_issue_count": "1"}
    assert owner.post(f"{page}/lists/{spring}", data=limited).status_code == 302
    assert "More issues than the limit" in owner.get(page).text and "2/1" in owner.get(page).text.replace("\n", "")
    lanes = guest.get(f"{page}?group_by=assignee").text
    assert lanes.count('class="lane"') == 2 and f'data-lane="{setup.guest.id}"' in lanes
    assert "to_lane" not in lanes, "A guest may not move cards."
    assert owner.post(f"{page}/lists/{spring}", data=limited | {"max_issue_count": ""}).status_code == 302
    assert "More issues than the limit" not in owner.get(page).text


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("search=mast", {"Paint the mast"}),
        ("assignee_username=None", {"Paint the mast"}),
        ("assignee_username={guest}", {"Caulk"}),
        ("author_username={guest}", set()),
        ("milestone_title=Spring", {"Caulk"}),
        ("milestone_title=None", {"Paint the mast", "Tar"}),
        ("label_name[]=hull", {"Tar"}),
        ("assignee_username=nobody-of-this-name", set()),
    ],
)
def test_a_board_is_filtered(
    api: Api, make: Make, owner: Browser, setup: PlanningSetup, query: str, titles: set[str]
) -> None:
    project = make_project(make, setup.owner, group=setup.group)
    plan = api.post(f"{project.url}/milestones", setup.owner, title="Spring").json()["id"]
    label = api.post(f"{project.url}/labels", setup.owner, name="hull", color="#111111").json()["id"]
    make_issue(make, project, setup.owner, title="Paint the mast")
    make_issue(make, project, setup.owner, title="Caulk", milestone_id=plan, assignee_ids=[setup.guest.id])
    make_issue(make, project, setup.owner, title="Tar", labels="hull", assignee_ids=[setup.owner.id])
    page = owner.get(f"/{project.path}/-/boards").headers["location"]
    lists = f"{project.url}/boards/{page.rpartition('/')[2]}/lists"
    for sent in ({"label_id": label}, {"assignee_id": setup.guest.id}, {"milestone_id": plan}):
        assert api.post(lists, setup.owner, **sent).status_code == 201
    for grouped in ("", "&group_by=assignee"):
        shown = owner.get(f"{page}?{query.format(guest=setup.guest.username)}{grouped}").text
        assert {title for title in ("Paint the mast", "Caulk", "Tar") if f">{title}</a>" in shown} == titles
