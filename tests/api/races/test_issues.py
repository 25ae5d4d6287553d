"""Concurrent calls on issues, on several servers."""

from typing import Any

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue
from tests.api.races.concurrent_servers import ConcurrentCall, ConcurrentServers
from tests.client import Api, Make
from tests.factories import ids, make_project


def _check_counts(api: Api, make: Make, project_id: int) -> dict[str, int]:
    """Assert that stored totals equal counted rows."""
    issues = api.get(f"/projects/{project_id}/issues", make.root, per_page=100)
    assert int(issues.headers["x-total"]) == len(issues.json())
    counts: dict[str, int] = api.get(f"/projects/{project_id}/issues_statistics", make.root).json()["statistics"][
        "counts"
    ]
    states = [issue["state"] for issue in issues.json()]
    assert counts == {"all": len(states), "opened": states.count("opened"), "closed": states.count("closed")}
    shown = [issue for issue in issues.json() if issue["state"] == "opened" and not issue["confidential"]]
    assert api.get(f"/projects/{project_id}", make.root).json()["open_issues_count"] == len(shown)
    return counts


def test_concurrent_creation_gives_unique_iids(api: Api, make: Make, servers: ConcurrentServers) -> None:
    """Without gaps; a label named by all issues is created once."""
    owner = make.user()
    project = make_project(make, owner)
    path = f"/projects/{project.id}/issues"

    answers = servers.race(
        *(ConcurrentCall("POST", path, owner, {"title": str(n), "labels": "same,new"}) for n in range(30))
    )

    assert answers == [201] * 30
    found = api.get(path, owner, per_page=100).json()
    assert sorted(issue["iid"] for issue in found) == list(range(1, 31))
    assert {tuple(issue["labels"]) for issue in found} == {("new", "same")}
    assert _check_counts(api, make, project.id)["opened"] == 30


def test_concurrent_edits_lose_nothing(api: Api, make: Make, servers: ConcurrentServers) -> None:
    owner = make.user()
    project = make_project(make, owner)
    path = f"/projects/{project.id}/issues/{make_issue(make, project, owner)['iid']}"
    edits: list[dict[str, Any]] = [
        {"title": "new title"},
        {"description": "new text"},
        {"confidential": True},
        {"due_date": "2030-01-01"},
        {"add_labels": "a"},
        {"add_labels": "b"},
        {"add_labels": "c"},
        {"assignee_ids": [owner.id]},
        {"discussion_locked": True},
    ]

    assert servers.race(*(ConcurrentCall("PUT", path, owner, edit) for edit in edits)) == [200] * len(edits)

    issue = api.get(path, owner).json()
    assert (issue["title"], issue["description"], issue["confidential"]) == ("new title", "new text", True)
    assert (issue["due_date"], issue["labels"], issue["discussion_locked"]) == ("2030-01-01", ["a", "b", "c"], True)
    assert issue["assignee"]["id"] == owner.id


def test_concurrent_closing_and_reopening_is_counted_once(api: Api, make: Make, servers: ConcurrentServers) -> None:
    owner = make.user()
    project = make_project(make, owner)
    paths = [f"/projects/{project.id}/issues/{make_issue(make, project, owner)['iid']}" for _ in range(6)]
    for path in paths[3:]:
        api.put(path, owner, state_event="close")

    for _ in range(3):
        close = [ConcurrentCall("PUT", path, owner, {"state_event": "close"}) for path in paths]
        reopen = [ConcurrentCall("PUT", path, owner, {"state_event": "reopen"}) for path in paths]
        hide = [ConcurrentCall("PUT", path, owner, {"confidential": True}) for path in paths[:3]]
        assert set(servers.race(*close, *reopen, *hide)) == {200}
        _check_counts(api, make, project.id)


def test_concurrent_deletion_deletes_once(api: Api, make: Make, servers: ConcurrentServers) -> None:
    owner = make.user()
    project = make_project(make, owner)
    path = f"/projects/{project.id}/issues/{make_issue(make, project, owner)['iid']}"
    make_issue(make, project, owner)

    answers = servers.race(
        *(ConcurrentCall("DELETE", path, owner) for _ in range(6)), ConcurrentCall("PUT", path, owner, {"title": "x"})
    )

    assert set(answers[:-1]) == {200}
    assert answers[-1] in (200, 404)
    assert _check_counts(api, make, project.id)["all"] == 1


def test_concurrent_time_spent_adds_up(api: Api, make: Make, servers: ConcurrentServers) -> None:
    owner = make.user()
    project = make_project(make, owner)
    path = f"/projects/{project.id}/issues/{make_issue(make, project, owner)['iid']}"

    answers = servers.race(
        *(ConcurrentCall("POST", f"{path}/add_spent_time", owner, {"duration": "1h"}) for _ in range(12))
    )
    assert answers == [201] * 12
    assert api.get(f"{path}/time_stats", owner).json()["total_time_spent"] == 12 * 3600

    back = servers.race(
        *(ConcurrentCall("POST", f"{path}/add_spent_time", owner, {"duration": "-7h"}) for _ in range(4))
    )
    assert sorted(back) == [201, 400, 400, 400]


def test_concurrent_moves_move_once(api: Api, make: Make, servers: ConcurrentServers) -> None:
    """Moves in opposite directions do not deadlock."""
    owner = make.user()
    one, other = make_project(make, owner), make_project(make, owner)
    path = f"/projects/{one.id}/issues/{make_issue(make, one, owner)['iid']}"

    answers = servers.race(
        *(ConcurrentCall("POST", f"{path}/move", owner, {"to_project_id": other.id}) for _ in range(5))
    )
    assert sorted(answers) == [201, 400, 400, 400, 400]
    assert len(ids(api.get(f"/projects/{other.id}/issues", owner))) == 1

    ways = [(one, other), (other, one)] * 3
    moves = []
    for source, target in ways:
        iid = make_issue(make, source, owner)["iid"]
        moves.append(
            ConcurrentCall("POST", f"/projects/{source.id}/issues/{iid}/move", owner, {"to_project_id": target.id})
        )
    assert servers.race(*moves) == [201] * 6
    for project in (one, other):
        _check_counts(api, make, project.id)


def test_concurrent_links_from_both_ends_create_one(api: Api, make: Make, servers: ConcurrentServers) -> None:
    owner = make.user()
    project = make_project(make, owner)
    one, other = (make_issue(make, project, owner)["iid"] for _ in range(2))

    def link(source: int, target: int) -> ConcurrentCall:
        sent = {"target_project_id": project.id, "target_issue_iid": target}
        return ConcurrentCall("POST", f"/projects/{project.id}/issues/{source}/links", owner, sent)

    assert sorted(servers.race(*[link(one, other), link(other, one)] * 3)) == [201] + [409] * 5
    assert len(ids(api.get(f"/projects/{project.id}/issues/{one}/links", owner))) == 1


def test_concurrent_subscriptions(api: Api, make: Make, servers: ConcurrentServers) -> None:
    owner, other = make.user(), make.user()
    project = make_project(make, owner, members={other: Level.GUEST})
    path = f"/projects/{project.id}/issues/{make_issue(make, project, owner)['iid']}"

    answers = servers.race(*(ConcurrentCall("POST", f"{path}/subscribe", other) for _ in range(6)))

    assert set(answers) <= {201, 304}
    assert 201 in answers
    assert api.get(path, other).json()["subscribed"] is True


def test_concurrent_creation_of_labels(make: Make, servers: ConcurrentServers) -> None:
    """Each of many issues names new labels, in different orders."""
    owner = make.user()
    project = make_project(make, owner)
    orders = ["a,b,c", "c,b,a", "b,a,c"] * 4
    path = f"/projects/{project.id}/issues"

    answers = servers.race(
        *(ConcurrentCall("POST", path, owner, {"title": "x", "labels": labels}) for labels in orders)
    )

    assert answers == [201] * len(orders)
    labels = make.api.get(f"/projects/{project.id}/labels", owner).json()
    assert sorted(label["name"] for label in labels) == ["a", "b", "c"]


def test_concurrent_quick_actions_lose_nothing(api: Api, make: Make, servers: ConcurrentServers) -> None:
    owner = make.user()
    project = make_project(make, owner)
    make_issue(make, project, owner, labels="a,b,c,d,e,f")
    path = f"/projects/{project.id}/issues/{make_issue(make, project, owner)['iid']}"
    bodies = [f"/label ~{name}\n/spend 1h" for name in "abcdef"] + ["Once.\n/award :tada:\n/spend 1h"] * 3

    answers = servers.race(*(ConcurrentCall("POST", f"{path}/notes", owner, {"body": body}) for body in bodies))

    assert answers == [202] * 6 + [201] * 3
    issue = api.get(path, owner).json()
    assert (issue["labels"], issue["time_stats"]["total_time_spent"]) == (list("abcdef"), 9 * 3600)
    assert issue["user_notes_count"] == 3
    assert len(api.get(f"{path}/award_emoji", owner).json()) == 1
