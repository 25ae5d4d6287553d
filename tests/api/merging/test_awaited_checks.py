"""Automatic merges that wait for all checks, and not only for the pipeline."""

from collections.abc import Callable
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project
from tests.api.merge_requests.stacks import open_layer
from tests.api.merging.merge_calls import url
from tests.ci.merge_trains.train_project import TrainProject
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members

_Step = Callable[[], Any]


class Case:
    """An open merge request with an obstacle, and the step that removes it."""

    def __init__(self, make: Make, project: str, merge_request: dict[str, Any], reviewer: User) -> None:
        self.api, self.root, self.reviewer = make.api, make.root, reviewer
        self.project, self.merge_request = project, merge_request
        self.path = f"{project}/merge_requests/{merge_request['iid']}"

    def draft(self) -> _Step:
        """Mark as a draft."""
        assert self.api.put(self.path, self.root, title="Draft: x").status_code == 200
        return lambda: self.api.put(self.path, self.root, title="x")

    def approval(self) -> _Step:
        """Require an approval."""
        assert self.api.post(f"{self.project}/approvals", self.root, approvals_before_merge=1).status_code == 201
        return lambda: self.api.post(f"{self.path}/approve", self.reviewer)

    def setting(self) -> _Step:
        """Require an approval, until the project does not any more."""
        self.approval()
        return lambda: self.api.post(f"{self.project}/approvals", self.root, approvals_before_merge=0)

    def thread(self) -> _Step:
        """Open a thread."""
        sent = {"only_allow_merge_if_all_discussions_are_resolved": True}
        assert self.api.put(self.project, self.root, **sent).status_code == 200
        thread = self.api.post(f"{self.path}/discussions", self.root, body="Why?").json()
        return lambda: self.api.put(f"{self.path}/discussions/{thread['id']}", self.root, resolved=True)

    def deleted_thread(self) -> _Step:
        """Open a thread that is deleted."""
        self.thread()
        (note,) = self.api.get(f"{self.path}/notes", self.root).json()[:1]
        return lambda: self.api.delete(f"{self.path}/notes/{note['id']}", self.root)

    def request(self) -> _Step:
        """Request changes."""
        assert self.api.post(f"{self.path}/notes", self.reviewer, body="/request_changes").status_code in (201, 202)
        return lambda: self.api.post(f"{self.path}/approve", self.reviewer)


OBSTACLES = ["draft", "approval", "setting", "thread", "deleted_thread", "request"]


@pytest.fixture
def reviewer(make: Make) -> User:
    """Return a user who reviews."""
    return make.user()


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_auto_merge_waits_for_all_checks(
    api: Api, make: Make, instance: Instance, reviewer: User, obstacle: str
) -> None:
    """With the older name of the attribute only for the pipeline, as the specification has it."""
    project = filled_project(make, make.root)
    add_members(make, project, {reviewer: Level.DEVELOPER})
    commit(make, project, "a", {"a": "a"}, make.root, start="master")
    merge_request = open_layer(make, project, make.root, "a", "master")
    case = Case(make, project.url, merge_request, reviewer)
    pass_check = getattr(case, obstacle)()
    path = f"{case.path}/merge"
    assert api.put(path, make.root, merge_when_pipeline_succeeds=True).status_code == 405
    assert api.put(path, make.root).status_code == 405
    assert api.put(path, make.root, auto_merge=True, sha="0" * 40).status_code == 409
    answer = api.put(path, make.root, auto_merge=True)
    assert answer.status_code == 200, answer.text
    assert answer.json()["merge_when_pipeline_succeeds"] is True
    assert answer.json()["auto_merge_strategy"] == "merge_when_checks_pass"
    instance.work()
    assert api.get(case.path, make.root).json()["state"] == "opened"
    assert pass_check().status_code < 300
    instance.work()
    shown = api.get(case.path, make.root).json()
    assert (shown["state"], shown["merge_user"]["username"]) == ("merged", "root")


def test_auto_merge_waits_for_the_last_check(api: Api, make: Make, instance: Instance, reviewer: User) -> None:
    project = filled_project(make, make.root)
    add_members(make, project, {reviewer: Level.DEVELOPER})
    commit(make, project, "a", {"a": "a"}, make.root, start="master")
    case = Case(make, project.url, open_layer(make, project, make.root, "a", "master"), reviewer)
    steps = [case.approval(), case.draft(), case.thread()]
    assert api.put(f"{case.path}/merge", make.root, auto_merge=True).status_code == 200
    for step in steps:
        instance.work()
        assert api.get(case.path, make.root).json()["state"] == "opened"
        assert step().status_code < 300
    instance.work()
    assert api.get(case.path, make.root).json()["state"] == "merged"


def test_a_conflict_is_not_waited_for(api: Api, make: Make, instance: Instance, reviewer: User) -> None:
    project: Project = filled_project(make, make.root)
    commit(make, project, "a", {"a": "a"}, make.root, start="master")
    commit(make, project, "master", {"a": "other"}, make.root)
    merge_request = open_layer(make, project, make.root, "a", "master")
    Case(make, project.url, merge_request, reviewer).draft()
    assert api.put(url(project, merge_request, "/merge"), make.root, auto_merge=True).status_code == 405


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_merge_requests_join_the_train_when_checks_pass(
    make: Make, instance: Instance, reviewer: User, obstacle: str
) -> None:
    trains = TrainProject(make, instance)
    add_members(make, trains.project, {reviewer: Level.DEVELOPER})
    merge_request = trains.offer("a")
    pass_check = getattr(Case(make, trains.project.url, merge_request, reviewer), obstacle)()
    assert trains.add(merge_request).status_code == 400
    assert trains.add(merge_request, auto_merge=True).status_code == 201
    assert trains.shown(merge_request)["auto_merge_strategy"] == "add_to_merge_train_when_checks_pass"
    assert trains.iids() == []
    assert pass_check().status_code < 300
    trains.work()
    assert trains.iids() == [merge_request["iid"]]
    trains.end(merge_request)
    assert trains.shown(merge_request)["state"] == "merged"
