"""Milestones of projects: creation, reading, lists, editing, deletion and permissions."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, day, make_group, make_project, statements_of
from tests.roles import UsersByRole, project_with

TAKEN = {"message": {"title": ["already being used for another group or project milestone."]}}


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    """Return a user who owns the projects."""
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    """Return a new project for each test."""
    return make_project(make, owner)


def _make(api: Api, owner: User, project: Project, title: str = "v1", **more: Any) -> dict[str, Any]:
    made = api.post(f"/projects/{project.id}/milestones", owner, title=title, **more)
    assert made.status_code == 201, made.text
    milestone: dict[str, Any] = made.json()
    return milestone


def test_create_and_read(api: Api, instance: Instance, owner: User, project: Project) -> None:
    sent = {"description": "*first*", "due_date": "2030-02-01", "start_date": "2030-01-01"}
    milestone = _make(api, owner, project, " v1 ", **sent)
    assert milestone == {
        "id": milestone["id"],
        "iid": 1,
        "project_id": project.id,
        "group_id": None,
        "title": "v1",
        "state": "active",
        "created_at": milestone["created_at"],
        "updated_at": milestone["created_at"],
        "expired": False,
        "web_url": f"{instance.url}/{project.path}/milestones/1",
        **sent,
    }
    assert api.get(f"/projects/{project.id}/milestones/{milestone['id']}", owner).json() == milestone
    assert _make(api, owner, project, "v2")["iid"] == 2
    with day(instance, "2030-02-02"):
        assert api.get(f"/projects/{project.id}/milestones/{milestone['id']}", owner).json()["expired"]


def test_list(api: Api, instance: Instance, owner: User, project: Project) -> None:
    base = f"/projects/{project.id}/milestones"
    with day(instance, "2026-01-01"):
        _make(api, owner, project, "v1", description="The FIRST", due_date="2026-02-01")
        closed = _make(api, owner, project, "v2", start_date="2026-03-01", due_date="2026-04-01")
    _make(api, owner, project, "v10%")
    api.put(f"{base}/{closed['id']}", owner, state_event="close")

    def titles(**params: Any) -> list[str]:
        answer = api.get(base, owner, **params)
        assert answer.status_code == 200, answer.text
        assert int(answer.headers["x-total"]) == len(answer.json())
        return [milestone["title"] for milestone in answer.json()]

    assert titles() == titles(state="all") == ["v10%", "v2", "v1"]
    assert titles(state="active") == ["v10%", "v1"]
    assert titles(state="closed") == ["v2"]
    assert titles(**{"iids[]": [1, 3]}) == ["v10%", "v1"]
    assert titles(**{"iids[]": [99]}) == []
    assert titles(title="v1") == ["v1"]
    assert titles(search="V1") == ["v10%", "v1"]
    assert titles(search="first") == ["v1"]
    assert titles(search="%") == ["v10%"]
    assert titles(updated_before="2026-06-01") == ["v1"]
    assert titles(updated_after="2026-06-01") == ["v10%", "v2"]
    assert titles(containing_date="2026-03-15") == ["v2"]
    assert titles(containing_date="2026-01-15") == ["v1"]
    assert api.get(base, owner, state="open").status_code == 400
    assert api.get(base, owner, **{"iids[]": ["x"]}).status_code == 400


def test_a_longer_page_takes_no_more_statements(api: Api, make: Make, owner: User, project: Project) -> None:
    for number in range(6):
        _make(api, owner, project, f"v{number}")
    few, many = (
        statements_of(make, lambda size=size: api.get(f"/projects/{project.id}/milestones", owner, per_page=size))  # type: ignore[misc] # Bound now.
        for size in (1, 6)
    )
    assert few == many


INVALID = [
    ({}, '400 (Bad request) "title" not given'),
    ({"title": " "}, {"title": ["can't be blank"]}),
    ({"title": "x" * 256}, {"title": ["is too long (maximum is 255 characters)"]}),
    ({"title": "x" * 1_000_000}, {"title": ["is too long (maximum is 255 characters)"]}),
    ({"title": {"a": 1}}, {"title": ["is invalid"]}),
    ({"title": "a\0b"}, {"title": ["is invalid"]}),
    ({"title": "x", "due_date": "tomorrow"}, {"due_date": ["is invalid"]}),
    ({"title": "x", "due_date": "2026-02-30"}, {"due_date": ["is invalid"]}),
    ({"title": "x", "start_date": 7}, {"start_date": ["is invalid"]}),
    (
        {"title": "x", "start_date": "2026-02-01", "due_date": "2026-01-01"},
        {"start_date": ["can't be greater than due date"]},
    ),
    (
        {"title": "x", "description": "x" * 1_000_001},
        {"description": ["is too long (maximum is 1000000 characters)"]},
    ),
]


@pytest.mark.parametrize(("sent", "message"), INVALID)
def test_invalid_milestones_are_rejected(
    api: Api, owner: User, project: Project, sent: dict[str, Any], message: Any
) -> None:
    answer = api.post(f"/projects/{project.id}/milestones", owner, **sent)
    assert (answer.status_code, answer.json()["message"]) == (400, message)
    assert api.get(f"/projects/{project.id}/milestones", owner).json() == []


@pytest.mark.parametrize("title", ['"><img src=x onerror=x>', "a, b", "日本語 🦊", "100", "../x"])
def test_hostile_titles_are_stored_unchanged(api: Api, owner: User, project: Project, title: str) -> None:
    """Attack: scripts in titles; only the renderer escapes them."""
    milestone = _make(api, owner, project, title)
    assert milestone["title"] == title
    issue = api.post(f"/projects/{project.id}/issues", owner, title="x", milestone_id=milestone["id"]).json()
    assert issue["milestone"] == milestone
    assert len(api.get(f"/projects/{project.id}/issues", owner, milestone=title).json()) == 1


def test_edit(api: Api, owner: User, project: Project) -> None:
    milestone = _make(api, owner, project, due_date="2030-02-01", description="old")
    path = f"/projects/{project.id}/milestones/{milestone['id']}"

    edited = api.put(path, owner, title="v1.0", description="new", start_date="2030-02-01").json()
    assert (edited["title"], edited["description"], edited["start_date"]) == ("v1.0", "new", "2030-02-01")
    assert api.put(path, owner, start_date="2030-02-02").status_code == 400
    emptied = api.put(path, owner, due_date=None, description="").json()
    assert (emptied["due_date"], emptied["description"], emptied["start_date"]) == (None, None, "2030-02-01")
    for _ in range(2):
        assert api.put(path, owner, state_event="close").json()["state"] == "closed"
    assert api.put(path, owner, state_event="activate").json()["state"] == "active"
    assert api.put(path, owner, title="v1.0").status_code == 200

    assert api.put(path, owner).json() == {"message": '400 (Bad request) "title" not given'}
    assert api.put(path, owner, title="").status_code == 400
    assert api.put(path, owner, state_event="reopen").status_code == 400
    assert api.put(f"/projects/{project.id}/milestones/999999", owner, title="x").status_code == 404


def test_deleting_twice(api: Api, owner: User, project: Project) -> None:
    milestone = _make(api, owner, project)
    issue = api.post(f"/projects/{project.id}/issues", owner, title="x", milestone_id=milestone["id"]).json()
    path = f"/projects/{project.id}/milestones/{milestone['id']}"
    assert [api.delete(path, owner).status_code for _ in range(2)] == [200, 200]
    assert api.get(path, owner).status_code == 404
    assert api.get(f"/projects/{project.id}/issues/{issue['iid']}", owner).json()["milestone"] is None
    assert _make(api, owner, project)["iid"] == 2


def test_a_title_is_unique(api: Api, make: Make, owner: User) -> None:
    """In a project and its parent groups, and in a group and the projects below."""
    group = make_group(make, owner)
    project = make_project(make, owner, group=make_group(make, owner, parent=group))
    _make(api, owner, project, "of the project")
    api.post(f"/groups/{group.id}/milestones", owner, title="of the group")
    for path in (f"/projects/{project.id}/milestones", f"/groups/{group.id}/milestones"):
        for title in ("of the project", "of the group"):
            again = api.post(path, owner, title=title)
            assert (again.status_code, again.json()) == (400, TAKEN)
    other = _make(api, owner, project, "other")
    renamed = api.put(f"/projects/{project.id}/milestones/{other['id']}", owner, title="of the group")
    assert (renamed.status_code, renamed.json()) == (400, TAKEN)
    _make(api, owner, make_project(make, owner), "of the project")


def test_concurrent_creation_makes_one_milestone(api: Api, owner: User, project: Project) -> None:
    def create(_: int) -> int:
        with Api(api.url) as own:
            return own.post(f"/projects/{project.id}/milestones", owner, title="once").status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(create, range(4))) == [201, 400, 400, 400]
    assert len(api.get(f"/projects/{project.id}/milestones", owner).json()) == 1


def test_milestones_of_other_projects_are_not_found(api: Api, make: Make, owner: User, project: Project) -> None:
    """Attack: read, edit or assign a milestone of another project, or learn its title."""
    secret = _make(api, owner, project, "secret title")
    stranger = make.user()
    theirs = make_project(make, stranger)
    base = f"/projects/{theirs.id}"
    issue = api.post(f"{base}/issues", stranger, title="x").json()
    answers = [
        api.get(f"{base}/milestones/{secret['id']}", stranger),
        api.put(f"{base}/milestones/{secret['id']}", stranger, title="x"),
        api.get(f"{base}/milestones/{secret['id']}/issues", stranger),
        api.post(f"{base}/milestones/{secret['id']}/promote", stranger),
        api.post(f"{base}/issues", stranger, title="x", milestone_id=secret["id"]),
        api.put(f"{base}/issues/{issue['iid']}", stranger, milestone_id=secret["id"]),
    ]
    assert {answer.status_code for answer in answers} <= {400, 404}
    assert not any("secret title" in answer.text for answer in answers)
    api.delete(f"{base}/milestones/{secret['id']}", stranger)
    assert api.get(f"/projects/{project.id}/milestones/{secret['id']}", owner).status_code == 200


CALLERS = [
    ("nobody", 401, 401),
    ("stranger", 404, 404),
    ("guest", 200, 403),
    ("reporter", 200, 201),
    ("master", 200, 201),
    ("administrator", 200, 201),
]


@pytest.fixture(scope="module")
def private(make: Make, roles: UsersByRole) -> Project:
    """Return a private project of the same owner."""
    return project_with(make, roles)


@pytest.mark.parametrize(("role", "reads", "writes"), CALLERS)
def test_permissions(
    api: Api, make: Make, roles: UsersByRole, private: Project, role: str, reads: int, writes: int
) -> None:
    milestone = _make(api, roles.owner, private, make.name("milestone"))
    base, caller = f"/projects/{private.id}/milestones", roles[role]
    assert api.get(base, caller).status_code == reads
    assert api.get(f"{base}/{milestone['id']}", caller).status_code == reads
    assert api.get(f"{base}/{milestone['id']}/issues", caller).status_code == reads
    assert api.post(base, caller, title=make.name("milestone")).status_code == writes
    done = 200 if writes == 201 else writes
    assert api.put(f"{base}/{milestone['id']}", caller, description="x").status_code == done
    assert api.delete(f"{base}/{milestone['id']}", caller).status_code == done


def test_an_archived_project_is_read_only(api: Api, owner: User, project: Project) -> None:
    milestone = _make(api, owner, project)
    api.post(f"/projects/{project.id}/archive", owner)
    base = f"/projects/{project.id}/milestones"
    assert api.get(f"{base}/{milestone['id']}", owner).status_code == 200
    refused = [
        api.post(base, owner, title="x"),
        api.put(f"{base}/{milestone['id']}", owner, title="x"),
        api.delete(f"{base}/{milestone['id']}", owner),
        api.post(f"{base}/{milestone['id']}/promote", owner),
    ]
    assert [answer.status_code for answer in refused] == [403] * 4


def test_milestones_are_hidden_if_issues_and_merge_requests_are_disabled(
    api: Api, owner: User, project: Project
) -> None:
    milestone = _make(api, owner, project)
    path = f"/projects/{project.id}"
    api.put(path, owner, issues_enabled=False)
    assert api.get(f"{path}/milestones", owner).status_code == 200
    assert api.get(f"{path}/milestones/{milestone['id']}/issues", owner).json() == []
    api.put(path, owner, merge_requests_enabled=False)
    assert api.get(f"{path}/milestones", owner).status_code == 403


def test_promote(api: Api, make: Make) -> None:
    """All milestones with the title become one group milestone, which their issues keep."""
    owner, reporter = make.user(), make.user()
    group = make_group(make, owner, members={reporter: Level.REPORTER})
    one, two = make_project(make, owner, group=group), make_project(make, owner, group=group)
    milestone = _make(api, owner, one, due_date="2030-01-01", description="d")
    other = _make(api, owner, two)
    for project, held in ((one, milestone), (two, other)):
        api.post(f"/projects/{project.id}/issues", owner, title="x", milestone_id=held["id"])

    promoted = api.post(f"/projects/{one.id}/milestones/{milestone['id']}/promote", reporter)

    assert promoted.status_code == 200, promoted.text
    shown = promoted.json()
    assert (shown["group_id"], shown["project_id"], shown["due_date"]) == (group.id, None, "2030-01-01")
    for project in (one, two):
        (issue,) = api.get(f"/projects/{project.id}/issues", owner).json()
        assert issue["milestone"]["id"] == shown["id"]
        assert api.get(f"/projects/{project.id}/milestones", owner).json() == []
    assert len(api.get(f"/groups/{group.id}/milestones/{shown['id']}/issues", owner).json()) == 2
    alone = make_project(make, owner)
    lonely = _make(api, owner, alone)
    assert api.post(f"/projects/{alone.id}/milestones/{lonely['id']}/promote", owner).status_code == 400
