"""python-gitlab's calls for merging, unmodified, against the server."""

from collections.abc import Iterator

import pytest
from gitlab import Gitlab, GitlabMRClosedError, GitlabMROnBuildSuccessError

from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.client import Make
from tests.conftest import Instance


@pytest.fixture(scope="module")
def client(instance: Instance, make: Make) -> Iterator[Gitlab]:
    """Yield the administrator's client."""
    with Gitlab(instance.url, private_token=make.root.token) as made:
        yield made


def test_merge(client: Gitlab, make: Make) -> None:
    """With a message and removal of the source branch; a second merge raises an error."""
    made = filled_project(make)
    project = client.projects.get(made.id)
    request = project.mergerequests.get(make_merge_request(make, made)["iid"])
    assert request.merge_status == "can_be_merged"
    trial = request.merge_ref()
    assert isinstance(trial, dict)
    assert project.commits.get(trial["commit_id"]).parent_ids[1] == request.sha
    request.merge(merge_commit_message="By a client", should_remove_source_branch=True)
    assert request.state == "merged"
    assert project.commits.get("master").message == "By a client"
    assert request.source_branch not in [branch.name for branch in project.branches.list(get_all=True)]
    with pytest.raises(GitlabMRClosedError):
        request.merge()


def test_rebase(client: Gitlab, make: Make) -> None:
    made = filled_project(make)
    project = client.projects.get(made.id)
    request = project.mergerequests.get(make_merge_request(make, made)["iid"])
    newest = commit(make, made, "master", {"more": "x\n"})
    request.rebase()
    moved = project.mergerequests.get(request.iid, include_rebase_in_progress=True)
    assert moved.rebase_in_progress is False
    assert project.commits.get(moved.sha).parent_ids == [newest]


def test_merge_when_the_pipeline_succeeds(client: Gitlab, make: Make, instance: Instance) -> None:
    made = filled_project(make)
    project = client.projects.get(made.id)
    request = project.mergerequests.get(make_merge_request(make, made)["iid"])
    status = {"ref": request.source_branch, "name": "ci"}
    project.commits.get(request.sha).statuses.create({"state": "running", **status})
    request.merge(merge_when_pipeline_succeeds=True)
    assert (request.state, request.merge_when_pipeline_succeeds) == ("opened", True)
    request.cancel_merge_when_pipeline_succeeds()
    assert project.mergerequests.get(request.iid).merge_when_pipeline_succeeds is False
    with pytest.raises(GitlabMROnBuildSuccessError):
        request.cancel_merge_when_pipeline_succeeds()
    request.merge(merge_when_pipeline_succeeds=True)
    project.commits.get(request.sha).statuses.create({"state": "success", **status})
    instance.work()
    assert project.mergerequests.get(request.iid).state == "merged"
    (pipeline,) = request.pipelines.list(get_all=True)
    whole = project.pipelines.get(pipeline.id)
    assert whole.status == "success"
    assert whole.jobs.list(get_all=True) == [], "External statuses are no jobs."
