"""Concurrent changes of labels, milestones and boards."""

from tests.api.races.concurrent_servers import ConcurrentCall, ConcurrentServers
from tests.client import Api, Make
from tests.factories import make_group, make_project

ROUNDS = 5
RED = "#FF0000"


def test_a_label_is_created_once(api: Api, make: Make, servers: ConcurrentServers) -> None:
    project = make_project(make)
    path = f"/projects/{project.id}/labels"
    for turn in range(ROUNDS):
        sent = {"name": f"label {turn}", "color": RED}
        assert sorted(servers.race(*[ConcurrentCall("POST", path, make.root, sent)] * 3)) == [201, 409, 409]
        # Also by an issue: the second one uses the existing label.
        issue = {"title": "x", "labels": f"by issue {turn}"}
        assert (
            servers.race(*[ConcurrentCall("POST", f"/projects/{project.id}/issues", make.root, issue)] * 3) == [201] * 3
        )
    found = api.get(path, make.root).json()
    assert len(found) == 2 * ROUNDS
    assert {label["open_issues_count"] for label in found if label["name"].startswith("by")} == {3}


def test_a_milestone_is_made_once_in_a_group_and_its_projects(api: Api, make: Make, servers: ConcurrentServers) -> None:
    group = make_group(make)
    project = make_project(make, group=group)
    paths = [f"/projects/{project.id}/milestones", f"/groups/{group.id}/milestones"]
    for turn in range(ROUNDS):
        sent = {"title": f"milestone {turn}"}
        answers = servers.race(*(ConcurrentCall("POST", path, make.root, sent) for path in [*paths, *paths]))
        assert sorted(answers) == [201, 400, 400, 400]
    assert len(api.get(paths[0], make.root, include_ancestors="true").json()) == ROUNDS


def test_counts_are_correct_after_concurrent_edits(api: Api, make: Make, servers: ConcurrentServers) -> None:
    """An issue is closed while it is labelled: it is counted in its final state."""
    project = make_project(make)
    for turn in range(ROUNDS):
        made = api.post(f"/projects/{project.id}/issues", make.root, title="x", labels=f"first {turn}").json()
        path = f"/projects/{project.id}/issues/{made['iid']}"
        answers = servers.race(
            ConcurrentCall("PUT", path, make.root, {"state_event": "close"}),
            ConcurrentCall("PUT", path, make.root, {"add_labels": f"second {turn}"}),
            ConcurrentCall("PUT", path, make.root, {"confidential": True}),
        )
        assert answers == [200] * 3
    for label in api.get(f"/projects/{project.id}/labels", make.root).json():
        assert (label["open_issues_count"], label["closed_issues_count"]) == (0, 1)


def test_lists_keep_their_order(api: Api, make: Make, servers: ConcurrentServers) -> None:
    project = make_project(make)
    board = api.get(f"/projects/{project.id}/boards", make.root).json()[0]
    path = f"/projects/{project.id}/boards/{board['id']}/lists"
    labels = [
        api.post(f"/projects/{project.id}/labels", make.root, name=f"l{number}", color=RED).json()["id"]
        for number in range(4)
    ]
    answers = servers.race(*(ConcurrentCall("POST", path, make.root, {"label_id": label}) for label in labels))
    assert answers == [201] * 4
    lists = [each["id"] for each in api.get(path, make.root).json()]
    for turn in range(ROUNDS):
        moves = [(lists[0], turn % 4), (lists[1], (turn + 1) % 4), (lists[2], (turn + 2) % 4)]
        answers = servers.race(
            *(ConcurrentCall("PUT", f"{path}/{one}", make.root, {"position": place}) for one, place in moves)
        )
        assert answers == [200] * 3
        shown = api.get(path, make.root).json()
        assert sorted(each["id"] for each in shown) == sorted(lists)
        assert [each["position"] for each in shown] == [0, 1, 2, 3]


def test_all_boards_deleted_at_once(api: Api, make: Make, servers: ConcurrentServers) -> None:
    for _ in range(ROUNDS):
        project = make_project(make)
        base = f"/projects/{project.id}/boards"
        api.post(base, make.root, name="second")
        numbers = [board["id"] for board in api.get(base, make.root).json()]
        answers = servers.race(*(ConcurrentCall("DELETE", f"{base}/{number}", make.root) for number in numbers))
        assert answers == [200, 200]
        assert api.get(base, make.root).json() == []
