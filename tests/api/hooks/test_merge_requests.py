"""Payloads of merge request events, from every source, field by field."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from ingot.webhooks.delivery.dispatcher import HookDispatcher
from tests.api.hooks.receiver import Receiver
from tests.api.hooks.test_events import COMMIT, NOTE, OLDER, REPOSITORY
from tests.api.issues.factories import make_milestone
from tests.api.merge_requests.factories import commit, filled_project, fork, make_merge_request
from tests.api.merge_requests.stacks import make_stack
from tests.api.merging.merge_calls import make_branch_merge_request, merged
from tests.api.merging.test_auto_merge import report
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, add_members, make_group, make_project
from tests.transport.conftest import Tree, over_http

ATTRIBUTES = {
    "id", "target_branch", "source_branch", "source_project_id", "author_id", "assignee_id", "title", "created_at",
    "updated_at", "st_commits", "st_diffs", "milestone_id", "state", "merge_status", "target_project_id", "iid",
    "description", "source", "target", "last_commit", "work_in_progress",
}  # fmt: skip


class MergeRequestHookProject(NamedTuple):
    """Project whose hook receives merge request and note events only."""

    project: Project
    receiver: Receiver

    def next(self, header: str = "Merge Request Hook") -> Any:
        """Return the next payload, which must be of this kind."""
        got = self.receiver.next()
        assert (got.path, got.headers["x-gitlab-event"]) == (f"/{self.project.id}", header)
        return got.body

    def next_attributes(self, header: str = "Merge Request Hook") -> Any:
        """Return the attributes of the next payload."""
        return self.next(header)["object_attributes"]


@pytest.fixture
def hooked(api: Api, make: Make, receiver: Receiver, dispatcher: HookDispatcher) -> MergeRequestHookProject:
    """Return a project of the administrator."""
    project = filled_project(make)
    flags = {"push_events": False, "merge_requests_events": True, "note_events": True}
    made = api.post(f"{project.url}/hooks", make.root, url=receiver.url(f"/{project.id}"), **flags)
    assert made.status_code == 201, made.text
    return MergeRequestHookProject(project, receiver)


def edit(api: Api, make: Make, hooked: MergeRequestHookProject, merge_request: dict[str, Any], **sent: Any) -> None:
    """Change a merge request."""
    answer = api.put(f"{hooked.project.url}/merge_requests/{merge_request['iid']}", make.root, **sent)
    assert answer.status_code == 200, answer.text


def test_events_from_opening_to_merging(
    api: Api, make: Make, instance: Instance, hooked: MergeRequestHookProject
) -> None:
    """The documented event, with previous and current values."""
    project = hooked.project
    milestone = make_milestone(make, project, title="v1")
    made = make_merge_request(
        make, project, title="WIP: One", description="Text", labels="a", assignee_id=1, milestone_id=milestone["id"]
    )
    opened = hooked.next()
    part = opened["object_attributes"]
    assert opened.keys() >= {"object_kind", "user", "project", "repository", "labels", "assignee", "assignees"}
    assert part.keys() >= ATTRIBUTES | {"url", "action", "assignee"}
    assert (opened["object_kind"], part["action"], part["state"]) == ("merge_request", "open", "opened")
    assert (part["id"], part["iid"], part["title"], part["description"]) == (made["id"], 1, "WIP: One", "Text")
    assert (part["source_branch"], part["target_branch"]) == (made["source_branch"], "master")
    assert part["source_project_id"] == part["target_project_id"] == project.id
    assert part["source"] == part["target"] == opened["project"]
    assert part["source"].keys() >= OLDER
    assert opened["repository"].keys() == REPOSITORY
    assert (part["author_id"], part["assignee_id"], part["milestone_id"]) == (1, 1, milestone["id"])
    assert part["assignee"] == opened["assignee"] == opened["assignees"][0] == opened["user"]
    assert opened["user"].keys() >= {"name", "username", "avatar_url"}
    assert (part["work_in_progress"], part["merge_status"], part["merge_commit_sha"]) == (True, "unchecked", None)
    assert part["url"] == f"{instance.url}/{project.path}/merge_requests/1"
    assert part["created_at"] == made["created_at"][:19] + "Z"
    last = part["last_commit"]
    assert last.keys() >= COMMIT
    assert (last["id"], last["message"], last["author"]["name"]) == (made["sha"], "Change", "Administrator")
    assert last["url"] == f"{instance.url}/{project.path}/commit/{made['sha']}"
    assert [label["title"] for label in opened["labels"]] == ["a"]
    assert opened["changes"] == {}

    other = make.user()
    add_members(make, project, {other: Level.DEVELOPER})
    edit(api, make, hooked, made, title="One", labels="b", assignee_id=other.id)
    updated = hooked.next()
    assert (updated["object_attributes"]["action"], "oldrev" in updated["object_attributes"]) == ("update", False)
    changes = updated["changes"]
    assert changes["title"] == {"previous": "WIP: One", "current": "One"}
    assert [[one["title"] for one in changes["labels"][when]] for when in ("previous", "current")] == [["a"], ["b"]]
    names = [[one["username"] for one in changes["assignees"][when]] for when in ("previous", "current")]
    assert names == [["root"], [other.username]]
    assert updated["object_attributes"]["work_in_progress"] is False

    for event in ("close", "reopen"):
        edit(api, make, hooked, made, state_event=event)
        assert hooked.next_attributes()["action"] == event
    assert api.post(f"{project.url}/merge_requests/1/approve", other).status_code == 201
    approved = hooked.next()
    assert (approved["object_attributes"]["action"], approved["user"]["id"]) == ("approved", other.id)
    assert api.post(f"{project.url}/merge_requests/1/notes", other, body="/request_changes").status_code == 202
    requested = hooked.next()
    assert (requested["object_attributes"]["action"], requested["user"]["id"]) == ("update", other.id)
    assert [(each["id"], each["state"]) for each in requested["reviewers"]] == [(other.id, "requested_changes")]
    assert [each["id"] for each in requested["changes"]["reviewers"]["current"]] == [other.id]
    assert api.post(f"{project.url}/merge_requests/1/approve", other).status_code == 201
    assert hooked.next()["reviewers"][0]["state"] == "approved"
    assert api.post(f"{project.url}/merge_requests/1/notes", make.root, body="/label ~a\n/title Two").status_code == 202
    assert hooked.next()["changes"].keys() == {"title", "labels"}

    done = merged(api, project, made, make.root)
    part = hooked.next_attributes()
    assert (part["action"], part["state"], part["merge_commit_sha"]) == ("merge", "merged", done["merge_commit_sha"])
    assert api.delete(f"{project.url}/merge_requests/1", make.root).status_code == 200
    # Deletion sends no event, so the next one is the next payload.
    make_merge_request(make, project, title="After")
    assert hooked.next_attributes()["title"] == "After"


def test_push_events_update_and_merge(
    api: Api, make: Make, instance: Instance, hooked: MergeRequestHookProject, tmp_path: Path
) -> None:
    """Through the API and git: new commits send an update with the old revision; a push to the target may merge."""
    made = make_merge_request(make, hooked.project)
    branch, place_of_it = made["source_branch"], hooked.next_attributes()["last_commit"]["id"]
    assert place_of_it == made["sha"]
    second = commit(make, hooked.project, branch, {"second": "x"}, message="Second")
    part = hooked.next_attributes()
    assert (part["action"], part["oldrev"], part["last_commit"]["id"]) == ("update", made["sha"], second)
    assert part["last_commit"]["message"] == "Second"

    tree = Tree(tmp_path / "tree")
    Tree(tmp_path).git("clone", "-q", "-b", branch, over_http(instance, hooked.project, make.root), str(tree.folder))
    third = tree.commit("third", "x", "Third")
    tree.git("push", "-q", "origin", branch)
    pushed = hooked.next()
    assert (pushed["object_attributes"]["oldrev"], pushed["changes"]) == (second, {})
    assert pushed["object_attributes"]["last_commit"]["id"] == third
    tree.git("push", "-q", "origin", f"{branch}:master")
    part = hooked.next_attributes()
    assert (part["action"], part["state"], part["merge_commit_sha"]) == ("merge", "merged", None)


def test_merge_requests_from_forks(api: Api, make: Make, hooked: MergeRequestHookProject) -> None:
    """The hook of the target receives the events, also after the fork is deleted; the fork's own hook receives none.

    Payloads do not reveal a hidden fork.
    """
    person = make.user()
    assert api.put(hooked.project.url, make.root, visibility="public").status_code == 200
    add_members(make, hooked.project, {person: Level.REPORTER})
    other, branch = fork(make, hooked.project, person), make.name("branch")
    flags = {"push_events": False, "merge_requests_events": True}
    hook = api.post(f"{other.url}/hooks", person, url=hooked.receiver.url("/fork"), **flags)
    assert hook.status_code == 201, hook.text
    first = commit(make, other, branch, {branch: "x"}, person, start="master")
    made = make_branch_merge_request(make, other, branch, person, target_project_id=hooked.project.id)
    part = hooked.next_attributes()
    assert (part["source_project_id"], part["target_project_id"]) == (other.id, hooked.project.id)
    assert part["source"]["path_with_namespace"] == other.path
    assert part["last_commit"]["id"] == first
    assert api.put(other.url, person, visibility="private").status_code == 200
    second = commit(make, other, branch, {"second": "x"}, person)
    told = hooked.next()
    part = told["object_attributes"]
    assert (part["oldrev"], part["last_commit"]["id"]) == (first, second)
    assert part["source"] is None
    assert other.path not in json.dumps(told)
    assert api.delete(other.url, person).status_code == 200
    assert api.post(f"{hooked.project.url}/merge_requests/{made['iid']}/notes", person, body="Gone").status_code == 201
    about = hooked.next("Note Hook")["merge_request"]
    assert (about["source"], about["last_commit"]["id"]) == (None, second)


def test_merge_by_the_job(api: Api, make: Make, instance: Instance, hooked: MergeRequestHookProject) -> None:
    """Sent in the name of the user who scheduled it; scheduling and cancelling send no event."""
    made = make_merge_request(make, hooked.project)
    hooked.next()
    report(api, hooked.project, made, make.root, "running")
    url = f"{hooked.project.url}/merge_requests/{made['iid']}/merge"
    assert api.put(url, make.root, merge_when_pipeline_succeeds=True).status_code == 200
    report(api, hooked.project, made, make.root, "success")
    instance.work()
    told = hooked.next()
    assert (told["object_attributes"]["action"], told["user"]["username"]) == ("merge", "root")
    assert told["object_attributes"]["merge_commit_sha"]


def test_note_events(api: Api, make: Make, instance: Instance, hooked: MergeRequestHookProject) -> None:
    """With the noteable; internal notes are sent only to hooks that ask for them."""
    made = make_merge_request(make, hooked.project, title="WIP: One", assignee_id=1)
    hooked.next()
    url = f"{hooked.project.url}/merge_requests/{made['iid']}"
    note = api.post(f"{url}/notes", make.root, body="Look").json()
    told = hooked.next("Note Hook")
    attributes, about = told["object_attributes"], told["merge_request"]
    assert attributes.keys() >= NOTE
    assert (attributes["id"], attributes["noteable_type"], attributes["noteable_id"]) == (
        note["id"], "MergeRequest", made["id"],
    )  # fmt: skip
    assert attributes["url"] == f"{instance.url}/{hooked.project.path}/merge_requests/{made['iid']}#note_{note['id']}"
    assert about.keys() >= (ATTRIBUTES - {"st_commits", "st_diffs"}) | {"position", "locked_at", "assignee"}
    assert (about["iid"], about["work_in_progress"], about["last_commit"]["id"]) == (made["iid"], True, made["sha"])
    assert about["created_at"] == made["created_at"][:19].replace("T", " ") + " UTC"
    assert about["source"].keys() >= OLDER

    assert api.post(f"{url}/notes", make.root, body="Among us", internal=True).status_code == 201
    refs, path = api.get(url, make.root).json()["diff_refs"], f"{made['source_branch']}.txt"
    position = {**refs, "position_type": "text", "new_path": path, "old_path": path, "new_line": 1}
    assert api.post(f"{url}/discussions", make.root, body="Why?", position=position).status_code == 201
    attributes = hooked.next_attributes("Note Hook")
    assert (attributes["note"], attributes["type"], attributes["position"]["new_line"]) == ("Why?", "DiffNote", 1)
    assert attributes["position"]["head_sha"] == refs["head_sha"]
    assert (attributes["line_code"].partition("_")[2], attributes["st_diff"]) == ("0_1", None)


def test_group_and_system_hooks(api: Api, make: Make, hooked: MergeRequestHookProject) -> None:
    """Both receive the events if their flag is set."""
    receiver = hooked.receiver
    group = make_group(make)
    project = make_project(make, group=group, initialize_with_readme=True)
    system = []
    for flag in (True, False):
        sent = {"merge_requests_events": flag, "push_events": False, "repository_update_events": False}
        hook = api.post(f"/groups/{group.id}/hooks", make.root, url=receiver.url(f"/group-{flag}"), **sent)
        assert hook.status_code == 201, hook.text
        made = api.post("/hooks", make.root, url=receiver.url(f"/system-{flag}"), **sent)
        assert made.status_code == 201, made.text
        system.append(made.json()["id"])
    try:
        make_merge_request(make, project, title="Inside")
        got = receiver.some(2)
        assert {each.path for each in got} == {"/group-True", "/system-True"}
        assert [each.body["object_attributes"]["title"] for each in got] == ["Inside"] * 2
        headers = {each.path: each.headers["x-gitlab-event"] for each in got}
        assert headers == {"/group-True": "Merge Request Hook", "/system-True": "System Hook"}
        make_merge_request(make, hooked.project, title="Elsewhere")
        assert {each.path for each in receiver.some(2)} == {f"/{hooked.project.id}", "/system-True"}
    finally:
        for number in system:
            api.delete(f"/hooks/{number}", make.root)


def test_test_delivery(api: Api, make: Make, hooked: MergeRequestHookProject) -> None:
    """Uses the newest merge request, if there is one."""
    (hook,) = api.get(f"{hooked.project.url}/hooks", make.root).json()
    url = f"{hooked.project.url}/hooks/{hook['id']}/test/merge_requests_events"
    assert api.post(url, make.root).status_code == 422
    make_merge_request(make, hooked.project, title="One")
    hooked.next()
    assert api.post(url, make.root).status_code == 201
    part = hooked.next_attributes()
    assert (part["title"], part["action"], part["last_commit"] is not None) == ("One", "open", True)


def test_stack_and_new_target_after_a_merge(api: Api, make: Make, hooked: MergeRequestHookProject) -> None:
    """The merge of the layer below is followed by an event about the new target of the next one."""
    one, two = make_stack(make, hooked.project, make.root, ["one", "two"])
    assert hooked.next_attributes()["stack"] is None
    expected = {"id": one["id"], "position": 2, "size": 2, "base": "master"}
    assert hooked.next_attributes()["stack"] == expected
    merged(api, hooked.project, one, make.root)
    events = {(got := hooked.next())["object_attributes"]["iid"]: got for _ in range(2)}
    assert events[one["iid"]]["object_attributes"]["action"] == "merge"
    update = events[two["iid"]]
    assert update["changes"]["target_branch"] == {"previous": "one", "current": "master"}
    assert (update["object_attributes"]["action"], update["object_attributes"]["stack"]) == ("update", None)
