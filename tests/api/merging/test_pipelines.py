"""Statuses of pipelines, and pipelines of merge requests."""

from functools import partial
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project, fork, make_merge_request
from tests.api.merging.merge_calls import merged, url
from tests.client import Api, Make, User
from tests.factories import Project, add_members, ids, statements_of


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    """Return the owner of the project."""
    return make.user()


@pytest.fixture(scope="module")
def project(make: Make, owner: User) -> Project:
    """Return a private project with a first commit."""
    return filled_project(make, owner)


def report(api: Api, project: Project, who: User, sha: str, state: str, **sent: Any) -> dict[str, Any]:
    """Report a status for a commit."""
    answer = api.post(f"/projects/{project.id}/statuses/{sha}", who, state=state, **sent)
    assert answer.status_code == 201, answer.text
    said: dict[str, Any] = answer.json()
    return said


def test_statuses_of_a_pipeline(api: Api, make: Make, project: Project, owner: User) -> None:
    """In the order of creation; superseded ones only on request."""
    head = commit(make, project, make.name("b"), {"x": "1"}, owner, start="master")
    first = report(api, project, owner, head, "failed", name="lint", target_url="https://ci.example.com/1")
    second = report(api, project, owner, head, "running", name="test")
    third = report(api, project, owner, head, "success", name="lint", coverage=50)
    number = first["pipeline_id"]

    statuses = api.get(f"/projects/{project.id}/pipelines/{number}/statuses", owner)
    assert statuses.json() == [second, third]
    assert statuses.headers["x-total"] == "2"
    assert len(api.get(f"/projects/{project.id}/pipelines/{number}/statuses", owner, all=True).json()) == 3
    assert len(api.get(f"/projects/{project.id}/pipelines/{number}/statuses", owner, per_page=1).json()) == 1

    assert api.get(f"/projects/{project.id}/pipelines/{number}/jobs", owner).json() == []
    jobs = api.get(f"/projects/{project.id}/pipelines/{number}/jobs", owner, include_external=True).json()
    assert [(job["id"], job["name"], job["status"]) for job in jobs] == [
        (second["id"], "test", "running"),
        (third["id"], "lint", "success"),
    ]
    assert jobs[1]["coverage"] == 50
    assert (jobs[0]["commit"]["id"], jobs[0]["pipeline"]["id"], jobs[0]["user"]["id"]) == (head, number, owner.id)
    for part in ("statuses", "jobs"):
        whole = f"/projects/{project.id}/pipelines/{number}/{part}"
        every = {"include_external": True} if part == "jobs" else {}
        few, many = (statements_of(make, partial(api.get, whole, owner, per_page=size, **every)) for size in (1, 100))
        assert many <= few
    get_jobs = partial(api.get, f"/projects/{project.id}/pipelines/{number}/jobs", owner, include_external=True)
    assert ids(get_jobs(scope=["failed"])) == []
    assert ids(get_jobs(scope=["failed"], include_retried=True)) == [first["id"]]
    assert ids(get_jobs(**{"scope[]": ["success", "running"]})) == [second["id"], third["id"]]


def test_visibility_of_statuses(api: Api, make: Make, owner: User) -> None:
    """As for the pipeline; guests see jobs if the project publishes them, but no code."""
    project = filled_project(make, owner)
    guest, stranger, reporter = make.user(), make.user(), make.user()
    add_members(make, project, {guest: Level.GUEST, reporter: Level.REPORTER})
    number = report(api, project, owner, "master", "success")["pipeline_id"]
    for part in ("statuses", "jobs"):
        path = f"/projects/{project.id}/pipelines/{number}/{part}"
        seen = [api.get(path, who).status_code for who in (owner, reporter, guest, stranger, None)]
        assert seen == [200, 200, 200, 404, 401]
        assert api.get(f"/projects/{project.id}/pipelines/999999/{part}", owner).status_code == 404
        assert api.get(f"/projects/{project.id}/pipelines/x/{part}", owner).status_code in (400, 404)
    (job,) = api.get(f"/projects/{project.id}/pipelines/{number}/jobs", guest, include_external=True).json()
    assert job["commit"] is None
    assert api.put(f"/projects/{project.id}", owner, name=project.name, public_jobs=False).status_code == 200
    assert api.get(f"/projects/{project.id}/pipelines/{number}/jobs", guest).status_code == 403
    other = filled_project(make, owner)
    assert api.get(f"/projects/{other.id}/pipelines/{number}/statuses", owner).status_code == 404


def test_pipelines_of_a_merge_request(api: Api, make: Make, project: Project, owner: User) -> None:
    """Of all its heads, newest first, also after the merge; not of other branches."""
    merge_request = make_merge_request(make, project, owner)
    branch = merge_request["source_branch"]
    assert api.get(f"/projects/{project.id}/merge_requests/{merge_request['iid']}/pipelines", owner).json() == []
    assert merge_request["head_pipeline"] is None
    old = report(api, project, owner, merge_request["sha"], "failed", ref=branch)["pipeline_id"]
    assert api.get(url(project, merge_request), owner).json()["head_pipeline"]["id"] == old
    head = commit(make, project, branch, {make.name("more"): "x"}, owner)
    report(api, project, owner, "master", "success", ref="master")
    assert api.get(url(project, merge_request), owner).json()["head_pipeline"] is None
    new = report(api, project, owner, head, "success")["pipeline_id"]

    path = url(project, merge_request, "/pipelines")
    listed = api.get(path, owner)
    assert ids(listed) == [new, old]
    assert listed.headers["x-total"] == "2"
    assert listed.json()[0] == api.get(f"/projects/{project.id}/pipelines", owner).json()[0]
    one = statements_of(make, lambda: api.get(path, owner, per_page=1))
    assert statements_of(make, lambda: api.get(path, owner, per_page=100)) <= one
    shown = merged(api, project, merge_request, owner, should_remove_source_branch=True)
    assert shown["head_pipeline"]["id"] == new
    assert ids(api.get(path, owner)) == [new, old]


def test_pipelines_of_a_hidden_fork(api: Api, make: Make, owner: User) -> None:
    """Attack: learn of statuses in a hidden fork; a deleted fork has none."""
    project = filled_project(make, owner, visibility="public")
    author = make.user()
    copy = fork(make, project, author)
    head = commit(make, copy, "gift", {"gift": "x\n"}, author, start="master")
    sent = {"source_branch": "gift", "target_branch": "master", "title": "A gift", "target_project_id": project.id}
    merge_request = api.post(f"/projects/{copy.id}/merge_requests", author, **sent).json()
    number = report(api, copy, author, head, "success")["pipeline_id"]
    path = url(project, merge_request, "/pipelines")
    assert ids(api.get(path, author)) == ids(api.get(path, owner)) == [number]
    assert api.put(f"/projects/{copy.id}", author, name=copy.name, visibility="private").status_code == 200
    assert ids(api.get(path, author)) == [number]
    assert ids(api.get(path, owner)) == []
    assert api.get(url(project, merge_request), owner).json()["head_pipeline"] is None
    merged_by_owner = api.put(url(project, merge_request, "/merge"), owner)
    assert merged_by_owner.status_code == 200
    assert api.delete(f"/projects/{copy.id}", author).status_code in (200, 202)
    assert ids(api.get(path, author)) == []
