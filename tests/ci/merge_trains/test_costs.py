"""Costs of merge trains in statements: pages of their lists, new cars, and the end of a pipeline."""

from collections.abc import Callable

import pytest

from tests.call_costs.measurement import counted_processes
from tests.ci.merge_trains.train_project import TrainProject
from tests.ci.pipelines.files import commit_files
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import statements_of
from tests.statements import cold_reads, executed


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
    statements: dict[str, int] = {}
    commands: dict[str, list[str]] = {}
    for name in ("warm", "measured"):
        offered = trains.offer(name)
        instance.work()
        for kind, path in (
            ("pipeline", f"merge_requests/{offered['iid']}/pipelines"),
            ("car", f"merge_trains/merge_requests/{offered['iid']}"),
        ):
            before = executed(instance.app.database)
            with counted_processes() as processes:
                assert api.post(f"{trains.project.url}/{path}", make.root).status_code in (200, 201), kind
                instance.work()
            statements[kind] = executed(instance.app.database) - before
            commands[kind] = [arguments[1] for arguments in processes]
    assert statements["car"] <= 2 * statements["pipeline"], statements
    assert commands == {"pipeline": [], "car": ["merge-tree"]}


def test_a_car_costs_no_more_in_a_longer_train(make: Make, instance: Instance) -> None:
    """Adding a merge request, and the end of a pipeline that is not the first one."""
    trains = TrainProject(make, instance)
    database = instance.app.database
    offered = [trains.offer(f"car-{number}") for number in range(9)]
    costs = []
    for each in offered:
        with cold_reads():
            before = executed(database)
            assert trains.add(each).status_code == 201
            costs.append(executed(database) - before)
    assert costs[2:] == costs[2:3] * 7, costs
    ends = []
    for each in offered[:0:-1]:
        trains.job_of(each).finish("success")
        with cold_reads():
            before = executed(database)
            instance.work()
            ends.append(executed(database) - before)
    assert ends == ends[:1] * 8, ends
