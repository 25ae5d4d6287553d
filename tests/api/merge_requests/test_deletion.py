"""Merge requests of deleted users, and of moved or deleted projects."""

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group


def test_deleted_user(api: Api, make: Make) -> None:
    owner, author, helper = make.user(), make.user(), make.user()
    project = filled_project(make, owner, members={author: Level.DEVELOPER, helper: Level.DEVELOPER})
    made = make_merge_request(make, project, author, assignee_id=helper.id, reviewer_ids=[helper.id])
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    discussion = api.post(f"{url}/discussions", helper, body="Why?").json()
    api.put(f"{url}/discussions/{discussion['id']}", helper, resolved=True)
    api.post(f"{url}/approve", helper)
    for person in (helper, author):
        assert api.delete(f"/users/{person.id}", make.root).status_code < 300
    shown = api.get(url, owner).json()
    assert (shown["assignees"], shown["reviewers"], shown["author"]["username"]) == ([], [], "ghost")
    note = api.get(f"{url}/discussions/{discussion['id']}", owner).json()["notes"][0]
    assert (note["resolved"], note["resolved_by"], note["author"]["username"]) == (True, None, "ghost")
    assert api.get(f"{url}/approvals", owner).json()["approved_by"] == []


def test_deleted_user_with_contributions(api: Api, make: Make) -> None:
    owner, author = make.user(), make.user()
    project = filled_project(make, owner, members={author: Level.DEVELOPER})
    kept, gone = make_merge_request(make, project, owner), make_merge_request(make, project, author, labels="bug")
    api.post(f"/projects/{project.id}/merge_requests/{kept['iid']}/notes", author, body="Hm")
    assert api.delete(f"/users/{author.id}?hard_delete=true", make.root).status_code < 300
    assert api.get(f"/projects/{project.id}/merge_requests/{gone['iid']}", owner).status_code == 404
    assert api.get(f"/projects/{project.id}/merge_requests", owner).headers["x-total"] == "1"
    assert api.get(f"/projects/{project.id}/merge_requests/{kept['iid']}", owner).json()["user_notes_count"] == 0


def test_moved_and_deleted_projects(api: Api, instance: Instance, make: Make) -> None:
    owner = make.user()
    here, there = make_group(make, owner), make_group(make, owner)
    project = filled_project(make, owner, group=here)
    milestone = api.post(f"/groups/{here.id}/milestones", owner, title="Of the group").json()
    api.post(f"/groups/{here.id}/labels", owner, name="of the group", color="#ff0000")
    made = make_merge_request(make, project, owner, milestone_id=milestone["id"], labels="of the group")
    assert api.put(f"/projects/{project.id}/transfer", owner, namespace=there.id).status_code == 200
    shown = api.get(f"/projects/{project.id}/merge_requests/{made['iid']}", owner).json()
    assert (shown["milestone"]["title"], shown["labels"]) == ("Of the group", ["of the group"])
    assert shown["milestone"]["id"] != milestone["id"], "The project gets a copy of the milestone."
    assert api.delete(f"/projects/{project.id}", owner).status_code < 300
    assert api.get("/merge_requests", owner).json() == []
    instance.work()
