"""Two runs of the job of a merge train at the same time: the canceled pipeline of the one that loses removes no car."""

from typing import Any
from unittest.mock import patch

import pytest

from ingot.ci.merge_trains import jobs
from ingot.ci.pipelines.creation import create_pipeline
from tests.ci.merge_trains.train_project import TrainProject
from tests.client import Make
from tests.conftest import Instance


@pytest.mark.parametrize("ends", ["before the other run stores", "after"])
def test_a_pipeline_canceled_for_a_lost_race_removes_no_car(make: Make, instance: Instance, ends: str) -> None:
    """A run creates the pipeline of two cars; before it stores it, another run tests four, which then fail.

    The first two are tested again at their old commit. If the pipeline of the four has failed already, that happens
    before the job which cancels the pipeline of the two is run.
    """
    trains = TrainProject(make, instance, merge_trains_batch_size=4, merge_trains_parallel_pipelines=1)
    (first,) = trains.offer_and_add("starts")
    offered = trains.offer_and_add("a", "b")
    others = [trains.offer(name) for name in "cd"]
    created = []

    def create_while_others_join(*arguments: Any, **options: Any) -> Any:
        pipeline = create_pipeline(*arguments, **options)
        created.append(pipeline)
        if len(created) == 1:
            for each in others:
                url = f"{trains.project.url}/merge_trains/merge_requests/{each['iid']}"
                assert make.api.post(url, make.root).status_code == 201
            trains.work()
            if ends == "before the other run stores":
                trains.job_of(others[-1]).finish("failed")
        return pipeline

    with patch.object(jobs, "create_pipeline", create_while_others_join):
        trains.end(first)
    if ends == "after":
        trains.end(others[-1], "failed")
    assert trains.iids() == [each["iid"] for each in (*offered, *others)]
    trains.end(offered[-1])
    assert [trains.shown(each)["state"] for each in (first, *offered)] == ["merged"] * 3
