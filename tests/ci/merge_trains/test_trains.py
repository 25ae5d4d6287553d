"""Merge trains: order, parallel pipelines, merges of tested commits, and reasons to leave."""

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import fork
from tests.ci.merge_trains.train_project import TrainProject
from tests.ci.pipelines.files import commit_files
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import add_members


@pytest.fixture
def trains(make: Make, instance: Instance) -> TrainProject:
    """Return a project with merge trains."""
    return TrainProject(make, instance)


def test_each_is_tested_with_those_before_it_and_merged_as_tested(trains: TrainProject) -> None:
    first, second, third = trains.offer_and_add("a", "b", "c")
    cars = trains.train()
    assert [(car["status"], car["target_branch"], car["merged_at"]) for car in cars] == [("fresh", "main", None)] * 3
    assert cars[1]["pipeline"]["ref"] == f"refs/merge-requests/{second['iid']}/train"
    variables = trains.job_of(second).variables
    assert variables["CI_MERGE_REQUEST_EVENT_TYPE"] == "merge_train"
    assert variables["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] == cars[0]["pipeline"]["sha"]
    assert variables["CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"] == second["sha"]
    assert trains.notes(first) == ["started a merge train"]
    assert trains.notes(third) == ["added this merge request to the merge train at position 3"]
    trains.end(third)
    trains.end(second)
    assert trains.iids() == [first["iid"], second["iid"], third["iid"]]
    trains.end(first)
    assert trains.iids() == []
    merged = [trains.shown(each) for each in (first, second, third)]
    assert [each["state"] for each in merged] == ["merged"] * 3
    assert [each["merge_commit_sha"] for each in merged] == [car["pipeline"]["sha"] for car in cars]
    assert trains.tip()["id"] == cars[2]["pipeline"]["sha"]
    complete = trains.train(scope="complete")
    assert [car["status"] for car in complete] == ["merged"] * 3
    assert all(car["merged_at"] and car["duration"] is not None for car in complete)


def test_a_failure_leaves_and_those_behind_are_tested_again(trains: TrainProject, api: Api, make: Make) -> None:
    first, second, third = trains.offer_and_add("a", "b", "c")
    outdated = trains.train()[2]["pipeline"]
    trains.end(second, "failed")
    # The first one may be the reason, as long as its own pipeline runs.
    assert trains.iids() == [first["iid"], second["iid"], third["iid"]]
    trains.end(first)
    assert trains.iids() == [third["iid"]]
    assert trains.notes(second)[-1] == "removed this merge request from the merge train because the pipeline failed"
    assert trains.shown(second)["merge_when_pipeline_succeeds"] is False
    todos = api.get("/todos", make.root, project_id=trains.project.id).json()
    assert [todo["action_name"] for todo in todos if todo["target"]["iid"] == second["iid"]] == ["merge_train_removed"]
    assert api.get(f"{trains.project.url}/pipelines/{outdated['id']}", make.root).json()["status"] == "canceling"
    assert trains.train()[0]["pipeline"]["id"] > outdated["id"]
    trains.end(third)
    assert [trains.shown(each)["state"] for each in (first, second, third)] == ["merged", "opened", "merged"]
    assert trains.add(second).status_code == 201
    trains.end(second)
    assert trains.shown(second)["state"] == "merged"


def test_conflicts_pushes_cancellations_and_closing_leave(trains: TrainProject, api: Api, make: Make) -> None:
    first = trains.offer("a", {"same": "1\n"})
    conflicting = trains.offer("b", {"same": "2\n"})
    pushed, canceled, closed, retargeted, last = (trains.offer(name) for name in "cdefg")
    for each in (first, conflicting, pushed, canceled, closed, retargeted, last):
        assert trains.add(each).status_code == 201
    assert "conflict with merge requests before this one" in trains.notes(conflicting)[-1]
    commit_files(make, trains.project, {"more": "1"}, branch="c")
    where = f"{trains.project.url}/merge_requests"
    path = f"{where}/{canceled['iid']}/cancel_merge_when_pipeline_succeeds"
    assert api.put(path, make.root).status_code == 200
    assert api.put(f"{where}/{closed['iid']}", make.root, state_event="close").status_code == 200
    api.post(f"{trains.project.url}/repository/branches", make.root, branch="other", ref="main")
    assert api.put(f"{where}/{retargeted['iid']}", make.root, target_branch="other").status_code == 200
    trains.work()
    assert trains.iids() == [first["iid"], last["iid"]]
    removed = "removed this merge request from the merge train"
    assert f"{removed} because new commits were pushed" in trains.notes(pushed)
    todos = api.get("/todos", make.root, project_id=trains.project.id, action="merge_train_removed").json()
    left = {each["iid"] for each in (conflicting, pushed, retargeted)}
    assert {todo["target"]["iid"] for todo in todos} == left, "Who cancels or closes needs no todo."
    assert trains.notes(canceled)[-1] == removed
    assert f"{removed} because the target branch was changed" in trains.notes(retargeted)
    trains.end(first)
    trains.end(last)
    states = [trains.shown(each)["state"] for each in (conflicting, pushed, canceled, closed, retargeted)]
    assert states == ["opened", "opened", "opened", "closed", "opened"]


def test_a_push_and_an_immediate_merge_restart_the_train(trains: TrainProject, api: Api, make: Make) -> None:
    first, second = trains.offer_and_add("a", "b")
    before = [car["pipeline"]["id"] for car in trains.train()]
    tip = commit_files(make, trains.project, {"urgent": "1"})
    trains.work()
    after = trains.train()
    assert all(car["pipeline"]["id"] > max(before) for car in after)
    assert trains.job_of(first).variables["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] == tip
    answer = api.put(f"{trains.project.url}/merge_requests/{second['iid']}/merge", make.root)
    assert answer.json()["state"] == "merged"
    trains.work()
    assert trains.iids() == [first["iid"]]
    assert trains.job_of(first).variables["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] == trains.tip()["id"]
    tested = trains.end(first)
    assert trains.tip()["id"] == tested


@pytest.mark.parametrize("method", ["ff", "rebase_merge"])
@pytest.mark.parametrize("squash", [False, True])
def test_linear_histories(make: Make, instance: Instance, method: str, squash: bool) -> None:
    """The rebased commits are those that were tested."""
    trains = TrainProject(make, instance, merge_method=method)
    offered = [trains.offer(name, squash=squash) for name in ("a", "b")]
    for each in offered:
        commit_files(make, trains.project, {f"{each['source_branch']}2": "2"}, branch=each["source_branch"])
        assert trains.add(each).status_code == 201
    tested = [trains.end(each) for each in offered]
    assert [trains.shown(each)["state"] for each in offered] == ["merged", "merged"]
    assert trains.tip()["id"] == tested[1]
    listed = make.api.get(f"{trains.project.url}/repository/commits", make.root, per_page=50).json()
    merges = [commit for commit in listed if len(commit["parent_ids"]) > 1]
    assert len(merges) == (2 if method == "rebase_merge" else 0)
    for commit in merges:
        child = next(each for each in listed if each["id"] == commit["parent_ids"][1])
        assert squash is (child["parent_ids"] == [commit["parent_ids"][0]])


@pytest.mark.parametrize("method", ["merge", "ff", "rebase_merge"])
def test_only_what_is_merged_already_leaves(make: Make, instance: Instance, method: str) -> None:
    """Commits that change nothing in the end are merged, unlike those that another merge request brings before them."""
    trains = TrainProject(make, instance, merge_method=method)
    first, empty = trains.offer("first"), trains.offer("empty")
    commit_files(make, trains.project, {"empty": ""}, branch="empty", action="delete")
    head = {"branch": "twin", "ref": "first"}
    assert make.api.post(f"{trains.project.url}/repository/branches", make.root, **head).status_code == 201
    fields = {"source_branch": "twin", "target_branch": "main", "title": "Merge twin"}
    twin = make.api.post(f"{trains.project.url}/merge_requests", make.root, **fields).json()
    for each in (first, twin, empty):
        assert trains.add(each).status_code == 201
    assert trains.iids() == [first["iid"], empty["iid"]]
    assert "a merge request before this one contains the changes already" in trains.notes(twin)[-1]
    for each in (first, empty):
        trains.end(each)
    assert [trains.shown(each)["state"] for each in (first, empty)] == ["merged", "merged"]


@pytest.mark.parametrize("method", ["ff", "rebase_merge"])
def test_a_push_from_outside_restarts_linear_trains(make: Make, instance: Instance, method: str) -> None:
    """The commits are rebased onto the pushed one, and are what is tested."""
    trains = TrainProject(make, instance, merge_method=method)
    offered = trains.offer_and_add("a", "b")
    before = [car["pipeline"]["id"] for car in trains.train()]
    pushed = commit_files(make, trains.project, {"outside": "1"})
    trains.work()
    assert all(car["pipeline"]["id"] > max(before) for car in trains.train())
    tested = [trains.end(each) for each in offered]
    assert [trains.shown(each)["state"] for each in offered] == ["merged", "merged"]
    sent = {"ref_name": "main", "first_parent": True, "per_page": 3}
    listed = make.api.get(f"{trains.project.url}/repository/commits", make.root, **sent).json()
    assert [commit["id"] for commit in listed] == [tested[1], tested[0], pushed]
    assert {len(commit["parent_ids"]) for commit in listed[:2]} == {2 if method == "rebase_merge" else 1}


def test_the_train_rebases(make: Make, instance: Instance) -> None:
    """A merge request behind its target joins, and its status does not ask for a rebase, which would remove it."""
    trains = TrainProject(make, instance, merge_method="ff")
    only = trains.offer("a")
    commit_files(make, trains.project, {"outside": "1"})
    trains.work()
    assert trains.shown(only)["detailed_merge_status"] == "need_rebase"
    assert trains.add(only).status_code == 201
    assert trains.shown(only)["detailed_merge_status"] == "mergeable"
    listed = make.api.get(f"{trains.project.url}/merge_requests", make.root).json()
    assert [each["detailed_merge_status"] for each in listed] == ["mergeable"]
    assert trains.end(only) == trains.tip()["id"]


def test_pipelines_in_parallel_are_limited(make: Make, instance: Instance) -> None:
    trains = TrainProject(make, instance, merge_trains_parallel_pipelines=2)
    first, _, third = trains.offer_and_add("a", "b", "c")
    assert [car["status"] for car in trains.train()] == ["fresh", "fresh", "idle"]
    assert trains.train()[2]["pipeline"] is None
    trains.end(first)
    assert [car["status"] for car in trains.train()] == ["fresh", "fresh"]
    assert trains.iids()[1] == third["iid"]


def test_automatic_merges_take_the_train(trains: TrainProject, api: Api, make: Make) -> None:
    """At once without an active pipeline, else when it has succeeded."""
    ready, waiting = trains.offer("a"), trains.offer("b")
    where = f"{trains.project.url}/merge_requests"
    assert api.put(f"{where}/{ready['iid']}/merge", make.root, auto_merge=True).json()["state"] == "opened"
    status = f"{trains.project.url}/statuses/{waiting['sha']}"
    api.post(status, make.root, state="running", ref="b")
    assert trains.add(waiting, auto_merge=True).status_code == 201
    assert trains.iids() == [ready["iid"]]
    assert trains.shown(waiting)["merge_when_pipeline_succeeds"] is True
    assert [each["auto_merge_strategy"] for each in map(trains.shown, (ready, waiting))] == [
        "merge_train",
        "add_to_merge_train_when_checks_pass",
    ]
    api.post(status, make.root, state="success", ref="b")
    trains.work()
    assert trains.iids() == [ready["iid"], waiting["iid"]]


def test_merge_requests_of_forks_are_tested_in_the_target_project(trains: TrainProject, make: Make, api: Api) -> None:
    author = make.user()
    make.api.put(trains.project.url, make.root, visibility="public")
    source = fork(make, trains.project, author)
    commit_files(make, source, {"forked": "1"}, branch="feature", start_branch="main", user=author)
    fields = {"source_branch": "feature", "target_branch": "main", "title": "A", "target_project_id": trains.project.id}
    offered = api.post(f"{source.url}/merge_requests", author, **fields).json()
    (before,) = trains.offer_and_add("a")
    assert trains.add(offered, author).status_code == 403
    assert trains.add(offered).status_code == 201
    variables = trains.job_of(offered).variables
    assert variables["CI_PROJECT_ID"] == variables["CI_MERGE_REQUEST_PROJECT_ID"] == str(trains.project.id)
    assert variables["CI_MERGE_REQUEST_SOURCE_PROJECT_ID"] == str(source.id)
    trains.end(before)
    assert trains.end(offered) == trains.tip()["id"]


def test_drafts_are_not_merged(trains: TrainProject, api: Api, make: Make) -> None:
    (only,) = trains.offer_and_add("a")
    api.put(f"{trains.project.url}/merge_requests/{only['iid']}", make.root, title="Draft: a")
    trains.work()
    assert (trains.iids(), trains.shown(only)["state"]) == ([], "opened")
    assert "removed this merge request from the merge train because the merge request is a draft" in trains.notes(only)
    refused = trains.add(only)
    assert (refused.status_code, refused.json()["error_code"]) == (400, "draft_status")


def test_a_deleted_pipeline_leaves(trains: TrainProject, api: Api, make: Make) -> None:
    (only,) = trains.offer_and_add("a")
    pipeline = trains.train()[0]["pipeline"]["id"]
    assert api.delete(f"{trains.project.url}/pipelines/{pipeline}", make.root).status_code == 204
    trains.work()
    assert trains.notes(only)[-1].endswith("because the pipeline was deleted")


def test_only_developers_read_and_only_users_who_may_merge_add(trains: TrainProject, api: Api, make: Make) -> None:
    developer, reporter, stranger = make.user(), make.user(), make.user()
    add_members(make, trains.project, {developer: Level.DEVELOPER, reporter: Level.REPORTER})
    (only,) = trains.offer_and_add("a")
    url = f"{trains.project.url}/merge_trains"
    car = f"{url}/merge_requests/{only['iid']}"
    for path in (url, f"{url}/main", car):
        statuses = [api.get(path, user).status_code for user in (developer, reporter, stranger)]
        assert statuses == [200, 403, 404]
    assert api.get(car, developer).json()["merge_request"]["iid"] == only["iid"]
    other = trains.offer("b")
    assert trains.add(other, reporter).status_code == 403
    assert trains.add(other, sha="0" * 40).status_code == 409
    # The default branch is protected: developers may not merge into it.
    assert trains.add(other, developer).status_code == 403
    assert api.get(f"{url}/merge_requests/{other['iid']}", developer).status_code == 404
    api.put(trains.project.url, make.root, merge_trains_enabled=False)
    assert [api.get(url, make.root).status_code, trains.add(other).status_code] == [403, 403]
    assert trains.notes(only)[-1].endswith("because merge trains were disabled")
