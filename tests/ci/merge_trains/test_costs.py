"""Costs of merge trains in statements: pages of their lists, new cars, and the end of a pipeline."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.call_costs.measurement import counted_processes
from tests.ci.merge_trains.train_project import TrainProject
from tests.ci.pipelines.files import commit_files
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import statements_of, stopped_clock
from tests.statements import cold_reads, recorded_statements

_OF_QUEUE = re.compile(r"\b(recurring_)?jobs\b")
"""The queue looks for work at times that do not depend on the train."""


def _count(instance: Instance, call: Callable[[], object]) -> int:
    """Return the number of statements of a call, without those of the queue."""
    with cold_reads(), recorded_statements(instance.app.database) as texts:
        call()
    return sum(not _OF_QUEUE.search(text) for text in texts)


@pytest.mark.parametrize("path", ["merge_trains", "merge_trains/main"])
def test_longer_pages_need_no_more_statements(make: Make, instance: Instance, api: Api, path: str) -> None:
    trains = TrainProject(make, instance, merge_trains_parallel_pipelines=3)
    people = [make.user() for _ in range(3)]
    for name, person in zip("abc", people, strict=True):
        api.post(f"{trains.project.url}/members", make.root, user_id=person.id, access_level=40)
        assert trains.add(trains.offer(name), person).status_code == 201
    trains.end(trains.train()[0]["merge_request"])

    def listed(**sent: object) -> Callable[[], object]:
        return lambda: api.get(f"{trains.project.url}/{path}", make.root, **sent)

    assert len(api.get(f"{trains.project.url}/{path}", make.root).json()) == 3
    for filters in ({}, {"scope": "active"}, {"scope": "complete"}):
        short, long = (statements_of(make, listed(per_page=size, **filters)) for size in (1, 100))  # type: ignore[arg-type]
        assert long <= short


def test_a_car_costs_at_most_thrice_a_pipeline(make: Make, instance: Instance, api: Api) -> None:
    """With all that follows: its commit, its pipeline and the note; compared with the pipeline of a merge request.

    The latter tests a merge that exists already, so it needs no git.
    """
    trains = TrainProject(make, instance)
    jobs = "test:\n  script: make\n  rules: [{if: $CI_PIPELINE_SOURCE == 'merge_request_event'}]\n"
    commit_files(make, trains.project, {"jobs.yml": jobs})
    api.put(trains.project.url, make.root, ci_config_path="jobs.yml")

    def run(path: str) -> None:
        assert api.post(f"{trains.project.url}/{path}", make.root).status_code in (200, 201), path
        instance.work()

    statements: dict[str, int] = {}
    commands: dict[str, list[str]] = {}
    with stopped_clock(instance):
        for name in ("warm", "measured"):
            iid = trains.offer(name)["iid"]
            instance.work()
            for kind, path in (
                ("pipeline", f"merge_requests/{iid}/pipelines"),
                ("car", f"merge_trains/merge_requests/{iid}"),
            ):
                with counted_processes() as processes:
                    statements[kind] = _count(instance, partial(run, path))
                commands[kind] = [arguments[1] for arguments in processes]
    assert statements["car"] <= 2 * statements["pipeline"], statements
    assert commands == {"pipeline": [], "car": ["merge-tree"]}


def test_a_car_costs_no_more_in_a_longer_train(make: Make, instance: Instance, api: Api) -> None:
    """Adding a merge request, and the end of a pipeline that is not the first one; polls of runners do not count."""

    def add(merge_request: dict[str, Any]) -> None:
        path = f"merge_trains/merge_requests/{merge_request['iid']}"
        assert api.post(f"{trains.project.url}/{path}", make.root).status_code == 201
        instance.work()

    with stopped_clock(instance):
        trains = TrainProject(make, instance)
        offered = [trains.offer(f"car-{number}") for number in range(9)]
        instance.work()
        costs = []
        for each in offered:
            costs.append(_count(instance, partial(add, each)))
            trains.work()
        assert costs[1:] == costs[1:2] * 8, costs
        ends = []
        for each in offered[:0:-1]:
            trains.job_of(each).finish("success")
            ends.append(_count(instance, instance.work))
        assert ends == ends[:1] * 8, ends
