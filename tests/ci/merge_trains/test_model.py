"""Merge trains against a model: random events, after which the target only has tested trees and the order is kept."""

import random
from typing import Any

import pytest

from tests.ci.merge_trains.train_project import TrainProject
from tests.ci.pipelines.files import commit_files
from tests.client import Make
from tests.conftest import Instance

_STEPS = 22


class _Model:
    """The train as it should be, and the trees that a successful pipeline or a push from outside has approved."""

    def __init__(self, trains: TrainProject, dice: random.Random) -> None:
        self.trains, self.dice = trains, dice
        self.waiting: list[dict[str, Any]] = []
        self.passed: set[int] = set()
        self.merged: list[int] = []
        self.approved = {trains.tip()["id"]}
        self._count = 0

    def settle(self) -> None:
        """Merge what has passed at the head of the train."""
        while self.waiting and self.waiting[0]["iid"] in self.passed:
            self.merged.append(self.waiting.pop(0)["iid"])

    def leave(self, merge_request: dict[str, Any]) -> None:
        """Remove a merge request; all behind it are tested again."""
        position = self.waiting.index(merge_request)
        self.passed -= {each["iid"] for each in self.waiting[position:]}
        del self.waiting[position]
        self.settle()

    def add(self) -> None:
        """Add a merge request."""
        self._count += 1
        offered = self.trains.offer(f"branch-{self._count}")
        assert self.trains.add(offered).status_code == 201
        self.waiting.append(offered)

    def succeed(self) -> None:
        """End a pipeline with success."""
        open_ones = [each for each in self.waiting if each["iid"] not in self.passed]
        if open_ones:
            chosen = self.dice.choice(open_ones)
            self.approved.add(self.trains.end(chosen))
            self.passed.add(chosen["iid"])
            self.settle()

    def fail(self) -> None:
        """End a pipeline with a failure."""
        open_ones = [each for each in self.waiting if each["iid"] not in self.passed]
        if open_ones:
            chosen = self.dice.choice(open_ones)
            self.trains.end(chosen, "failed")
            self.leave(chosen)

    def cancel(self) -> None:
        """Remove a merge request from the train."""
        if self.waiting:
            chosen = self.dice.choice(self.waiting)
            url = f"{self.trains.project.url}/merge_requests/{chosen['iid']}/cancel_merge_when_pipeline_succeeds"
            assert self.trains.make.api.put(url, self.trains.make.root).status_code == 200
            self.trains.work()
            self.leave(chosen)

    def push(self) -> None:
        """Push to a source branch."""
        if self.waiting:
            chosen = self.dice.choice(self.waiting)
            self._count += 1
            files = {f"push-{self._count}": "1"}
            commit_files(self.trains.make, self.trains.project, files, branch=chosen["source_branch"])
            self.trains.work()
            self.leave(chosen)

    def push_to_target(self) -> None:
        """Push to the target branch."""
        self._count += 1
        oid = commit_files(self.trains.make, self.trains.project, {f"outside-{self._count}": "1"})
        self.approved.add(oid)
        self.passed.clear()
        self.trains.work()

    def check(self) -> None:
        """Compare the train and the target with the model."""
        assert self.trains.iids() == [each["iid"] for each in self.waiting]
        complete = self.trains.train(scope="complete", per_page=100)
        by_time = sorted(complete, key=lambda car: (car["merged_at"], car["id"]))
        assert [car["merge_request"]["iid"] for car in by_time] == self.merged
        assert self.trains.tip()["id"] in self.approved
        assert all(car["status"] == "fresh" for car in self.trains.train())


@pytest.mark.parametrize("seed", [1, 2])
def test_random_events(make: Make, instance: Instance, seed: int) -> None:
    model = _Model(TrainProject(make, instance), random.Random(seed))
    events = [model.add] * 4 + [model.succeed] * 5
    events += [model.fail, model.cancel, model.push, model.push_to_target]
    for _ in range(_STEPS):
        model.dice.choice(events)()
        model.check()
    while model.waiting:
        model.succeed()
        model.check()
    commits = make.api.get(
        f"{model.trains.project.url}/repository/commits", make.root, ref_name="main", first_parent=True, per_page=100
    ).json()
    began = {commit["id"] for commit in commits[-1:]}
    assert {commit["id"] for commit in commits} <= model.approved | began
