"""Merging: resulting commits, responses and errors."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from ingot.git.history.commits import commit_or_none
from tests.api.merge_requests.factories import commit, filled_project, fork, make_merge_request
from tests.api.merging.merge_calls import conflicting, make_branch_merge_request, merged, refused, tip, url
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members
from tests.git_history import repository_of, run
from tests.statements import recorded_statements


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    """Return the owner of the project."""
    return make.user()


@pytest.fixture(scope="module")
def project(make: Make, owner: User) -> Project:
    """Return a project with a first commit."""
    return filled_project(make, owner)


def test_a_new_merge_request_can_be_merged_at_once(api: Api, make: Make, project: Project, owner: User) -> None:
    """The response is sent when the branch contains the merge."""
    before = tip(api, project, owner)["id"]
    merge_request = make_merge_request(make, project, owner)
    assert merge_request["merge_status"] == "unchecked"

    answer = api.put(f"/projects/{project.id}/merge_requests/{merge_request['iid']}/merge", owner)

    assert answer.status_code == 200, answer.text
    shown = answer.json()
    made = tip(api, project, owner)
    assert (shown["state"], shown["merge_commit_sha"], shown["merge_status"]) == (
        "merged",
        made["id"],
        "can_be_merged",
    )
    assert made["parent_ids"] == [before, merge_request["sha"]]
    assert made["title"] == f"Merge branch '{merge_request['source_branch']}' into 'master'"
    assert made["message"].endswith(f"See merge request {project.path}!{merge_request['iid']}")
    assert merge_request["title"] in made["message"]
    assert (made["author_email"], made["committer_email"]) == (owner.email, owner.email)
    assert shown["merged_by"]["id"] == owner.id
    assert shown["merged_at"] is not None
    assert shown["merge_user"]["id"] == owner.id
    assert shown["detailed_merge_status"] == "not_open"
    files = api.get(f"/projects/{project.id}/repository/tree", owner, per_page=100).json()
    assert f"{merge_request['source_branch']}.txt" in [file["name"] for file in files]


def test_a_merge_looks_up_its_project_at_most_twice(api: Api, make: Make, project: Project, owner: User) -> None:
    """Once for the path and once under the lock; a third row is read where the push is recorded."""
    merge_request = make_merge_request(make, project, owner)
    with recorded_statements(make.database) as statements:
        merged(api, project, merge_request, owner)
    rows = [text for text in statements if text.startswith("SELECT projects.id, projects.namespace_id")]
    with_access = [text for text in rows if "memberships" in text]
    assert len(with_access) <= 2
    assert len(rows) <= 3


def test_a_merge_fetches_the_head_of_a_fork_that_the_target_lacks(instance: Instance, make: Make, owner: User) -> None:
    """The subscriber of the push may not have fetched it yet."""
    project = filled_project(make, owner, visibility="public")
    forker = make.user()
    theirs = fork(make, project, forker)
    merge_request = make_merge_request(make, theirs, forker, target_project_id=project.id)
    target = repository_of(instance, project)
    refs = run(target.path, "for-each-ref", "--format=%(refname)", "refs/keep", "refs/merge-requests").split()
    for ref in refs:
        run(target.path, "update-ref", "-d", ref)
    run(target.path, "reflog", "expire", "--expire=now", "--all")
    run(target.path, "repack", "-q", "-a", "-d")
    run(target.path, "prune", "--expire=now")
    assert commit_or_none(target, merge_request["sha"]) is None

    assert merged(make.api, project, merge_request, owner)["sha"] == merge_request["sha"]


def test_mergeability_follows_the_commits(api: Api, make: Make, owner: User) -> None:
    """Computed when one merge request is read, shown in lists while valid, and computed again when a branch moves."""
    project = filled_project(make, owner)
    merge_request = make_merge_request(make, project, owner)
    path, listed = url(project, merge_request), f"/projects/{project.id}/merge_requests"
    assert api.get(listed, owner).json()[0]["merge_status"] == "unchecked"

    one = api.get(path, owner).json()
    assert (one["merge_status"], one["has_conflicts"], one["detailed_merge_status"]) == (
        "can_be_merged",
        False,
        "mergeable",
    )
    assert api.get(listed, owner).json()[0]["merge_status"] == "can_be_merged"

    file = f"{merge_request['source_branch']}.txt"
    commit(make, project, "master", {file: "something else\n"}, owner)
    assert api.get(listed, owner).json()[0]["merge_status"] == "unchecked"
    one = api.get(path, owner).json()
    assert (one["merge_status"], one["has_conflicts"], one["detailed_merge_status"]) == (
        "cannot_be_merged",
        True,
        "conflict",
    )
    assert api.get(listed, owner).json()[0]["merge_status"] == "cannot_be_merged"

    commit(make, project, merge_request["source_branch"], {file: "something else\n"}, owner, action="update")
    assert api.get(path, owner).json()["merge_status"] == "can_be_merged"


def test_mergeability_check_writes_no_objects(api: Api, make: Make, instance: Instance, owner: User) -> None:
    """It adds no object to the repository, and changes only the merge status."""
    project = filled_project(make, owner)
    merge_request = make_merge_request(make, project, owner)
    repository = repository_of(instance, project).path
    before = run(repository, "count-objects", "-v")
    shown = api.get(url(project, merge_request), owner).json()
    assert run(repository, "count-objects", "-v") == before
    assert shown["updated_at"] == merge_request["updated_at"]


def test_conflicts_get_405(api: Api, make: Make, owner: User) -> None:
    project = filled_project(make, owner)
    merge_request = conflicting(make, project, owner)
    before = tip(api, project, owner)["id"]
    answer = api.put(url(project, merge_request, "/merge"), owner)
    assert refused(answer, 405, "conflict") == "Branch cannot be merged"
    assert tip(api, project, owner)["id"] == before
    assert api.get(url(project, merge_request), owner).json()["state"] == "opened"


def test_nothing_to_merge_gets_405(api: Api, make: Make, project: Project, owner: User) -> None:
    """A branch without new commits, and one whose target is deleted."""
    branch, target = make.name("same"), make.name("target")
    for name in (branch, target):
        answer = api.post(f"/projects/{project.id}/repository/branches", owner, branch=name, ref="master")
        assert answer.status_code == 201
    empty = make_branch_merge_request(make, project, branch, owner)
    assert refused(api.put(url(project, empty, "/merge"), owner), 405, "commits_status")
    lost = make_merge_request(make, project, owner, target_branch=target)
    assert api.delete(f"/projects/{project.id}/repository/branches/{target}", owner).status_code == 200
    said = refused(api.put(url(project, lost, "/merge"), owner), 405, "commits_status")
    assert said.startswith("Branch cannot be merged")
    for merge_request in (empty, lost):
        shown = api.get(url(project, merge_request), owner).json()
        found = shown["merge_status"], shown["detailed_merge_status"], shown["has_conflicts"]
        assert found == ("cannot_be_merged", "commits_status", False)


@pytest.mark.parametrize("lost", ["branch", "branch of a fork", "fork"])
def test_a_deleted_source_branch_cannot_be_merged(api: Api, make: Make, owner: User, lost: str) -> None:
    """Its commits are kept for reading only."""
    project = filled_project(make, owner, visibility="public")
    author = owner if lost == "branch" else make.user()
    source = project if lost == "branch" else fork(make, project, author)
    merge_request = make_merge_request(make, source, author, target_project_id=project.id)
    assert api.get(url(project, merge_request), owner).json()["merge_status"] == "can_be_merged"
    before = tip(api, project, owner)["id"]
    gone = source.url if lost == "fork" else f"{source.url}/repository/branches/{merge_request['source_branch']}"
    assert api.delete(gone, author).status_code in (200, 202)

    shown = api.get(url(project, merge_request), owner).json()
    assert (shown["state"], shown["merge_status"]) == ("opened", "cannot_be_merged")
    assert (shown["detailed_merge_status"], shown["has_conflicts"]) == ("commits_status", False)
    for sent in ({}, {"merge_when_pipeline_succeeds": True}):
        assert refused(api.put(url(project, merge_request, "/merge"), owner, **sent), 405, "commits_status")
    edited = api.put(url(project, merge_request), owner, title="Otherwise").json()
    assert edited["merge_status"] == "cannot_be_merged"
    assert tip(api, project, owner)["id"] == before
    if lost == "branch":
        again = {"branch": merge_request["source_branch"], "ref": merge_request["sha"]}
        assert api.post(f"{project.url}/repository/branches", owner, **again).status_code == 201
        merged(api, project, merge_request, owner)


def test_another_head_gets_409(api: Api, make: Make, project: Project, owner: User) -> None:
    """When the sha parameter differs from the head; the message begins as documented."""
    merge_request = make_merge_request(make, project, owner)
    answer = api.put(url(project, merge_request, "/merge"), owner, sha="1" * 40)
    assert answer.status_code == 409
    assert answer.json()["message"].startswith("SHA does not match HEAD of source branch")
    newer = commit(make, project, merge_request["source_branch"], {make.name("file"): "x"}, owner)
    assert api.put(url(project, merge_request, "/merge"), owner, sha=merge_request["sha"]).status_code == 409
    shown = merged(api, project, merge_request, owner, sha=newer.upper())
    assert newer in tip(api, project, owner)["parent_ids"]
    assert shown["sha"] == newer


def test_denied_merges_get_401(api: Api, make: Make, owner: User) -> None:
    """The target is protected: masters merge, and developers if the rule allows it."""
    project = filled_project(make, owner)
    master, developer, reporter, guest, stranger = (make.user() for _ in range(5))
    levels = {
        master: Level.MASTER,
        developer: Level.DEVELOPER,
        reporter: Level.REPORTER,
        guest: Level.GUEST,
    }
    add_members(make, project, levels)
    merge_request = make_merge_request(make, project, developer)
    path = url(project, merge_request, "/merge")
    for person in (developer, reporter, guest):
        answer = api.put(path, person)
        assert (answer.status_code, answer.json()["message"]) == (401, "401 Unauthorized")
    assert api.put(path, stranger).status_code == 404
    assert api.put(path).status_code == 401
    protect = f"/projects/{project.id}/repository/branches/master/protect"
    assert api.put(protect, owner, developers_can_merge=True).status_code == 200
    assert api.get(url(project, merge_request), developer).json()["user"] == {"can_merge": True}
    assert api.get(url(project, merge_request), reporter).json()["user"] == {"can_merge": False}
    merged(api, project, merge_request, developer)
    # The rule allows merging only.
    sent = {"branch": "master", "commit_message": "x", "actions": [{"action": "create", "file_path": "x"}]}
    sent["actions"][0]["content"] = "x"  # type: ignore[index] # It is a list.
    assert api.post(f"/projects/{project.id}/repository/commits", developer, **sent).status_code == 403
    other = make_merge_request(make, project, developer)
    merged(api, project, other, master)


def test_merge_into_unprotected_branches(api: Api, make: Make, owner: User) -> None:
    """Requires permission to push; protection rules may contain slashes and wildcards."""
    project = filled_project(make, owner)
    developer = make.user()
    add_members(make, project, {developer: Level.DEVELOPER})
    branches = f"/projects/{project.id}/repository/branches"
    for name in ("open", "a/b"):
        assert api.post(branches, owner, branch=name, ref="master").status_code == 201
    rule = api.post(f"/projects/{project.id}/protected_branches", owner, name="a/*", merge_access_level=40)
    assert rule.status_code == 201, rule.text
    merged(api, project, make_merge_request(make, project, developer, target_branch="open"), developer)
    closed = make_merge_request(make, project, developer, target_branch="a/b")
    assert api.put(url(project, closed, "/merge"), developer).status_code == 401
    merged(api, project, closed, owner)


def test_custom_commit_messages(api: Api, make: Make, project: Project, owner: User) -> None:
    """A message is used unchanged; without one the default is used."""
    message = "Zusammengeführt 🎉\n\n-m --amend"
    merged(api, project, make_merge_request(make, project, owner), owner, merge_commit_message=message)
    assert tip(api, project, owner)["message"] == message
    merged(api, project, make_merge_request(make, project, owner), owner, merge_commit_message=" ")
    assert tip(api, project, owner)["message"].startswith("Merge branch")


@pytest.mark.parametrize("sent", [{"should_remove_source_branch": "perhaps"}, {"squash": [1]}, {"sha": {"a": 1}}])
def test_wrong_types_get_400(api: Api, make: Make, project: Project, owner: User, sent: dict[str, Any]) -> None:
    merge_request = make_merge_request(make, project, owner)
    assert api.put(url(project, merge_request, "/merge"), owner, **sent).status_code == 400
    assert api.put(f"/projects/{project.id}/merge_requests/999999/merge", owner).status_code == 404


def test_the_target_moves_during_the_merge(api: Api, make: Make, project: Project, owner: User) -> None:
    """Concurrent commits are merged, not lost."""
    merge_request = make_merge_request(make, project, owner)
    api.get(url(project, merge_request), owner)
    other = commit(make, project, "master", {make.name("other"): "x"}, owner)
    merged(api, project, merge_request, owner)
    assert tip(api, project, owner)["parent_ids"] == [other, merge_request["sha"]]


def test_a_source_branch_is_removed(api: Api, make: Make, project: Project, owner: User) -> None:
    """When the merge or the merge request asks for it; the merge takes precedence."""
    branches = f"/projects/{project.id}/repository/branches"
    for before, now, gone in ((None, True, True), (True, None, True), (True, False, False), (None, None, False)):
        merge_request = make_merge_request(make, project, owner, remove_source_branch=before)
        assert merge_request["force_remove_source_branch"] == bool(before)
        sent = {} if now is None else {"should_remove_source_branch": now}
        merged(api, project, merge_request, owner, **sent)
        found = api.get(f"{branches}/{merge_request['source_branch']}", owner).status_code
        assert found == (404 if gone else 200)


def test_protected_source_branches_are_kept(api: Api, make: Make, owner: User) -> None:
    """Protected branches and the default branch are not removed; the merge succeeds."""
    project = filled_project(make, owner)
    assert (
        api.post(f"/projects/{project.id}/repository/branches", owner, branch="stable", ref="master").status_code == 201
    )
    commit(make, project, "master", {"more": "x"}, owner)
    shown = make_branch_merge_request(make, project, "master", owner, target_branch="stable")
    merged(api, project, shown, owner, should_remove_source_branch=True)
    kept = make_merge_request(make, project, owner, branch="kept")
    assert api.put(f"/projects/{project.id}/repository/branches/kept/protect", owner).status_code == 200
    merged(api, project, kept, owner, should_remove_source_branch=True)
    for name in ("master", "kept"):
        assert api.get(f"/projects/{project.id}/repository/branches/{name}", owner).status_code == 200


def test_chained_merge_requests_are_retargeted(api: Api, make: Make, owner: User) -> None:
    """Attack: the target of one merge request is the removed source of another; no commit is lost."""
    project = filled_project(make, owner)
    first = make_merge_request(make, project, owner, branch="first")
    commit(make, project, "second", {"second": "x"}, owner, start="first")
    second = make_branch_merge_request(make, project, "second", owner, target_branch="first")
    merged(api, project, first, owner, should_remove_source_branch=True)
    assert api.get(f"/projects/{project.id}/repository/branches/first", owner).status_code == 404
    shown = api.get(url(project, second), owner).json()
    assert (shown["target_branch"], shown["merge_status"]) == ("master", "can_be_merged")
    assert shown["diff_refs"]["start_sha"] == tip(api, project, owner)["id"]
    changes = api.get(url(project, second, "/changes"), owner).json()["changes"]
    assert [change["new_path"] for change in changes] == ["second"]
    merged(api, project, second, owner)
    files = [file["name"] for file in api.get(f"/projects/{project.id}/repository/tree", owner).json()]
    assert {"first.txt", "second"} <= set(files)


def test_merge_from_a_fork(api: Api, make: Make, owner: User) -> None:
    """The merging user needs no access to the fork; its branch is removed because its author asked for it."""
    project = filled_project(make, owner, visibility="public")
    author = make.user()
    copy = fork(make, project, author)
    commit(make, copy, "gift", {"gift": "x\n"}, author, start="master")
    sent = {"source_branch": "gift", "target_branch": "master", "title": "A gift", "target_project_id": project.id}
    made = api.post(f"/projects/{copy.id}/merge_requests", author, **sent, remove_source_branch=True)
    assert made.status_code == 201, made.text
    newer = commit(make, copy, "gift", {"more": "x\n"}, author)
    assert api.put(url(project, made.json(), "/merge"), author).status_code == 401
    shown = merged(api, project, made.json(), owner)
    assert shown["sha"] == newer
    assert newer in tip(api, project, owner)["parent_ids"]
    assert api.get(f"/projects/{copy.id}/repository/branches/gift", author).status_code == 404
