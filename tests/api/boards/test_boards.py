"""Boards of projects and groups: lists and permissions."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.factories import Project, make_group, make_project, statements_of
from tests.roles import UsersByRole, project_with

RED = "#FF0000"


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    """Return a user who owns the projects."""
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    """Return a new project for each test."""
    return make_project(make, owner)


def _label(api: Api, owner: User, project: Project, name: str) -> int:
    made = api.post(f"/projects/{project.id}/labels", owner, name=name, color=RED)
    assert made.status_code == 201, made.text
    number: int = made.json()["id"]
    return number


def _board(api: Api, caller: User, project: Project) -> dict[str, Any]:
    board: dict[str, Any] = api.get(f"/projects/{project.id}/boards", caller).json()[0]
    return board


def _lists(api: Api, owner: User, project: Project, *names: str) -> tuple[str, list[int]]:
    """Return the path of a board's lists, and the ids of the lists created for these labels."""
    path = f"/projects/{project.id}/boards/{_board(api, owner, project)['id']}/lists"
    made = [api.post(path, owner, label_id=_label(api, owner, project, name)).json()["id"] for name in names]
    return path, made


def _order(api: Api, owner: User, path: str) -> list[tuple[str, int]]:
    return [(each["label"]["name"], each["position"]) for each in api.get(path, owner).json()]


def test_a_new_project_has_one_board(api: Api, make: Make, owner: User, project: Project) -> None:
    (board,) = api.get(f"/projects/{project.id}/boards", owner).json()
    assert (board["name"], board["lists"], board["group"]) == ("Development", [], None)
    assert (board["hide_backlog_list"], board["hide_closed_list"]) == (False, False)
    assert board["project"]["id"] == project.id
    assert api.get(f"/projects/{project.id}/boards/{board['id']}", owner).json() == board
    fork = api.post(f"/projects/{project.id}/fork", make.root).json()
    assert len(api.get(f"/projects/{fork['id']}/boards", make.root).json()) == 1


def test_create_edit_delete(api: Api, owner: User, project: Project) -> None:
    first = _board(api, owner, project)
    made = api.post(f"/projects/{project.id}/boards", owner, name=" Support ")
    assert (made.status_code, made.json()["name"]) == (201, "Support")
    path = f"/projects/{project.id}/boards/{made.json()['id']}"
    edited = api.put(f"/projects/{project.id}/boards/{made.json()['id']}", owner, name="x", hide_closed_list=True)
    assert (edited.json()["name"], edited.json()["hide_closed_list"]) == ("x", True)
    assert api.put(path, owner).status_code == 200
    for name in ("", " ", "x" * 256, {"a": 1}):
        assert api.put(path, owner, name=name).status_code == 400
        assert api.post(f"/projects/{project.id}/boards", owner, name=name).status_code == 400
    assert api.post(f"/projects/{project.id}/boards", owner).status_code == 400
    assert [api.delete(path, owner).status_code for _ in range(2)] == [200, 200]
    last = api.delete(f"/projects/{project.id}/boards/{first['id']}", owner)
    assert last.status_code == 200
    assert api.get(f"/projects/{project.id}/boards", owner).json() == []
    assert api.post(f"/projects/{project.id}/boards", owner, name="Again").status_code == 201


def test_lists(api: Api, owner: User, project: Project) -> None:
    path, (one, two, three) = _lists(api, owner, project, "one", "two", "three")
    assert _order(api, owner, path) == [("one", 0), ("two", 1), ("three", 2)]
    board = _board(api, owner, project)
    shown = api.get(f"/projects/{project.id}/boards/{board['id']}/lists/{two}", owner).json()
    assert shown == board["lists"][1]
    assert shown["label"].keys() == {"id", "name", "color", "description", "text_color"}
    page = api.get(path, owner, per_page=2, page=2)
    assert ([each["id"] for each in page.json()], page.headers["x-total"]) == ([three], "3")

    moved = api.put(f"/projects/{project.id}/boards/{board['id']}/lists/{three}", owner, position=0)
    assert (moved.status_code, moved.json()["position"]) == (200, 0)
    assert api.put(f"{path}/{three}", owner, position=0).status_code == 200
    assert _order(api, owner, path) == [("three", 0), ("one", 1), ("two", 2)]
    api.put(f"{path}/{one}", owner, position=2)
    assert _order(api, owner, path) == [("three", 0), ("two", 1), ("one", 2)]
    for position in (-1, 3, 2**62, "first", None):
        assert api.put(f"{path}/{one}", owner, position=position).status_code == 400
    assert api.put(f"{path}/999999", owner, position=0).status_code == 404

    for _ in range(2):
        assert api.delete(f"/projects/{project.id}/boards/{board['id']}/lists/{two}", owner).status_code == 200
    assert _order(api, owner, path) == [("three", 0), ("one", 1)]
    # Deleting a label deletes its list and closes the gap in positions.
    api.delete(f"/projects/{project.id}/labels/three", owner)
    assert _order(api, owner, path) == [("one", 0)]
    api.post(path, owner, label_id=_label(api, owner, project, "four"))
    assert _order(api, owner, path) == [("one", 0), ("four", 1)]


def test_a_list_requires_an_existing_label(api: Api, make: Make, owner: User, project: Project) -> None:
    """Attack: a label of another project is not found, and its title is not revealed."""
    path, _ = _lists(api, owner, project, "one")
    label_id = _board(api, owner, project)["lists"][0]["label"]["id"]
    stranger = make.user()
    secret = _label(api, stranger, make_project(make, stranger), "secret title")
    for sent, message in [
        ({"label_id": label_id}, {"label_id": ["has already been taken"]}),
        ({"label_id": secret}, {"label_id": ["is invalid"]}),
        ({"label_id": 2**62}, {"label_id": ["is invalid"]}),
        ({"label_id": "one"}, {"label_id": ["is invalid"]}),
        ({}, '400 (Bad request) "label_id" not given'),
    ]:
        answer = api.post(path, owner, **sent)
        assert (answer.status_code, answer.json()["message"]) == (400, message)
    assert len(api.get(path, owner).json()) == 1


def test_boards_of_other_projects_are_not_found(api: Api, make: Make, owner: User, project: Project) -> None:
    path, (held,) = _lists(api, owner, project, "secret title")
    board = _board(api, owner, project)
    stranger = make.user()
    base = f"/projects/{make_project(make, stranger).id}/boards"
    own = api.get(base, stranger).json()[0]
    answers = [
        api.get(f"{base}/{board['id']}", stranger),
        api.put(f"{base}/{board['id']}", stranger, name="x"),
        api.get(f"{base}/{board['id']}/lists", stranger),
        api.get(f"{base}/{own['id']}/lists/{held}", stranger),
        api.put(f"{base}/{own['id']}/lists/{held}", stranger, position=0),
        api.delete(f"{base}/{board['id']}/lists/{held}", stranger),
    ]
    assert [answer.status_code for answer in answers] == [404] * 6
    assert not any("secret title" in answer.text for answer in answers)
    for gone in (f"{base}/{board['id']}", f"{base}/{own['id']}/lists/{held}"):
        assert api.delete(gone, stranger).status_code == 200
    assert len(api.get(path, owner).json()) == 1


def test_promoting_a_label_keeps_its_lists(api: Api, make: Make, owner: User) -> None:
    group = make_group(make, owner)
    project = make_project(make, owner, group=group)
    path, (_, second) = _lists(api, owner, project, "one", "two")
    promoted = api.put(f"/projects/{project.id}/labels/one/promote", owner)
    assert promoted.status_code == 200
    assert _order(api, owner, path) == [("one", 0), ("two", 1)]
    first, last = api.get(path, owner).json()
    assert (first["label"]["id"], last["id"]) == (promoted.json()["id"], second)


def test_concurrent_changes_to_lists(api: Api, owner: User, project: Project) -> None:
    """Concurrent moves leave every list with one position, and concurrent creation makes one list per label."""
    path, made = _lists(api, owner, project, *(f"l{number}" for number in range(5)))
    label_id = _label(api, owner, project, "once")

    def move(number: int) -> int:
        with Api(api.url) as own:
            return own.put(f"{path}/{made[number]}", owner, position=(number * 2) % 5).status_code

    def add(_: int) -> int:
        with Api(api.url) as own:
            return own.post(path, owner, label_id=label_id).status_code

    with ThreadPoolExecutor(5) as pool:
        assert set(pool.map(move, range(5))) == {200}
        assert sorted(pool.map(add, range(3))) == [201, 400, 400]
    order = _order(api, owner, path)
    assert [position for _, position in order] == list(range(6))
    assert {name for name, _ in order} == {"l0", "l1", "l2", "l3", "l4", "once"}


def test_a_longer_page_takes_no_more_statements(api: Api, make: Make, owner: User, project: Project) -> None:
    _lists(api, owner, project, "one", "two", "three")
    for number in range(5):
        api.post(f"/projects/{project.id}/boards", owner, name=f"b{number}")
    few, many = (
        statements_of(make, lambda size=size: api.get(f"/projects/{project.id}/boards", owner, per_page=size))  # type: ignore[misc] # Bound now.
        for size in (1, 6)
    )
    assert few == many


CALLERS = [
    ("nobody", 401, 401),
    ("stranger", 404, 404),
    ("guest", 200, 403),
    ("reporter", 200, 201),
    ("developer", 200, 201),
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
    path, (held,) = _lists(api, roles.owner, private, make.name("label"))
    base, caller = f"/projects/{private.id}/boards", roles[role]
    board = api.post(base, roles.owner, name="other").json()["id"]
    assert api.get(base, caller).status_code == reads
    assert api.get(f"{base}/{board}", caller).status_code == reads
    assert api.get(path, caller).status_code == reads
    assert api.get(f"{path}/{held}", caller).status_code == reads
    label_id = _label(api, roles.owner, private, make.name("label"))
    assert api.post(base, caller, name="x").status_code == writes
    assert api.post(path, caller, label_id=label_id).status_code == writes
    done = 200 if writes == 201 else writes
    assert api.put(f"{path}/{held}", caller, position=0).status_code == done
    assert api.delete(f"{path}/{held}", caller).status_code == done
    assert api.put(f"{base}/{board}", caller, name="x").status_code == done
    assert api.delete(f"{base}/{board}", caller).status_code == done


def test_archived_projects_and_projects_without_issues(api: Api, owner: User, project: Project) -> None:
    path, (held,) = _lists(api, owner, project, "one")
    api.post(f"/projects/{project.id}/archive", owner)
    assert api.get(path, owner).status_code == 200
    assert api.put(f"{path}/{held}", owner, position=0).status_code == 403
    assert api.post(f"/projects/{project.id}/boards", owner, name="x").status_code == 403
    api.post(f"/projects/{project.id}/unarchive", owner)
    api.put(f"/projects/{project.id}", owner, issues_enabled=False)
    assert api.get(f"/projects/{project.id}/boards", owner).status_code == 403
    assert api.get(path, owner).status_code == 403


def test_group_boards(api: Api, make: Make, owner: User) -> None:
    group = make_group(make, owner, visibility="private")
    assert api.get(f"/groups/{group.id}/boards", owner).json() == []
    board = api.post(f"/groups/{group.id}/boards", owner, name="All").json()
    assert (board["group"]["id"], board["project"], board["lists"]) == (group.id, None, [])
    assert api.get(f"/groups/{group.id}/boards/{board['id']}", owner).json() == board
    renamed = api.put(f"/groups/{group.id}/boards/{board['id']}", owner, name="Every", hide_backlog_list=True).json()
    assert (renamed["name"], renamed["hide_backlog_list"]) == ("Every", True)

    ids = [api.post(f"/groups/{group.id}/labels", owner, name=name, color=RED).json()["id"] for name in ("one", "two")]
    lists = [api.post(f"/groups/{group.id}/boards/{board['id']}/lists", owner, label_id=each).json() for each in ids]
    path = f"/groups/{group.id}/boards/{board['id']}/lists"
    assert api.get(f"/groups/{group.id}/boards/{board['id']}/lists", owner).json() == lists
    one = f"/groups/{group.id}/boards/{board['id']}/lists/{lists[0]['id']}"
    assert api.get(f"/groups/{group.id}/boards/{board['id']}/lists/{lists[0]['id']}", owner).json() == lists[0]
    assert api.put(one, owner, position=1).json()["position"] == 1
    # A label of a project below is not a label of the group.
    inner = _label(api, owner, make_project(make, owner, group=group), "inner")
    assert api.post(path, owner, label_id=inner).status_code == 400
    guest, outside = make.user(), make.user()
    api.post(f"/groups/{group.id}/members", make.root, user_id=guest.id, access_level=10)
    assert (api.get(path, guest).status_code, api.get(path, outside).status_code) == (200, 404)
    assert api.put(one, guest, position=0).status_code == 403
    assert api.post(f"/groups/{group.id}/boards", guest, name="x").status_code == 403
    assert api.delete(f"/groups/{group.id}/boards/{board['id']}/lists/{lists[0]['id']}", owner).status_code == 200
    other = api.post(f"/groups/{group.id}/boards", owner, name="Other").json()
    assert api.delete(f"/groups/{group.id}/boards/{other['id']}", owner).status_code == 200
    assert api.delete(f"/groups/{group.id}/boards/{board['id']}", owner).status_code == 200
    assert api.get(f"/groups/{group.id}/boards", owner).json() == []


def test_lists_of_assignees_and_milestones(api: Api, make: Make, owner: User) -> None:
    group = make_group(make, owner)
    project = make_project(make, owner, group=group)
    milestone = api.post(f"{group.url}/milestones", owner, title=make.name("plan")).json()
    foreign = api.post(f"{make_project(make, owner).url}/milestones", owner, title="secret title").json()["id"]
    member, stranger = make.user(), make.user()
    api.post(f"{group.url}/members", owner, user_id=member.id, access_level=30)
    for parent in (project, group):
        board = api.post(f"{parent.url}/boards", owner, name="By subject").json()["id"]
        path = f"{parent.url}/boards/{board}/lists"
        first = api.post(path, owner, assignee_id=member.id, max_issue_count=2)
        assert first.status_code == 201, first.text
        shown = first.json()
        assert (shown["assignee"]["username"], shown["max_issue_count"], shown["limit_metric"]) == (
            member.username,
            2,
            "issue_count",
        )
        assert "label" not in shown and "milestone" not in shown
        assert api.post(path, owner, milestone_id=milestone["id"]).json()["milestone"]["title"] == milestone["title"]
        for sent, message in [
            ({"assignee_id": member.id}, {"assignee_id": ["has already been taken"]}),
            ({"milestone_id": milestone["id"]}, {"milestone_id": ["has already been taken"]}),
            ({"assignee_id": stranger.id}, {"assignee_id": ["is invalid"]}),
            ({"assignee_id": 2**62}, {"assignee_id": ["is invalid"]}),
            ({"milestone_id": foreign}, {"milestone_id": ["is invalid"]}),
            (
                {"assignee_id": owner.id, "milestone_id": milestone["id"]},
                "label_id, assignee_id and milestone_id are mutually exclusive",
            ),
            ({"assignee_id": owner.id, "max_issue_count": -1}, {"max_issue_count": ["is invalid"]}),
        ]:
            answer = api.post(path, owner, **sent)
            assert (answer.status_code, answer.json()["message"]) == (400, message)
        assert [each["position"] for each in api.get(path, owner).json()] == [0, 1]


def test_limits_of_lists(api: Api, owner: User, project: Project) -> None:
    path, (one, two) = _lists(api, owner, project, "one", "two")
    edited = api.put(f"{path}/{two}", owner, max_issue_count=3, position=0)
    assert (edited.json()["max_issue_count"], edited.json()["position"]) == (3, 0)
    assert api.put(f"{path}/{two}", owner, max_issue_count=0).json()["limit_metric"] is None
    for sent in ({"max_issue_count": -1}, {"max_issue_count": 2**62}, {"max_issue_count": "many"}, {}):
        assert api.put(f"{path}/{one}", owner, **sent).status_code == 400
    assert api.put(f"{path}/999999", owner, max_issue_count=1).status_code == 404


def test_lists_of_milestones_follow_their_milestone(api: Api, make: Make, owner: User) -> None:
    """A promoted milestone keeps its lists; a project that leaves the group has lists for copies of milestones."""
    group = make_group(make, owner)
    project = make_project(make, owner, group=group)
    path = f"{project.url}/boards/{_board(api, owner, project)['id']}/lists"
    made = api.post(f"{project.url}/milestones", owner, title=make.name("plan")).json()
    assert api.post(path, owner, milestone_id=made["id"], max_issue_count=4).status_code == 201
    assert api.post(f"{project.url}/milestones/{made['id']}/promote", owner).status_code in (200, 201)

    def held() -> list[tuple[str, bool, int]]:
        lists = api.get(path, owner).json()
        return [
            (each["milestone"]["title"], each["milestone"]["group_id"] is not None, each["max_issue_count"])
            for each in lists
        ]

    assert held() == [(made["title"], True, 4)]
    assert api.put(f"{project.url}/transfer", owner, namespace=make_group(make, owner).id).status_code == 200
    assert held() == [(made["title"], False, 4)]
    (milestone,) = api.get(f"{project.url}/milestones", owner).json()
    assert api.delete(f"{project.url}/milestones/{milestone['id']}", owner).status_code == 200
    assert held() == []


def test_lists_of_deleted_users_are_deleted(api: Api, make: Make, owner: User, project: Project) -> None:
    person = make.user()
    api.post(f"{project.url}/members", owner, user_id=person.id, access_level=30)
    path = f"{project.url}/boards/{_board(api, owner, project)['id']}/lists"
    assert api.post(path, owner, assignee_id=person.id).status_code == 201
    assert api.delete(f"/users/{person.id}", make.root, hard_delete=True).status_code in (200, 204)
    assert api.get(path, owner).json() == []


def test_issues_outside_of_milestones(api: Api, owner: User, project: Project) -> None:
    one, two = (
        api.post(f"{project.url}/milestones", owner, title=title).json()["id"] for title in ("one, first", "two")
    )
    for title, milestone in (("a", one), ("b", two), ("c", None)):
        api.post(f"{project.url}/issues", owner, title=title, milestone_id=milestone)
    listed = api.get(f"{project.url}/issues?not[milestone_ids][]={one}&not[milestone_ids][]={two}", owner).json()
    assert [each["title"] for each in listed] == ["c"]
