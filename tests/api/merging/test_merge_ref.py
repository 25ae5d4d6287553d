"""Merge refs: the result of a merge as a ref."""

from pathlib import Path

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.api.merging.merge_calls import conflicting, merged, tip, url
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import add_members
from tests.git.conftest import git


def test_merge_ref_shows_the_merge_result(api: Api, make: Make, instance: Instance, tmp_path: Path) -> None:
    """It can be fetched, moves no branch, and is updated when either side moves."""
    owner = make.user()
    project = filled_project(make, owner)
    merge_request = make_merge_request(make, project, owner)
    before = tip(api, project, owner)["id"]

    answer = api.get(f"/projects/{project.id}/merge_requests/{merge_request['iid']}/merge_ref", owner)

    assert answer.status_code == 200, answer.text
    made = answer.json()["commit_id"]
    shown = api.get(f"/projects/{project.id}/repository/commits/{made}", owner).json()
    assert shown["parent_ids"] == [before, merge_request["sha"]]
    assert tip(api, project, owner)["id"] == before
    assert api.get(url(project, merge_request, "/merge_ref"), owner).json()["commit_id"] == made
    git(tmp_path, "init", "-q", "-b", "master")
    address = instance.url.replace("http://", f"http://{owner.username}:{owner.token}@") + f"/{project.path}.git"
    ref = f"refs/merge-requests/{merge_request['iid']}/merge"
    git(tmp_path, "fetch", "-q", address, ref)
    assert git(tmp_path, "rev-parse", "FETCH_HEAD") == made
    git(tmp_path, "push", address, f"FETCH_HEAD:{ref}", fails=True)
    newer = commit(make, project, "master", {"more": "x"}, owner)
    again = api.get(url(project, merge_request, "/merge_ref"), owner).json()["commit_id"]
    shown = api.get(f"/projects/{project.id}/repository/commits/{again}", owner).json()
    assert shown["parent_ids"] == [newer, merge_request["sha"]]
    merged(api, project, merge_request, owner)


def test_merge_ref_of_an_unmergeable_merge_request(api: Api, make: Make) -> None:
    """There is no ref, and users without access get 404."""
    owner, reporter, stranger = make.user(), make.user(), make.user()
    project = filled_project(make, owner)
    add_members(make, project, {reporter: Level.REPORTER})
    path = url(project, conflicting(make, project, owner), "/merge_ref")
    for person, status in ((owner, 400), (reporter, 400), (stranger, 404), (None, 401)):
        assert api.get(path, person).status_code == status
    over = make_merge_request(make, project, owner)
    merged(api, project, over, owner)
    assert api.get(url(project, over, "/merge_ref"), owner).status_code == 400
