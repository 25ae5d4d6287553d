"""Timelogs: the entries of which the time spent consists."""

from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members, make_project
from tests.git_history import History
from tests.graphql.conftest import Graphql
from tests.graphql.test_mutations import Mutations
from tests.statements import cold_reads, executed

FIELDS = """count totalSpentTime nodes { id timeSpent summary spentAt user { username } issue { iid }
    mergeRequest { iid } project { fullPath } userPermissions { adminTimelog } }"""
HOUR = 3600


@pytest.fixture(scope="module")
def people(make: Make) -> dict[str, User]:
    return {name: make.user() for name in ("owner", "developer", "guest", "stranger")}


@pytest.fixture
def project(instance: Instance, make: Make, people: dict[str, User]) -> Project:
    """Create a project with an issue, a confidential issue and a merge request."""
    project = make_project(make, people["owner"])
    add_members(make, project, {people["developer"]: 30, people["guest"]: 10})
    history = History()
    history.commit("master", {"README.md": "hello\n"})
    history.commit("topic", {"a.txt": "a\n"}, parents=(1,))
    history.fill(instance, project)
    for title, confidential in (("open", False), ("secret", True)):
        sent = {"title": title, "confidential": confidential}
        assert make.api.post(f"{project.url}/issues", people["owner"], **sent).status_code == 201
    merge = {"source_branch": "topic", "target_branch": "master", "title": "merge"}
    assert make.api.post(f"{project.url}/merge_requests", people["owner"], **merge).status_code == 201
    return project


def _spend(api: Api, user: User, url: str, duration: str, **sent: Any) -> None:
    answer = api.post(f"{url}/add_spent_time", user, duration=duration, **sent)
    assert answer.status_code == 201, answer.text


def _listed(graphql: Graphql, project: Project, user: User | None, arguments: str = "") -> Any:
    query = f"query($path: ID!) {{ project(fullPath: $path) {{ timelogs{arguments} {{ {FIELDS} }} }} }}"
    return (graphql.data(query, user, path=project.path)["project"] or {}).get("timelogs")


def test_spent_time_is_listed(graphql: Graphql, api: Api, project: Project, people: dict[str, User]) -> None:
    owner, developer = people["owner"], people["developer"]
    _spend(api, developer, f"{project.url}/issues/1", "1h", summary="first")
    api.post(f"{project.url}/issues/1/notes", owner, body="/spend 30m")
    _spend(api, owner, f"{project.url}/merge_requests/1", "2h")
    _spend(api, owner, f"{project.url}/issues/1", "-15m")
    page = _listed(graphql, project, owner)
    assert [each["timeSpent"] for each in page["nodes"]] == [HOUR, HOUR // 2, 2 * HOUR, -HOUR // 4]
    assert (page["count"], page["totalSpentTime"]) == (4, str(HOUR * 13 // 4))
    first, _, on_merge_request, _ = page["nodes"]
    assert (first["summary"], first["user"], first["issue"]) == (
        "first",
        {"username": developer.username},
        {"iid": "1"},
    )
    assert (on_merge_request["issue"], on_merge_request["mergeRequest"]) == (None, {"iid": "1"})
    assert on_merge_request["project"] == {"fullPath": project.path}
    query = f"""query($path: ID!) {{ project(fullPath: $path) {{ issue(iid: "1") {{ totalTimeSpent
        timelogs {{ {FIELDS} }} }} mergeRequest(iid: "1") {{ totalTimeSpent timelogs {{ {FIELDS} }} }} }} }}"""
    subjects = graphql.data(query, owner, path=project.path)["project"]
    for name, path in (("issue", "issues"), ("mergeRequest", "merge_requests")):
        total = api.get(f"{project.url}/{path}/1/time_stats", owner).json()["total_time_spent"]
        assert subjects[name]["totalTimeSpent"] == int(subjects[name]["timelogs"]["totalSpentTime"]) == total
    assert api.post(f"{project.url}/issues/1/reset_spent_time", owner).status_code == 200
    issue = graphql.data(query, owner, path=project.path)["project"]["issue"]
    assert (issue["totalTimeSpent"], issue["timelogs"]["totalSpentTime"]) == (0, "0")
    own = f"{{ currentUser {{ timelogs {{ {FIELDS} }} }} }}"
    entries = graphql.data(own, developer)["currentUser"]["timelogs"]["nodes"]
    assert [each["summary"] for each in entries if each["project"]["fullPath"] == project.path] == ["first"]


def test_lists_are_filtered(
    graphql: Graphql, instance: Instance, api: Api, project: Project, people: dict[str, User]
) -> None:
    owner, developer = people["owner"], people["developer"]
    run = Mutations(graphql, owner)
    issue = f"gid://gitlab/Issue/{api.get(f'{project.url}/issues/1', owner).json()['id']}"
    for date, spent in (("2020-01-01T10:00:00Z", "1h"), ("2020-01-02T23:30:00Z", "2h")):
        run("timelogCreate", "timelog { id }", issuableId=issue, timeSpent=spent, summary="s", spentAt=date)
    _spend(api, developer, f"{project.url}/issues/1", "3h")
    for arguments, hours in (
        ('(endDate: "2020-01-02")', [1, 2]),
        ('(startDate: "2020-01-02", endDate: "2020-01-02")', [2]),
        ('(startTime: "2020-01-01T10:00:00Z", endTime: "2020-01-02T23:29:59Z")', [1]),
        (f'(username: "{developer.username}")', [3]),
        ('(username: "nothing-like-this")', []),
        ("(sort: SPENT_AT_DESC)", [3, 2, 1]),
        ("(first: 1)", [1]),
    ):
        nodes = _listed(graphql, project, owner, arguments)["nodes"]
        assert [each["timeSpent"] // HOUR for each in nodes] == hours, arguments
    for arguments in (
        'startDate: "2020-01-02", startTime: "2020-01-02"',
        'endDate: "x"',
        'startDate: "3", endDate: "2"',
    ):
        query = f"query($path: ID!) {{ project(fullPath: $path) {{ timelogs({arguments}) {{ count }} }} }}"
        answer = graphql.answer(query, owner, path=project.path)
        assert (answer["data"]["project"]["timelogs"], len(answer["errors"])) == (None, 1)


def test_entries_are_as_visible_as_their_subject(
    graphql: Graphql, api: Api, project: Project, people: dict[str, User]
) -> None:
    _spend(api, people["owner"], f"{project.url}/issues/1", "1h")
    _spend(api, people["owner"], f"{project.url}/issues/2", "2h")
    _spend(api, people["owner"], f"{project.url}/merge_requests/1", "4h")
    expected = {"owner": 7, "developer": 7, "guest": 1, "stranger": None}
    for name, hours in expected.items():
        page = _listed(graphql, project, people[name])
        assert (page and int(page["totalSpentTime"]) // HOUR) == hours, name
        if name != "owner" and page:
            assert {each["userPermissions"]["adminTimelog"] for each in page["nodes"]} == {False}
    assert _listed(graphql, project, None) is None
    query = f"query($name: String!) {{ user(username: $name) {{ timelogs {{ {FIELDS} }} }} }}"
    shown = graphql.data(query, people["stranger"], name=people["owner"].username)["user"]["timelogs"]
    assert all(each["project"]["fullPath"] != project.path for each in shown["nodes"])


def test_visitors_see_the_time_spent_on_public_issues(graphql: Graphql, api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="public")
    for number, confidential in enumerate((False, True), 1):
        api.post(f"{project.url}/issues", owner, title="i", confidential=confidential)
        _spend(api, owner, f"{project.url}/issues/{number}", f"{number}h")
    for visitor in (None, make.user()):
        page = _listed(graphql, project, visitor)
        assert (page["totalSpentTime"], [each["issue"] for each in page["nodes"]]) == (str(HOUR), [{"iid": "1"}])
    assert _listed(graphql, project, owner)["count"] == 2


def test_entries_are_created_and_deleted(graphql: Graphql, api: Api, project: Project, people: dict[str, User]) -> None:
    run, by_developer = (Mutations(graphql, people[name]) for name in ("owner", "developer"))
    issue = f"gid://gitlab/Issue/{api.get(f'{project.url}/issues/1', people['owner']).json()['id']}"
    merge = f"gid://gitlab/MergeRequest/{api.get(f'{project.url}/merge_requests/1', people['owner']).json()['id']}"
    selected = "timelog { id timeSpent summary spentAt issue { iid totalTimeSpent } mergeRequest { iid } }"
    sent = {"timeSpent": "1h", "summary": "work"}
    created = run("timelogCreate", selected, issuableId=issue, **sent, spentAt="2020-01-01T00:00:00Z")
    assert created["spentAt"] == "2020-01-01T00:00:00.000Z"
    assert (created["timeSpent"], created["summary"], created["issue"]["totalTimeSpent"]) == (HOUR, "work", HOUR)
    on_merge = by_developer("timelogCreate", selected, issuableId=merge, **sent)
    assert on_merge["mergeRequest"] == {"iid": "1"}

    def errors(**changed: Any) -> list[str]:
        payload = run.answer("timelogCreate", "timelog { id }", **{"issuableId": issue, **sent, **changed})
        refusals: list[str] = payload["data"]["timelogCreate"]["errors"]
        return refusals

    assert errors(timeSpent="soon") == ["Time spent must be formatted correctly. For example: 1h 30m."]
    assert errors(timeSpent="0h") == ["Time spent can't be zero."]
    assert errors(spentAt="2999-01-01") == ["Spent at can't be a future date and time."]
    assert errors(spentAt="x") == ["Spent at is not a valid time"]
    assert errors(summary="x" * 256) == ["Summary is too long (maximum is 255 characters)"]
    assert errors(timeSpent="-9h") == ["Time spent Time to subtract exceeds the total time spent"]
    guest, stranger = (Mutations(graphql, people[name]) for name in ("guest", "stranger"))
    for caller in (guest, stranger):
        refused = caller.answer("timelogCreate", "timelog { id }", issuableId=issue, **sent)
        assert refused["data"] == {"timelogCreate": None}
    for caller in (by_developer, guest, stranger):
        assert caller.answer("timelogDelete", "timelog { id }", id=created["id"])["data"] == {"timelogDelete": None}
    assert run("timelogDelete", "timelog { id }", id=on_merge["id"]) == {"id": on_merge["id"]}  # By a maintainer.
    deleted = run("timelogDelete", "timelog { id issue { totalTimeSpent } }", id=created["id"])
    assert deleted == {"id": created["id"], "issue": {"totalTimeSpent": 0}}
    assert run.answer("timelogDelete", "timelog { id }", id=created["id"])["data"] == {"timelogDelete": None}
    assert api.get(f"{project.url}/merge_requests/1/time_stats", people["owner"]).json()["total_time_spent"] == 0
    assert _listed(graphql, project, people["owner"])["nodes"] == []


def test_entries_follow_their_issue_and_user(
    graphql: Graphql, api: Api, make: Make, project: Project, people: dict[str, User]
) -> None:
    owner, leaving = people["owner"], make.user()
    add_members(make, project, {leaving: 30})
    _spend(api, leaving, f"{project.url}/issues/1", "1h", summary="kept")
    assert api.delete(f"/users/{leaving.id}", make.root).is_success
    target = make_project(make, owner)
    moved = api.post(f"{project.url}/issues/1/move", owner, to_project_id=target.id)
    assert moved.status_code == 201
    (entry,) = _listed(graphql, target, owner)["nodes"]
    assert (entry["summary"], entry["timeSpent"], entry["issue"]) == ("kept", HOUR, {"iid": "1"})
    assert entry["user"]["username"] not in (leaving.username, owner.username)
    assert api.delete(f"{target.url}/issues/1", owner).is_success
    assert _listed(graphql, target, owner)["count"] == 0


def test_lists_take_a_constant_number_of_statements(
    graphql: Graphql, api: Api, make: Make, project: Project, people: dict[str, User]
) -> None:
    owner = people["owner"]
    for number in range(12):
        issue = api.post(f"{project.url}/issues", owner, title=str(number)).json()["iid"]
        _spend(api, owner, f"{project.url}/issues/{issue}", "1h")
        _spend(api, owner, f"{project.url}/merge_requests/1", "1h")
    entries = f"""query($path: ID!, $first: Int!) {{ project(fullPath: $path) {{
        timelogs(first: $first) {{ {FIELDS} }} }} }}"""
    issues = f"""query($path: ID!, $first: Int!) {{ project(fullPath: $path) {{
        issues(first: $first) {{ nodes {{ timelogs {{ {FIELDS} }} }} }} }} }}"""
    for query in (entries, issues):
        costs = []
        for first in (3, 12):
            graphql.data(query, owner, path=project.path, first=first)
            before = executed(make.database)
            with cold_reads():
                graphql.data(query, owner, path=project.path, first=first)
            costs.append(executed(make.database) - before)
        assert costs[1] <= costs[0] + 1, query
