"""Resource groups apply to the pipelines of merge trains."""

import pytest

from tests.ci.merge_trains.train_project import TrainProject
from tests.client import Make
from tests.conftest import Instance

SHARED = """test:
  script: make
  resource_group: device
  rules: [{if: $CI_MERGE_REQUEST_EVENT_TYPE == 'merge_train'}]
"""


@pytest.fixture
def trains(make: Make, instance: Instance) -> TrainProject:
    """Return a project with merge trains."""
    return TrainProject(make, instance)


def _configure(trains: TrainProject, content: str) -> None:
    file = f"{trains.project.url}/repository/files/.gitlab-ci.yml"
    sent = {"branch": "main", "commit_message": "Configure", "content": content}
    assert trains.make.api.put(file, trains.make.root, **sent).status_code == 200
    trains.work()


def _statuses(trains: TrainProject) -> list[str]:
    """Return the statuses of the jobs of the train, in its order."""
    shown = []
    for car in trains.train():
        url = f"{trains.project.url}/pipelines/{car['pipeline']['id']}/jobs"
        shown += [job["status"] for job in trains.make.api.get(url, trains.make.root).json()]
    return shown


def test_jobs_of_a_resource_group_run_one_after_the_other(trains: TrainProject) -> None:
    _configure(trains, SHARED)
    first, second, third = trains.offer_and_add("a", "b", "c")
    assert _statuses(trains) == ["running", "waiting_for_resource", "waiting_for_resource"]
    trains.end(first)
    assert _statuses(trains) == ["running", "waiting_for_resource"]
    trains.end(second, "failed")
    # The resource of a pipeline that is not needed any more is free for the one that replaces it.
    assert (trains.iids(), _statuses(trains)) == ([third["iid"]], ["running"])
    trains.end(third)
    assert [trains.shown(each)["state"] for each in (first, second, third)] == ["merged", "opened", "merged"]
