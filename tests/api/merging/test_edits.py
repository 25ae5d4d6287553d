"""Merges and edits of merge requests, and issues closed by a merge."""

import pytest

from ingot.collaboration.merge_requests.merge.source_removal import remove_leftover_branch
from ingot.core.access.levels import Level
from ingot.projects.projects.api import repository_store
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.api.merging.merge_calls import merged, refused, tip, url
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members, make_project


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    """Return the owner of the project."""
    return make.user()


@pytest.fixture(scope="module")
def project(make: Make, owner: User) -> Project:
    """Return a project with a first commit."""
    return filled_project(make, owner)


def test_edits_of_merged_ones_get_406(api: Api, make: Make, project: Project, owner: User) -> None:
    merge_request = make_merge_request(make, project, owner)
    merged(api, project, merge_request, owner)
    assert refused(api.put(url(project, merge_request, "/merge"), owner), 406, "not_open") == "406 Not Acceptable"
    closed = make_merge_request(make, project, owner)
    assert api.put(url(project, closed), owner, state_event="close").status_code == 200
    refused(api.put(url(project, closed, "/merge"), owner), 406, "not_open")


def test_drafts_and_archived_projects(api: Api, make: Make, owner: User) -> None:
    project = filled_project(make, owner)
    draft = make_merge_request(make, project, owner, title="WIP: not yet")
    message = refused(api.put(url(project, draft, "/merge"), owner), 405, "draft_status")
    assert message.startswith("405 Method Not Allowed")
    assert api.get(url(project, draft), owner).json()["detailed_merge_status"] == "draft_status"
    assert api.put(url(project, draft), owner, title="Now").status_code == 200
    assert api.post(f"/projects/{project.id}/archive", owner).status_code == 201
    assert api.put(url(project, draft, "/merge"), owner).status_code == 401
    assert api.post(f"/projects/{project.id}/unarchive", owner).status_code == 201
    merged(api, project, draft, owner)


def test_issues_are_closed(api: Api, make: Make, owner: User) -> None:
    """Mentioned issues are closed by a merge into the default branch only."""
    project = filled_project(make, owner)
    numbers = [api.post(f"/projects/{project.id}/issues", owner, title="x").json()["iid"] for _ in range(3)]
    branches = f"/projects/{project.id}/repository/branches"
    assert api.post(branches, owner, branch="stable", ref="master").status_code == 201
    elsewhere = make_merge_request(make, project, owner, target_branch="stable", description=f"Closes #{numbers[0]}")
    merged(api, project, elsewhere, owner)
    states = [api.get(f"/projects/{project.id}/issues/{number}", owner).json()["state"] for number in numbers]
    assert states == ["opened"] * 3
    here = make_merge_request(make, project, owner, description=f"Closes #{numbers[1]} and fixes #{numbers[2]}")
    merged(api, project, here, owner)
    assert f"Closes #{numbers[1]} and #{numbers[2]}" in tip(api, project, owner)["message"]
    states = [api.get(f"/projects/{project.id}/issues/{number}", owner).json()["state"] for number in numbers]
    assert states == ["opened", "closed", "closed"]
    said = api.get(f"/projects/{project.id}/issues/{numbers[2]}/notes", owner).json()
    assert f"closed via merge request !{here['iid']}" in [note["body"] for note in said]


def test_issues_of_other_projects_are_closed_with_permission(api: Api, make: Make, owner: User) -> None:
    """Only issues that the merging user may close; others stay open without a note."""
    project, far = filled_project(make, owner), make_project(make, owner, visibility="private")
    author = make.user()
    hidden = make_project(make, author, visibility="private")
    add_members(make, project, {author: Level.DEVELOPER})
    for place, person in ((far, owner), (hidden, author)):
        assert api.post(f"/projects/{place.id}/issues", person, title="x").status_code == 201
    # The author of the first mention cannot see the issue; the user who merges the second one cannot.
    make_merge_request(make, project, author, description=f"Closes {far.path}#1")
    merged(api, project, make_merge_request(make, project, author, description=f"Closes {hidden.path}#1"), owner)
    seen = make_merge_request(make, project, owner, description=f"Closes {far.path}#1, {project.path}#99")
    assert api.get(f"/projects/{hidden.id}/issues/1", author).json()["state"] == "opened"
    assert api.get(f"/projects/{far.id}/issues/1", owner).json()["state"] == "opened"
    merged(api, project, seen, owner)
    assert api.get(f"/projects/{far.id}/issues/1", owner).json()["state"] == "closed"
    notes = api.get(f"/projects/{far.id}/issues/1/notes", owner).json()
    assert [note["body"] for note in notes if "closed" in note["body"]] == [
        f"closed via merge request {project.path}!{seen['iid']}"
    ]


def test_projects_may_require_resolved_discussions(api: Api, make: Make, owner: User) -> None:
    """An unresolved discussion prevents the merge; an individual note does not."""
    project = filled_project(make, owner)
    sent = {"name": project.name, "only_allow_merge_if_all_discussions_are_resolved": True}
    assert api.put(f"/projects/{project.id}", owner, **sent).status_code == 200
    merge_request = make_merge_request(make, project, owner)
    assert api.post(url(project, merge_request, "/notes"), owner, body="Nice").status_code == 201
    begun = api.post(url(project, merge_request, "/discussions"), owner, body="Why?")
    assert begun.status_code == 201, begun.text
    refused(api.put(url(project, merge_request, "/merge"), owner), 405, "discussions_not_resolved")
    shown = api.get(url(project, merge_request), owner).json()
    assert shown["detailed_merge_status"] == "discussions_not_resolved"
    settled = api.put(url(project, merge_request, f"/discussions/{begun.json()['id']}"), owner, resolved=True)
    assert settled.status_code == 200, settled.text
    merged(api, project, merge_request, owner)


def test_a_merged_source_branch_is_removed_once(api: Api, make: Make, instance: Instance, owner: User) -> None:
    """The removal is not repeated for a new branch at the same commit."""
    project = filled_project(make, owner)
    merge_request = make_merge_request(make, project, owner)
    merged(api, project, merge_request, owner, should_remove_source_branch=True)
    branches = f"/projects/{project.id}/repository/branches"
    again = {"branch": merge_request["source_branch"], "ref": merge_request["sha"]}
    assert api.post(branches, owner, **again).status_code == 201
    remove_leftover_branch(make.database, repository_store(instance.settings), merge_request["id"])
    assert api.get(f"{branches}/{merge_request['source_branch']}", owner).status_code == 200
