"""Merging when the pipeline succeeds: set, cancelled, done by the job, and canceled by new commits."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.api.merging.merge_calls import listed_status, merged, refused, tip, url
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    """Return the owner of the project."""
    return make.user()


@pytest.fixture(scope="module")
def project(make: Make, owner: User) -> Project:
    """Return a project with a first commit."""
    return filled_project(make, owner)


def report(api: Api, project: Project, merge_request: dict[str, Any], who: User, state: str, **sent: Any) -> None:
    """Report a commit status for the head."""
    sha = merge_request["sha"]
    answer = api.post(
        f"/projects/{project.id}/statuses/{sha}", who, state=state, ref=merge_request["source_branch"], **sent
    )
    assert answer.status_code == 201, answer.text


def waiting(
    api: Api, make: Make, project: Project, who: User, author: User | None = None, **sent: Any
) -> dict[str, Any]:
    """Return a merge request that waits for its pipeline."""
    merge_request = make_merge_request(make, project, author or who)
    report(api, project, merge_request, who, "running")
    answer = api.put(url(project, merge_request, "/merge"), who, merge_when_pipeline_succeeds=True, **sent)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    assert (shown["state"], shown["merge_when_pipeline_succeeds"]) == ("opened", True)
    assert shown["merge_user"]["id"] == who.id
    return shown


def seen(api: Api, project: Project, merge_request: dict[str, Any], who: User) -> tuple[str, bool]:
    """Return its state, and whether the merge is still scheduled."""
    shown = api.get(url(project, merge_request), who).json()
    return shown["state"], shown["merge_when_pipeline_succeeds"]


def test_it_is_merged_when_the_pipeline_has_succeeded(
    api: Api, make: Make, instance: Instance, project: Project, owner: User
) -> None:
    """The job merges in the name of the user who scheduled the merge, with their options."""
    message = "When it was ready"
    merge_request = waiting(api, make, project, owner, merge_commit_message=message, should_remove_source_branch=True)
    assert merge_request["should_remove_source_branch"] is True
    assert merge_request["head_pipeline"]["status"] == "running"
    instance.work()
    assert seen(api, project, merge_request, owner) == ("opened", True)

    report(api, project, merge_request, owner, "success")
    instance.work()

    shown = api.get(url(project, merge_request), owner).json()
    assert (shown["state"], shown["merged_by"]["id"]) == ("merged", owner.id)
    made = tip(api, project, owner)
    assert (made["id"], made["message"]) == (shown["merge_commit_sha"], message)
    branch = f"/projects/{project.id}/repository/branches/{merge_request['source_branch']}"
    assert api.get(branch, owner).status_code == 404


def test_several_statuses_make_one_success(
    api: Api, make: Make, instance: Instance, project: Project, owner: User
) -> None:
    merge_request = make_merge_request(make, project, owner)
    for name in ("lint", "test"):
        report(api, project, merge_request, owner, "pending", name=name)
    answer = api.put(url(project, merge_request, "/merge"), owner, auto_merge=True)
    assert answer.json()["merge_when_pipeline_succeeds"] is True
    report(api, project, merge_request, owner, "success", name="lint")
    instance.work()
    assert seen(api, project, merge_request, owner) == ("opened", True)
    report(api, project, merge_request, owner, "success", name="test")
    instance.work()
    assert seen(api, project, merge_request, owner) == ("merged", False)


def test_merge_is_immediate_without_an_active_pipeline(api: Api, make: Make, project: Project, owner: User) -> None:
    """Without a pipeline or with a finished one."""
    merged(api, project, make_merge_request(make, project, owner), owner, merge_when_pipeline_succeeds=True)
    ready = make_merge_request(make, project, owner)
    report(api, project, ready, owner, "success")
    merged(api, project, ready, owner, merge_when_pipeline_succeeds=True)


def test_cancel(api: Api, make: Make, instance: Instance, owner: User) -> None:
    """By PUT as documented and by POST as clients send it; with specific errors for merged and unscheduled ones."""
    project = filled_project(make, owner)
    author, reporter = make.user(), make.user()
    add_members(make, project, {author: Level.DEVELOPER, reporter: Level.REPORTER})
    merge_request = waiting(api, make, project, owner, author)
    path = f"/projects/{project.id}/merge_requests/{merge_request['iid']}/cancel_merge_when_pipeline_succeeds"
    denied = api.put(path, reporter)
    assert (denied.status_code, denied.json()["message"]) == (401, "401 Unauthorized")
    assert api.post(path, reporter).status_code == 401

    cancelled = api.put(path, owner)
    assert (cancelled.status_code, cancelled.json()["merge_when_pipeline_succeeds"]) == (200, False)
    assert cancelled.json()["state"] == "opened"
    assert cancelled.json()["merge_user"] is None
    refused(api.put(path, owner), 406, "not_set")
    report(api, project, merge_request, owner, "success")
    instance.work()
    assert seen(api, project, merge_request, owner) == ("opened", False)

    second = waiting(api, make, project, owner, author)
    by_post = api.post(
        f"/projects/{project.id}/merge_requests/{second['iid']}/cancel_merge_when_pipeline_succeeds", author
    )
    assert by_post.status_code == 201, "who wrote it may cancel it too"
    assert by_post.json() == {"status": "success"}
    assert seen(api, project, second, owner) == ("opened", False)
    refused(api.post(url(project, second, "/cancel_merge_when_pipeline_succeeds"), author), 406, "not_set")
    merged(api, project, second, owner)
    refused(api.put(url(project, second, "/cancel_merge_when_pipeline_succeeds"), owner), 405, "not_open")


def test_new_commits_cancel_the_merge(api: Api, make: Make, instance: Instance, project: Project, owner: User) -> None:
    """The result of the pipeline of the old head does not matter."""
    merge_request = waiting(api, make, project, owner)
    newer = commit(make, project, merge_request["source_branch"], {make.name("file"): "x"}, owner)
    assert seen(api, project, merge_request, owner) == ("opened", False)
    report(api, project, merge_request, owner, "success")
    report(api, project, {**merge_request, "sha": newer}, owner, "success")
    instance.work()
    assert seen(api, project, merge_request, owner) == ("opened", False)


@pytest.mark.parametrize("state", ["failed", "canceled"])
def test_schedule_survives_a_failed_pipeline(
    api: Api, make: Make, instance: Instance, project: Project, owner: User, state: str
) -> None:
    """A retry that succeeds merges, as in GitLab; canceling and new commits still end the schedule."""
    merge_request, canceled = waiting(api, make, project, owner), waiting(api, make, project, owner)
    for each in (merge_request, canceled):
        report(api, project, each, owner, state)
    instance.work()
    shown = api.get(url(project, merge_request), owner).json()
    assert (shown["state"], shown["merge_when_pipeline_succeeds"], shown["merge_error"]) == ("opened", True, None)
    assert shown["merge_user"]["id"] == owner.id
    path = url(project, canceled, "/cancel_merge_when_pipeline_succeeds")
    assert api.put(path, owner).json()["merge_when_pipeline_succeeds"] is False
    for each in (merge_request, canceled):
        report(api, project, each, owner, "running")
        report(api, project, each, owner, "success")
    instance.work()
    assert seen(api, project, merge_request, owner) == ("merged", False)
    assert seen(api, project, canceled, owner) == ("opened", False)


def test_an_unmergeable_merge_request_is_not_retried(api: Api, make: Make, instance: Instance, owner: User) -> None:
    """The reason is shown."""
    project = filled_project(make, owner)
    clash, lost = waiting(api, make, project, owner), waiting(api, make, project, owner)
    commit(make, project, "master", {f"{clash['source_branch']}.txt": "otherwise\n"}, owner)
    master = make.user()
    add_members(make, project, {master: Level.MASTER})
    left = waiting(api, make, project, master, owner)
    assert api.delete(f"/projects/{project.id}/members/{master.id}", owner).status_code in (200, 204)
    for merge_request in (clash, left):
        report(api, project, merge_request, owner, "success")
    instance.work()
    for merge_request in (clash, left):
        shown = api.get(url(project, merge_request), owner).json()
        assert (shown["state"], shown["merge_when_pipeline_succeeds"]) == ("opened", False)
        assert shown["merge_error"]
    assert seen(api, project, lost, owner) == ("opened", True)


def test_projects_may_require_a_successful_pipeline(api: Api, make: Make, instance: Instance, owner: User) -> None:
    """Merging without one is rejected; scheduling a merge is allowed."""
    project = filled_project(make, owner)
    sent = {"name": project.name, "only_allow_merge_if_pipeline_succeeds": True}
    assert api.put(f"/projects/{project.id}", owner, **sent).status_code == 200
    merged(api, project, make_merge_request(make, project, owner), owner)  # There is no pipeline that could fail.
    merge_request = make_merge_request(make, project, owner)
    for state, code in (("running", "ci_still_running"), ("failed", "ci_must_pass")):
        report(api, project, merge_request, owner, state)
        refused(api.put(url(project, merge_request, "/merge"), owner), 405, code)
        assert api.get(url(project, merge_request), owner).json()["detailed_merge_status"] == code
        assert listed_status(api, project, merge_request, owner) == code
    refused(
        api.put(url(project, merge_request, "/merge"), owner, merge_when_pipeline_succeeds=True), 405, "ci_must_pass"
    )
    report(api, project, merge_request, owner, "running")
    answer = api.put(url(project, merge_request, "/merge"), owner, merge_when_pipeline_succeeds=True)
    assert answer.status_code == 200
    report(api, project, merge_request, owner, "success")
    assert listed_status(api, project, merge_request, owner) in ("mergeable", "not_open")
    instance.work()
    assert seen(api, project, merge_request, owner) == ("merged", False)


def test_scheduling_requires_permission_to_merge(api: Api, make: Make, owner: User) -> None:
    project = filled_project(make, owner)
    developer = make.user()
    add_members(make, project, {developer: Level.DEVELOPER})
    merge_request = make_merge_request(make, project, developer)
    report(api, project, merge_request, owner, "running")
    path = url(project, merge_request, "/merge")
    assert api.put(path, developer, merge_when_pipeline_succeeds=True).status_code == 401
    assert api.put(path, owner, merge_when_pipeline_succeeds=True, sha="0" * 40).status_code == 409
    assert seen(api, project, merge_request, owner) == ("opened", False)
