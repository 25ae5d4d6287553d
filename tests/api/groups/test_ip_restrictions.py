"""Groups that are restricted to addresses; tests come from 127.0.0.1."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, changed_settings, make_group, make_project
from tests.graphql.conftest import Graphql
from tests.web.browser import Browser

HERE, ELSEWHERE, FIELD = "127.0.0.0/8", "192.0.2.0/24", "ip_restriction_ranges"


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def member(make: Make) -> User:
    return make.user()


@pytest.fixture
def group(make: Make, owner: User, member: User) -> Group:
    return make_group(make, owner, visibility="public", members={member: 40})


@pytest.fixture
def project(make: Make, owner: User, group: Group) -> Project:
    below = make_group(make, owner, parent=group, visibility="public")
    return make_project(make, owner, group=below, visibility="public", initialize_with_readme=True)


@pytest.fixture
def restrict(api: Api, group: Group, owner: User) -> Iterator[Callable[[str | None], Any]]:
    """Yield a function that changes the restriction until the test ends."""

    def change(ranges: str | None) -> Any:
        changed = api.put(group.url, owner, **{FIELD: ranges})
        assert changed.status_code == 200, changed.text
        return changed.json()[FIELD]

    yield change
    change(None)


def test_only_listed_addresses_use_the_group(
    api: Api, make: Make, group: Group, project: Project, owner: User, member: User, restrict: Callable[..., Any]
) -> None:
    """Also readers without an account; administrators everywhere, and owners the groups but not the projects."""

    def statuses(path: str) -> list[int]:
        return [api.get(path, user).status_code for user in (None, member, owner, make.root)]

    for ranges in (None, HERE, f"{ELSEWHERE}, 127.0.0.1"):
        restrict(ranges)
        assert [statuses(each) for each in (group.url, project.url)] == [[401, 200, 200, 200], [200] * 4]
    assert restrict(f" {ELSEWHERE}, 2001:db8::/32 ") == f"{ELSEWHERE},2001:db8::/32"
    assert statuses(group.url) == [401, 404, 200, 200]
    assert statuses(project.url) == [404, 404, 404, 200]
    assert statuses(f"{project.url}/repository/tree") == [404, 404, 404, 200]
    assert api.post(f"{project.url}/issues", member, title="Closed").status_code == 404
    with changed_settings(make, globally_allowed_ips=f"10.0.0.0/8, {HERE}"):
        assert [statuses(each) for each in (group.url, project.url)] == [[401, 200, 200, 200], [200] * 4]
    assert statuses(project.url) == [404, 404, 404, 200]
    assert FIELD not in api.get(group.url, member).json()
    restrict("")
    assert api.get(group.url, owner).json()[FIELD] is None
    assert FIELD not in api.get(group.url, member).json()


def test_lists_over_several_projects(
    api: Api, make: Make, group: Group, project: Project, owner: User, member: User, restrict: Callable[..., Any]
) -> None:
    other = make_project(make, owner, members={member: 40})
    for each in (project, other):
        made = api.post(f"{each.url}/issues", owner, title="Needle", assignee_ids=[member.id])
        assert made.status_code == 201

    def projects_of(path: str, **params: Any) -> set[int]:
        return {item.get("project_id", item["id"]) for item in api.get(path, member, **params).json()}

    lists: list[tuple[str, dict[str, Any]]] = [
        ("/projects", {"membership": True}),
        ("/issues", {"scope": "all", "search": "Needle"}),
        ("/search", {"scope": "issues", "search": "Needle"}),
    ]
    assert all({project.id, other.id} <= projects_of(path, **params) for path, params in lists)
    todos = api.get("/todos", member).json()
    assert {todo["project"]["id"] for todo in todos} == {project.id, other.id}
    restrict(ELSEWHERE)
    for path, params in lists:
        assert projects_of(path, **params) & {project.id, other.id} == {other.id}, path
    assert {todo["project"]["id"] for todo in api.get("/todos", member).json()} == {other.id}
    assert api.get(f"{group.url}/issues", owner).json() == []


def test_activity_milestones_and_single_todos(
    instance: Instance,
    api: Api,
    group: Group,
    project: Project,
    owner: User,
    member: User,
    restrict: Callable[..., Any],
) -> None:
    """Attack: read events of a user, milestones of a group and todos, which no project in the path guards."""
    made = api.post(f"{project.url}/issues", owner, title="Hidden issue", assignee_ids=[member.id])
    milestone = api.post(f"{group.url}/milestones", owner, title="Hidden milestone").json()
    assert made.status_code == 201
    (todo,) = api.get("/todos", member).json()
    graphql = Graphql(instance.url)
    query = f'{{ todo(id: "gid://gitlab/Todo/{todo["id"]}") {{ body }} }}'

    def found(user: User) -> list[int]:
        return [each["id"] for each in api.get("/search", user, scope="milestones", search="Hidden milestone").json()]

    def events() -> list[bool]:
        paths = (f"/{owner.username}", f"/{owner.username}.atom")
        return ["Hidden issue" in httpx.get(f"{instance.url}{each}").text for each in paths]

    assert (found(member), events(), graphql.data(query, member)["todo"]) == (
        [milestone["id"]],
        [True, True],
        {"body": "Hidden issue"},
    )
    restrict(ELSEWHERE)
    assert (found(member), events(), graphql.data(query, member)["todo"]) == ([], [False, False], None)
    assert found(owner) == [milestone["id"]], "Owners use their groups from everywhere."
    assert [each["id"] for each in api.get(f"{group.url}/milestones", owner).json()] == [milestone["id"]]
    assert api.post(f"/todos/{todo['id']}/mark_as_done", member).status_code == 404
    refused = api.post("/projects", owner, name="Closed", namespace_id=group.id)
    assert refused.status_code == 404, "Nothing is created where the caller cannot see it."
    restrict(None)
    assert api.get("/todos", member).json()[0]["state"] == "pending"
    assert "Closed" not in [each["name"] for each in api.get(f"{group.url}/projects", owner).json()]
    graphql.close()


def test_pages_and_graphql(
    instance: Instance, group: Group, project: Project, member: User, restrict: Callable[..., Any]
) -> None:
    graphql = Graphql(instance.url)
    query = f'{{ project(fullPath: "{project.path}") {{ id }} group(fullPath: "{group.path}") {{ id }} }}'
    with Browser(instance.url) as browser:
        for closed in (False, True):
            restrict(ELSEWHERE if closed else HERE)
            paths = (f"/{project.path}", f"/{project.path}/-/issues", f"/groups/{group.path}")
            assert [browser.get(path).status_code == 200 for path in paths] == [not closed] * 3
            data = graphql.data(query, member)
            assert [data["project"] is None, data["group"] is None] == [closed, closed]
    graphql.close()


def test_packages(api: Api, project: Project, owner: User, restrict: Callable[..., Any]) -> None:
    """Also with deploy tokens, which belong to no user."""
    sent = {"name": "reader", "scopes": ["read_package_registry", "write_package_registry"]}
    token = api.post(f"{project.url}/deploy_tokens", owner, **sent).json()["token"]

    def status() -> int:
        url = f"{api.url}/api/v4{project.url}/packages/generic/tool/1.0/file.txt"
        return httpx.put(url, content=b"x", headers={"Deploy-Token": token}).status_code

    assert status() == 201
    restrict(ELSEWHERE)
    assert status() in (401, 404)


@pytest.mark.parametrize("ranges", ["x", "10.0.0.0/33", "10.0.0.1-10.0.0.9", "10.0.0.0/8;11.0.0.0/8"])
def test_invalid_ranges(api: Api, make: Make, group: Group, owner: User, ranges: str) -> None:
    refused = api.put(group.url, owner, **{FIELD: ranges})
    assert (refused.status_code, refused.json()) == (
        400,
        {"message": {FIELD: [f"{ranges} is an invalid IP address range"]}},
    )
    assert api.put("/application/settings", make.root, globally_allowed_ips=ranges).status_code == 400


def test_only_top_level_groups_are_restricted(api: Api, make: Make, group: Group, owner: User, member: User) -> None:
    below = make_group(make, owner, parent=group)
    refused = api.put(below.url, owner, **{FIELD: ELSEWHERE})
    assert (refused.status_code, "top-level" in refused.text) == (400, True)
    assert api.put(below.url, owner, **{FIELD: ""}).status_code == 200
    assert api.put(group.url, member, **{FIELD: ELSEWHERE}).status_code == 403


def test_the_page_of_the_settings(api: Api, instance: Instance, make: Make) -> None:
    owner = make.user(password="correct-horse-battery")
    group = make_group(make, owner)
    below = make_group(make, owner, parent=group)
    with Browser(instance.url).signed_in_as(owner) as browser:
        page = f"/groups/{group.path}/-/edit"
        assert FIELD not in browser.get(f"/groups/{below.path}/-/edit").text
        fields = {"part": "rules", f"rules[{FIELD}]": ELSEWHERE}
        saved = browser.post(page, data={"authenticity_token": browser.token(), "_method": "put", **fields})
        assert saved.status_code == 302
        assert api.get(group.url, owner).json()[FIELD] == ELSEWHERE
        assert ELSEWHERE in browser.get(page).text
    events = api.get(f"{group.url}/audit_events", owner).json()
    assert any(FIELD in str(event["details"]) for event in events)
    assert api.put(group.url, owner, **{FIELD: ""}).json()[FIELD] is None
