"""Merge trains against a model: random events, after which the target only has tested trees and the order is kept."""

import random
from typing import Any

import pytest

from tests.ci.merge_trains.train_project import TrainProject
from tests.ci.pipelines.files import commit_files
from tests.client import Make
from tests.conftest import Instance

_STEPS = 24


class _Model:
    """The train as it should be, and the commits that a successful pipeline or a change from outside has approved.

    A pipeline fails if its commit has a file of a bad merge request, alone or because it is behind one.
    """

    def __init__(self, trains: TrainProject, dice: random.Random) -> None:
        self.trains, self.dice = trains, dice
        self.waiting: list[dict[str, Any]] = []
        self.bad: set[int] = set()
        self.ended: set[str] = set()
        self.approved = {trains.tip()["id"]}
        self.immediate: set[int] = set()
        self._count = 0
        trains.make.api.post(
            f"{trains.project.url}/repository/branches", trains.make.root, branch="other", ref="main"
        ).raise_for_status()

    def add(self) -> None:
        """Add a merge request, which may be bad."""
        self._count += 1
        is_bad = self.dice.random() < 0.25
        offered = self.trains.offer(f"{'bad' if is_bad else 'good'}-{self._count}")
        assert self.trains.add(offered).status_code == 201
        self.waiting.append(offered)
        if is_bad:
            self.bad.add(offered["iid"])

    def end_pipeline(self) -> bool:
        """End one of the current pipelines as its commit demands; return False if none runs."""
        shas = {car["pipeline"]["sha"] for car in self.trains.train() if car["pipeline"]} - self.ended
        if not shas:
            return False
        sha = self.dice.choice(sorted(shas))
        tree = self._call("get", f"repository/tree?ref={sha}&per_page=100").json()
        fails = any(entry["name"].startswith("bad") for entry in tree)
        self.ended.add(sha)
        if not fails:
            self.approved.add(sha)
        self.trains.jobs[sha].finish("failed" if fails else "success")
        self.trains.work()
        return True

    def cancel(self) -> None:
        """Remove a merge request from the train."""
        if self.waiting:
            self._call("put", f"merge_requests/{self._leave()['iid']}/cancel_merge_when_pipeline_succeeds")

    def push(self) -> None:
        """Push to a source branch."""
        if self.waiting:
            self._count += 1
            files = {f"push-{self._count}": "1"}
            commit_files(self.trains.make, self.trains.project, files, branch=self._leave()["source_branch"])
            self.trains.work()

    def retarget(self) -> None:
        """Change the target of a merge request."""
        if self.waiting:
            self._call("put", f"merge_requests/{self._leave()['iid']}", target_branch="other")

    def merge(self) -> None:
        """Merge a good merge request immediately."""
        good = [each for each in self.waiting if each["iid"] not in self.bad]
        if good:
            chosen = self.dice.choice(good)
            self.waiting.remove(chosen)
            self.immediate.add(chosen["iid"])
            merged = self._call("put", f"merge_requests/{chosen['iid']}/merge").json()
            self.approved.add(merged["merge_commit_sha"] or merged["sha"])

    def push_to_target(self) -> None:
        """Push to the target branch."""
        self._count += 1
        self.approved.add(commit_files(self.trains.make, self.trains.project, {f"outside-{self._count}": "1"}))
        self.trains.work()

    def _leave(self) -> dict[str, Any]:
        chosen = self.dice.choice(self.waiting)
        self.waiting.remove(chosen)
        return chosen

    def _call(self, method: str, path: str, **fields: Any) -> Any:
        answer = getattr(self.trains.make.api, method)(
            f"{self.trains.project.url}/{path}", self.trains.make.root, **fields
        )
        assert answer.status_code == 200, answer.text
        self.trains.work()
        return answer

    def check(self) -> None:
        """Compare the train and the target with the model."""
        present = self.trains.iids()
        gone = [each for each in self.waiting if each["iid"] not in present]
        self.waiting = [each for each in self.waiting if each["iid"] in present]
        assert present == [each["iid"] for each in self.waiting], "the order is kept"
        for each in gone:
            expected = "opened" if each["iid"] in self.bad else "merged"
            assert self.trains.shown(each)["state"] == expected, each["title"]
        assert self.trains.tip()["id"] in self.approved
        complete = self.trains.train(scope="complete", per_page=100)
        by_train = [car for car in complete if car["merge_request"]["iid"] not in self.immediate]
        assert by_train == sorted(by_train, key=lambda car: (car["merged_at"], car["id"]))


@pytest.mark.parametrize(
    ("seed", "options"),
    [
        (1, {}),
        (2, {"merge_trains_batch_size": 4}),
        (3, {"merge_trains_batch_size": 3, "merge_trains_parallel_pipelines": 2}),
        (4, {"merge_trains_batch_size": 5, "merge_trains_parallel_pipelines": 1, "merge_method": "ff"}),
        (5, {"merge_trains_batch_size": 3, "merge_method": "rebase_merge"}),
    ],
)
def test_random_events(make: Make, instance: Instance, seed: int, options: dict[str, Any]) -> None:
    model = _Model(TrainProject(make, instance, **options), random.Random(seed))
    events = [model.add] * 5 + [model.end_pipeline] * 4
    events += [model.cancel, model.push, model.push_to_target, model.retarget]
    if "merge_method" not in options:  # Others are merged immediately after a rebase only.
        events.append(model.merge)
    for _ in range(_STEPS):
        model.dice.choice(events)()
        model.check()
    while model.waiting:
        assert model.end_pipeline()
        model.check()
    assert model.trains.iids() == []
