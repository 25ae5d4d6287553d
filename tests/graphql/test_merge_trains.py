"""Merge trains in GraphQL."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.ci.merge_trains.train_project import TrainProject
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import add_members
from tests.graphql.conftest import Graphql

_TRAINS = """query($path: ID!, $status: MergeTrainStatus, $branches: [String!], $cars: MergeTrainStatus! = ACTIVE) {
  project(fullPath: $path) { mergeTrains(status: $status, targetBranches: $branches) { count nodes {
    targetBranch
    cars(activityStatus: $cars) { count nodes {
      id index status targetBranch createdAt updatedAt mergedAt duration
      mergeRequest { iid title } pipeline { ref status } targetProject { fullPath }
      user { username } userPermissions { deleteMergeTrainCar }
    } }
  } } }
}"""
_DELETE = "mutation($id: MergeTrainsCarID!) { mergeTrainsDeleteCar(input: {carId: $id}) { errors } }"


@pytest.fixture
def trains(make: Make, instance: Instance) -> TrainProject:
    """Return a project with a train of two, and one into another branch."""
    made = TrainProject(make, instance)
    made.offer_and_add("a", "b")
    make.api.post(f"{made.project.url}/repository/branches", make.root, branch="other", ref="main")
    assert made.add(made.offer("c", target_branch="other")).status_code == 201
    return made


def _trains(graphql: Graphql, trains: TrainProject, **variables: Any) -> list[dict[str, Any]]:
    data = graphql.data(_TRAINS, trains.make.root, path=trains.project.path, **variables)
    found = data["project"]["mergeTrains"]
    assert found["count"] == len(found["nodes"])
    nodes: list[dict[str, Any]] = found["nodes"]
    return nodes


def _numbers(train: dict[str, Any]) -> list[int]:
    return [int(car["mergeRequest"]["iid"]) for car in train["cars"]["nodes"]]


def test_trains_and_their_cars(graphql: Graphql, trains: TrainProject) -> None:
    main, other = _trains(graphql, trains)
    assert (main["targetBranch"], other["targetBranch"]) == ("main", "other")
    first, second = main["cars"]["nodes"]
    rest = trains.train()
    assert [car["id"] for car in (first, second)] == [f"gid://gitlab/MergeTrains::Car/{car['id']}" for car in rest]
    assert [car["mergeRequest"]["iid"] for car in (first, second)] == [str(iid) for iid in trains.iids()]
    assert [car["index"] for car in (first, second)] == [0, 1]
    assert first["status"] == "FRESH"
    assert first["pipeline"]["ref"] == rest[0]["pipeline"]["ref"]
    assert first["targetProject"]["fullPath"] == trains.project.path
    assert first["user"]["username"] == trains.make.root.username
    assert first["userPermissions"]["deleteMergeTrainCar"] is True
    assert (first["mergedAt"], first["duration"]) == (None, None)
    listed = "project(fullPath: $path) { mergeRequests(sort: CREATED_ASC) { nodes { mergeTrainCar { index } } } }"
    shown = graphql.data(f"query($path: ID!) {{ {listed} }}", trains.make.root, path=trains.project.path)
    indexes = [each["mergeTrainCar"]["index"] for each in shown["project"]["mergeRequests"]["nodes"]]
    assert indexes == [0, 1, 0]
    trains.end({"iid": trains.iids()[0]})
    (merged,) = _trains(graphql, trains, cars="COMPLETED")[0]["cars"]["nodes"]
    assert (merged["status"], merged["index"], merged["id"]) == ("MERGED", None, first["id"])
    assert merged["userPermissions"]["deleteMergeTrainCar"] is False
    assert merged["mergedAt"] is not None


def test_trains_of_merge_requests(graphql: Graphql, trains: TrainProject, make: Make) -> None:
    fields = "iid mergeTrainIndex mergeTrainsCount availableAutoMergeStrategies"
    requests = f"mergeRequests(state: opened) {{ nodes {{ {fields} }} }}"
    query = f"query($path: ID!) {{ project(fullPath: $path) {{ {requests} }} }}"
    free = trains.offer("free")

    def shown(caller: User) -> dict[int, list[Any]]:
        found = graphql.data(query, caller, path=trains.project.path)["project"]["mergeRequests"]["nodes"]
        return {int(each.pop("iid")): list(each.values()) for each in found}

    expected = {iid: index for train in _trains(graphql, trains) for index, iid in enumerate(_numbers(train))}
    as_owner = shown(make.root)
    assert {iid: each[0] for iid, each in as_owner.items()} == {**expected, free["iid"]: None}
    assert as_owner[free["iid"]][1:] == [2, ["merge_train"]]
    reporter = make.user()
    add_members(make, trains.project, {reporter: Level.REPORTER})
    assert shown(reporter)[free["iid"]] == [None, None, []]


def test_settings_of_trains(graphql: Graphql, trains: TrainProject, make: Make) -> None:
    change = """mutation($path: ID!) { projectCiCdSettingsUpdate(input: {
        fullPath: $path, mergeTrainsSkipTrainAllowed: true, keepLatestArtifact: false
    }) { errors ciCdSettings {
        mergeTrainsEnabled mergeTrainsSkipTrainAllowed keepLatestArtifact project { fullPath }
    } } }"""
    answer = graphql.data(change, make.root, path=trains.project.path)["projectCiCdSettingsUpdate"]
    expected = {
        "mergeTrainsEnabled": True,
        "mergeTrainsSkipTrainAllowed": True,
        "keepLatestArtifact": False,
        "project": {"fullPath": trains.project.path},
    }
    assert answer == {"ciCdSettings": expected, "errors": []}
    developer = make.user()
    add_members(make, trains.project, {developer: Level.DEVELOPER})
    assert (
        graphql.answer(change, developer, path=trains.project.path).get("errors")
        or graphql.data(change, developer, path=trains.project.path)["projectCiCdSettingsUpdate"]["errors"]
    )
    read = "query($path: ID!) { project(fullPath: $path) { ciCdSettings { mergeTrainsSkipTrainAllowed } } }"
    assert graphql.data(read, developer, path=trains.project.path)["project"]["ciCdSettings"] is None
    shown = graphql.data(read, make.root, path=trains.project.path)["project"]["ciCdSettings"]
    assert shown == {"mergeTrainsSkipTrainAllowed": True}


def test_trains_by_status_and_branch(graphql: Graphql, trains: TrainProject) -> None:
    for iid in trains.iids():
        trains.end({"iid": iid})
    assert [train["targetBranch"] for train in _trains(graphql, trains, status="ACTIVE")] == ["other"]
    assert [train["targetBranch"] for train in _trains(graphql, trains, status="COMPLETED")] == ["main"]
    assert [train["targetBranch"] for train in _trains(graphql, trains, branches=["main", "none"])] == ["main"]
    assert _trains(graphql, trains, branches=[]) == []


def test_only_users_who_may_merge_remove_cars(graphql: Graphql, trains: TrainProject, make: Make) -> None:
    developer, reporter, stranger = make.user(), make.user(), make.user()
    add_members(make, trains.project, {developer: Level.DEVELOPER, reporter: Level.REPORTER})
    first, second = _trains(graphql, trains)[0]["cars"]["nodes"]
    shown = graphql.data(_TRAINS, developer, path=trains.project.path)["project"]["mergeTrains"]["nodes"][0]
    assert shown["cars"]["nodes"][0]["userPermissions"]["deleteMergeTrainCar"] is False
    assert graphql.data(_TRAINS, reporter, path=trains.project.path)["project"]["mergeTrains"] is None
    for user in (developer, reporter, stranger):
        answer = graphql.answer(_DELETE, user, id=first["id"])
        assert "errors" in answer or answer["data"]["mergeTrainsDeleteCar"]["errors"], answer
    assert len(trains.iids()) == 2
    assert graphql.data(_DELETE, make.root, id=first["id"])["mergeTrainsDeleteCar"]["errors"] == []
    trains.work()
    assert [str(iid) for iid in trains.iids()] == [second["mergeRequest"]["iid"]]
    missing = graphql.answer(_DELETE, make.root, id=first["id"])["errors"]
    assert graphql.answer(_DELETE, stranger, id=second["id"])["errors"] == missing
    for malformed in ("gid://gitlab/Issue/1", "7"):
        assert graphql.data(_DELETE, make.root, id=malformed)["mergeTrainsDeleteCar"]["errors"]
    trains.end({"iid": int(second["mergeRequest"]["iid"])})
    assert graphql.data(_DELETE, make.root, id=second["id"])["mergeTrainsDeleteCar"]["errors"] == [
        "The merge request is not in a merge train"
    ]
