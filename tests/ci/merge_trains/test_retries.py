"""Retries of pipelines of merge trains."""

from tests.ci.merge_trains.train_project import TrainProject
from tests.client import Api, Make
from tests.conftest import Instance


def test_pipelines_of_merge_requests_that_left_are_not_retried(api: Api, make: Make, instance: Instance) -> None:
    """A retry would test commits that are not merged any more; in the train it is possible."""
    trains = TrainProject(make, instance)
    first, second = trains.offer_and_add("a", "b")
    pipelines = [car["pipeline"]["id"] for car in trains.train()]
    trains.end(second, "failed")
    assert api.post(f"{trains.project.url}/pipelines/{pipelines[1]}/retry", make.root).status_code == 201
    trains.work()
    trains.end(first, "failed")
    assert trains.iids() == [second["iid"]]
    refused = api.post(f"{trains.project.url}/pipelines/{pipelines[0]}/retry", make.root)
    jobs = api.get(f"{trains.project.url}/pipelines/{pipelines[0]}/jobs", make.root).json()
    again = api.post(f"{trains.project.url}/jobs/{jobs[0]['id']}/retry", make.root)
    for answer in (refused, again):
        assert (answer.status_code, "has left the merge train" in answer.text) == (403, True)
