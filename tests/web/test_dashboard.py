"""Home page of the user: objects that wait for the user, own projects, and the banner of a recent push."""

from collections.abc import Callable

from tests.api.issues.factories import make_issue
from tests.api.merge_requests.factories import commit, filled_project, fork, make_merge_request
from tests.client import Api, Make, User
from tests.factories import Project, make_group, statements_of
from tests.web.browser import Browser


def _needs(page: str) -> str:
    return page.partition('id="needs"')[2].partition('id="activity"')[0]


def _fail(make: Make, project: Project, merge_request: dict[str, str], person: User) -> None:
    address = f"{project.url}/statuses/{merge_request['sha']}"
    sent = {"state": "failed", "name": "test", "ref": merge_request["source_branch"]}
    assert make.api.post(address, person, **sent).status_code == 201


def test_home_begins_with_tasks_of_the_user(make: Make, browser: Browser, person: User) -> None:
    owner = make.user()
    project = filled_project(make, owner, members={person: 30}, visibility="private")
    browser.signed_in_as(person)
    assert "Nothing waits for you" in browser.get("/").text

    make_issue(make, project, owner, title="Paint the buoy", assignee_ids=[person.id])
    make_merge_request(make, project, owner, title="Grease the lock", reviewer_ids=[person.id])
    own = make_merge_request(make, project, person, title="Dredge the basin")
    _fail(make, project, own, owner)

    shown = _needs(browser.get("/").text)
    for heading, title in (
        ("Review requests", "Grease the lock"),
        ("Failed pipelines", "Dredge the basin"),
        ("Assigned issues", "Paint the buoy"),
        ("To-do items", "Paint the buoy"),
    ):
        assert title in shown.partition(heading)[2], heading
    make.api.delete(f"{project.url}/members/{person.id}", owner)
    assert "the lock" not in browser.get("/").text, "Nothing of a project that the user cannot see any more."


def test_failed_pipelines_of_hidden_forks_are_not_shown(make: Make, browser: Browser, person: User, api: Api) -> None:
    project, friend = filled_project(make, visibility="public"), make.user()
    copy = fork(make, project, friend)
    api.post(f"{copy.url}/members", friend, user_id=person.id, access_level=30)
    commit(make, copy, "side", {"side": "1\n"}, person, start="master")
    sent = {"source_branch": "side", "target_branch": "master", "title": "From a fork", "target_project_id": project.id}
    _fail(make, copy, api.post(f"{copy.url}/merge_requests", person, **sent).json(), friend)
    browser.signed_in_as(person)
    failed = "pipeline failed"
    assert failed in _needs(browser.get("/").text)

    api.put(copy.url, friend, visibility="private")
    api.delete(f"{copy.url}/members/{person.id}", friend)
    assert failed not in _needs(browser.get("/").text)


def test_home_has_a_constant_number_of_statements(make: Make, browser: Browser, person: User) -> None:
    project = filled_project(make, person)
    browser.signed_in_as(person)

    def add() -> None:
        make_issue(make, project, person, assignee_ids=[person.id])
        _fail(make, project, make_merge_request(make, project, person, reviewer_ids=[person.id]), person)

    for _ in range(5):  # As many as are shown: a longer list is counted with a statement.
        add()
    few = statements_of(make, lambda: browser.get("/"))
    for _ in range(2):
        add()
    assert statements_of(make, lambda: browser.get("/")) == few


def test_activity_is_filtered(make: Make, browser: Browser, person: User) -> None:
    project = filled_project(make, person)
    make_issue(make, project, person, title="Paint the buoy")
    browser.signed_in_as(person)

    issues, pushes = (browser.get(f"/?activity={kind}").text for kind in ("issues", "pushes"))

    assert "opened issue Paint the buoy" in issues
    assert "pushed" not in issues.partition("activity-list")[2]
    assert "Paint the buoy" not in pushes.partition("activity-list")[2]
    assert browser.get("/?activity=unknown").status_code == 200


def test_own_and_starred_projects(make: Make, browser: Browser, person: User, api: Api) -> None:
    own, other = filled_project(make, person), filled_project(make, visibility="public")
    api.post(f"{other.url}/star", person)
    browser.signed_in_as(person)

    member, starred = (browser.get(f"/dashboard/projects{query}").text for query in ("", "?filter=starred"))

    assert (own.path in member, other.path in member) == (True, False)
    assert (own.path in starred, other.path in starred) == (False, True)


def test_a_recent_push_offers_a_merge_request(
    make: Make, open_browser: Callable[[], Browser], person: User, api: Api
) -> None:
    owner = make.user(password=person.password)
    project = filled_project(make, owner, members={person: 30})
    commit(make, project, "side", {"side": "1\n"}, person, start="master")
    pusher, colleague = open_browser().signed_in_as(person), open_browser().signed_in_as(owner)

    banner = "You pushed to <strong>side</strong>"
    assert banner in pusher.get(f"/{project.path}").text
    assert banner not in colleague.get(f"/{project.path}").text, "The colleague pushed to the default branch only."
    sent = {"source_branch": "side", "target_branch": "master", "title": "Side"}
    assert api.post(f"{project.url}/merge_requests", owner, **sent).status_code == 201
    assert banner not in pusher.get(f"/{project.path}").text


def test_members_show_the_origin_of_their_role(make: Make, browser: Browser, person: User, api: Api) -> None:
    parent = make_group(make, person)
    above, both = make.user(), make.user()
    project = filled_project(make, person, group=parent, members={both: 40})
    for user, level in ((above, 20), (both, 30)):
        api.post(f"/groups/{parent.id}/members", person, user_id=user.id, access_level=level)
    browser.signed_in_as(person)
    address = f"/{project.path}/-/project_members"

    shown, direct = browser.get(address).text, browser.get(f"{address}?with=direct").text

    def row(user: User) -> str:
        return shown.partition(f'href="/{user.username}"')[2].partition("</li>")[0]

    assert "Inherited from" in row(above)
    assert "Remove member" not in row(above), "Only the group can remove this member."
    assert f'Developer in <a href="/groups/{parent.path}">' in row(both)
    assert '<option value="40" selected>' in row(both), "The form shows the direct role."
    assert (above.username in direct, both.username in direct) == (False, True)
