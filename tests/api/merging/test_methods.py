"""Merge methods: merge commit, fast-forward, squash."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project, fork, make_merge_request
from tests.api.merging.merge_calls import (
    conflicting,
    listed_status,
    make_branch_merge_request,
    merged,
    refused,
    tip,
    url,
)
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members
from tests.git_history import repository_of, run


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    """Return the owner of the projects."""
    return make.user()


def project_with_method(make: Make, owner: User, **settings: Any) -> Project:
    """Return a project with a merge method."""
    project = filled_project(make, owner)
    changed = make.api.put(f"/projects/{project.id}", owner, name=project.name, **settings)
    assert changed.status_code == 200, changed.text
    return project


def two_commits(make: Make, project: Project, owner: User, **sent: Any) -> tuple[dict[str, Any], str]:
    """Return a merge request of two commits, and its head."""
    branch = make.name("two")
    commit(make, project, branch, {f"{branch}-1": "1\n"}, owner, start="master")
    head = commit(make, project, branch, {f"{branch}-2": "2\n"}, owner)
    return make_branch_merge_request(make, project, branch, owner, **sent), head


def test_fast_forward(api: Api, make: Make, owner: User) -> None:
    """The target moves to the head; a diverged branch must be rebased first."""
    project = project_with_method(make, owner, merge_method="ff")
    first, second = make_merge_request(make, project, owner), make_merge_request(make, project, owner)
    shown = merged(api, project, first, owner)
    assert tip(api, project, owner)["id"] == first["sha"] == shown["merge_commit_sha"]

    one = api.get(url(project, second), owner).json()
    assert (one["merge_status"], one["detailed_merge_status"]) == ("can_be_merged", "need_rebase")
    assert listed_status(api, project, second, owner) == "need_rebase"
    assert refused(api.put(url(project, second, "/merge"), owner), 405, "need_rebase").startswith(
        "Branch cannot be merged"
    )
    rebased = api.put(f"/projects/{project.id}/merge_requests/{second['iid']}/rebase", owner)
    assert (rebased.status_code, rebased.json()) == (202, {"rebase_in_progress": True})
    one = api.get(url(project, second), owner).json()
    assert one["sha"] != second["sha"]
    assert one["detailed_merge_status"] == listed_status(api, project, second, owner) == "mergeable"
    merged(api, project, second, owner, sha=one["sha"])
    assert tip(api, project, owner)["id"] == one["sha"]
    assert tip(api, project, owner)["parent_ids"] == [first["sha"]]


def test_rebase_with_merge_commits(api: Api, make: Make, owner: User) -> None:
    """A rebased branch is merged with a merge commit."""
    project = project_with_method(make, owner, merge_method="rebase_merge")
    first, second = make_merge_request(make, project, owner), make_merge_request(make, project, owner)
    merged(api, project, first, owner)
    before = tip(api, project, owner)["id"]
    refused(api.put(url(project, second, "/merge"), owner), 405, "need_rebase")
    assert api.put(url(project, second, "/rebase"), owner).status_code == 202
    shown = merged(api, project, second, owner)
    made = tip(api, project, owner)
    assert (made["id"], made["parent_ids"]) == (shown["merge_commit_sha"], [before, shown["sha"]])


def test_squash(api: Api, make: Make, instance: Instance, owner: User) -> None:
    """The squashed commit keeps changes and author, below the merge commit."""
    project = filled_project(make, owner)
    merge_request, head = two_commits(make, project, owner, squash=True)
    before = tip(api, project, owner)["id"]
    master = make.user()
    add_members(make, project, {master: Level.MASTER})

    shown = merged(api, project, merge_request, master)

    made = tip(api, project, owner)
    assert made["parent_ids"] == [before, shown["squash_commit_sha"]]
    single = api.get(f"/projects/{project.id}/repository/commits/{shown['squash_commit_sha']}", owner).json()
    assert (single["parent_ids"], single["message"]) == ([before], merge_request["title"])
    assert (single["author_email"], single["committer_email"]) == (owner.email, master.email)
    repository = repository_of(instance, project).path
    assert run(repository, "diff", "--name-only", head, made["id"]) == ""
    assert head not in run(repository, "rev-list", "master").split()


def test_precedence_of_squash_options(api: Api, make: Make, owner: User) -> None:
    """The merge takes precedence over the merge request, and the project over both; a single commit is not squashed."""
    project = filled_project(make, owner)
    merge_request, head = two_commits(make, project, owner, squash=True)
    shown = merged(api, project, merge_request, owner, squash=False)
    assert (shown["squash_commit_sha"], tip(api, project, owner)["parent_ids"][1]) == (None, head)
    merge_request, _ = two_commits(make, project, owner)
    assert merged(api, project, merge_request, owner, squash=True)["squash_commit_sha"] is not None
    alone = make_merge_request(make, project, owner, squash=True)
    assert merged(api, project, alone, owner)["squash_commit_sha"] is None
    alone = make_merge_request(make, project, owner, squash=True)
    shown = merged(api, project, alone, owner, squash_commit_message="In other words")
    squashed = api.get(f"/projects/{project.id}/repository/commits/{shown['squash_commit_sha']}", owner).json()
    assert squashed["message"] == "In other words"
    for option, sent, expected in (("always", False, True), ("never", True, False)):
        strict = project_with_method(make, owner, squash_option=option)
        merge_request, _ = two_commits(make, strict, owner)
        shown = merged(api, strict, merge_request, owner, squash=sent)
        assert (shown["squash_commit_sha"] is not None) == expected


def test_squash_with_fast_forward(api: Api, make: Make, owner: User) -> None:
    project = project_with_method(make, owner, merge_method="ff")
    merge_request, _ = two_commits(make, project, owner, squash=True)
    before = tip(api, project, owner)["id"]
    shown = merged(api, project, merge_request, owner)
    made = tip(api, project, owner)
    assert made["id"] == shown["squash_commit_sha"] == shown["merge_commit_sha"]
    assert (made["parent_ids"], made["message"]) == ([before], merge_request["title"])


def test_rebase_with_conflicts(api: Api, make: Make, owner: User) -> None:
    """The response and later reads report the error; no ref moves."""
    project = filled_project(make, owner)
    merge_request = conflicting(make, project, owner)
    answer = api.put(url(project, merge_request, "/rebase"), owner)
    assert answer.status_code == 409
    assert answer.json()["message"].startswith("Rebase failed")
    shown = api.get(url(project, merge_request), owner, include_rebase_in_progress=True).json()
    assert shown["merge_error"] == answer.json()["message"]
    assert shown["sha"] == merge_request["sha"]


def test_permission_to_rebase(api: Api, make: Make, owner: User) -> None:
    """Requires push access to the source branch; a protection rule prevents the forced push."""
    project = filled_project(make, owner)
    developer, reporter, stranger = make.user(), make.user(), make.user()
    add_members(make, project, {developer: Level.DEVELOPER, reporter: Level.REPORTER})
    merge_request = make_merge_request(make, project, developer)
    commit(make, project, "master", {"more": "x"}, owner)
    path = url(project, merge_request, "/rebase")
    assert api.put(path, reporter).status_code == 403
    assert api.put(path, stranger).status_code == 404
    assert api.put(path).status_code == 401
    branch = f"/projects/{project.id}/repository/branches/{merge_request['source_branch']}"
    assert api.put(f"{branch}/protect", owner).status_code == 200
    for person in (developer, owner):
        assert api.put(path, person).status_code == 403
    assert api.put(f"{branch}/unprotect", owner).status_code == 200
    assert api.put(path, developer).status_code == 202
    assert api.put(path, developer).status_code == 202, "a second time there is nothing to do"
    merged(api, project, merge_request, owner)
    assert api.put(path, owner).status_code == 403


def test_rebase_of_a_fork(api: Api, make: Make, owner: User) -> None:
    """Commits of the target are copied to the fork; masters of the target have no access to the fork."""
    project = filled_project(make, owner, visibility="public")
    author = make.user()
    copy = fork(make, project, author)
    commit(make, copy, "gift", {"gift": "x\n"}, author, start="master")
    sent = {"source_branch": "gift", "target_branch": "master", "title": "A gift", "target_project_id": project.id}
    merge_request = api.post(f"/projects/{copy.id}/merge_requests", author, **sent).json()
    newest = commit(make, project, "master", {"more": "x"}, owner)
    assert api.put(url(project, merge_request, "/rebase"), owner).status_code == 403
    assert api.put(url(project, merge_request, "/rebase"), author).status_code == 202
    shown = api.get(url(project, merge_request), author).json()
    rebased = tip(api, copy, author, "gift")
    assert (shown["sha"], rebased["parent_ids"]) == (rebased["id"], [newest])
    merged(api, project, merge_request, owner)
