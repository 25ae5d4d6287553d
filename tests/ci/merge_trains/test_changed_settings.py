"""Changes of the merge method and of squashing while merge requests are in a train."""

import pytest

from tests.ci.merge_trains.train_project import TrainProject
from tests.client import Api, Make
from tests.conftest import Instance


@pytest.fixture
def trains(make: Make, instance: Instance) -> TrainProject:
    """Return a project with merge trains."""
    return TrainProject(make, instance)


def test_trains_are_shown_as_disabled_without_merged_results(trains: TrainProject, api: Api, make: Make) -> None:
    """As their endpoints refuse requests then; enabling the other setting enables both again."""
    for enabled, status in ((False, 403), (True, 200)):
        shown = api.put(trains.project.url, make.root, merge_pipelines_enabled=enabled).json()
        assert shown["merge_trains_enabled"] is enabled
        assert api.get(trains.project.url, make.root).json()["merge_trains_enabled"] is enabled
        assert api.get(f"{trains.project.url}/merge_trains", make.root).status_code == status
