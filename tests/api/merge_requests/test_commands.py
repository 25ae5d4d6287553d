"""Quick actions in descriptions and notes of merge requests."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_milestone
from tests.api.merge_requests.factories import commit, filled_project, fork, make_merge_request
from tests.api.merging.merge_calls import conflicting
from tests.api.merging.test_auto_merge import report
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project

HOUR = 3600


class MergeRequestSetup(NamedTuple):
    """Project for quick actions on merge requests."""

    owner: User
    developer: User
    reporter: User
    project: Project


@pytest.fixture(scope="module")
def setup(api: Api, make: Make) -> MergeRequestSetup:
    """Return a project, created once; every test opens its own merge request."""
    owner, developer, reporter = make.user(), make.user(), make.user()
    members = {developer: Level.DEVELOPER, reporter: Level.REPORTER}
    project = filled_project(make, owner, visibility="private", members=members)
    for name in ("bug", "two words", "old"):
        assert api.post(f"{project.url}/labels", owner, name=name, color="#ff0000").status_code == 201
    make_milestone(make, project, title="v 1")
    assert api.post(f"{project.url}/repository/branches", owner, branch="stable", ref="master").status_code == 201
    return MergeRequestSetup(owner, developer, reporter, project)


def command(
    api: Api,
    setup: MergeRequestSetup,
    merge_request: dict[str, Any],
    body: str,
    person: User | None = None,
    **sent: Any,
) -> Any:
    """Write a note and return the response."""
    url = f"{setup.project.url}/merge_requests/{merge_request['iid']}/notes"
    return api.post(url, person or setup.developer, body=body, **sent)


def shown(api: Api, setup: MergeRequestSetup, merge_request: dict[str, Any]) -> dict[str, Any]:
    """Return the current state of the merge request."""
    now: dict[str, Any] = api.get(f"{setup.project.url}/merge_requests/{merge_request['iid']}", setup.developer).json()
    return now


def merge_scheduled(
    api: Api, setup: MergeRequestSetup, merge_request: dict[str, Any], person: User, **sent: Any
) -> bool:
    """Return whether the merge action was executed."""
    answer = command(api, setup, merge_request, "/merge", person, **sent)
    assert answer.status_code == 202, answer.text
    waits = shown(api, setup, merge_request)["merge_when_pipeline_succeeds"]
    assert waits is bool(answer.json()["summary"])
    return bool(waits)


CASES: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({}, "/close", {"state": "closed"}),
    ({}, "/title Something else", {"title": "Something else"}),
    ({"labels": "old"}, '/label ~bug ~"two words" nope', {"labels": ["bug", "old", "two words"]}),
    ({"labels": "old,bug"}, "/unlabel ~bug", {"labels": ["old"]}),
    ({"labels": "old,bug"}, '/relabel ~"two words"', {"labels": ["two words"]}),
    ({}, '/milestone %"v 1"', {"milestone": "v 1"}),
    ({}, '/milestone %"v 1"\n/remove_milestone', {"milestone": None}),
    ({}, "/estimate 1h 30m\n/spend 2h\n/spend -30m", {"time_estimate": 5400, "total_time_spent": 5400}),
    ({}, "/estimate 1h\n/remove_estimate\n/spend 1h\n/remove_time_spent", {"time_estimate": 0, "total_time_spent": 0}),
    ({}, "/spend 1h\n/spend -2h", {"total_time_spent": HOUR}),
    ({}, "/award :tada:\n/award thumbsup", {"upvotes": 1}),
    ({}, "/subscribe", {"subscribed": True}),
    ({}, "/todo\n/done", {"state": "opened"}),
    ({}, "`/close`\n> /close\n```\n/close\n```", {"state": "opened"}),
    ({}, "/target_branch stable", {"target_branch": "stable"}),
    ({}, "/target_branch no-such-branch", {"target_branch": "master"}),
    ({}, "/target_branch", {"target_branch": "master"}),
    ({"title": "One"}, "/wip", {"title": "WIP: One", "work_in_progress": True}),
    ({"title": "[Draft] WIP: One"}, "/wip", {"title": "One", "work_in_progress": False}),
    ({"title": "One"}, "/title Two\n/wip", {"title": "WIP: Two"}),
    ({"title": "One"}, "/draft\n/draft", {"title": "Draft: One", "work_in_progress": True}),
    ({"title": "WIP: One"}, "/draft", {"title": "WIP: One"}),
    ({"title": "Draft: One"}, "/ready", {"title": "One"}),
    ({"title": "One"}, "/ready", {"title": "One"}),
    ({"title": "WIP:"}, "/ready", {"title": "WIP:"}),
    ({"title": "a" * 255}, "/draft\n/wip", {"title": "a" * 255}),
    ({"title": "WIP: One"}, "/merge", {"merge_when_pipeline_succeeds": False}),
    ({}, "/close\n/merge\n/approve", {"state": "closed", "merge_when_pipeline_succeeds": False}),
]


@pytest.mark.parametrize(("created", "body", "expected"), CASES)
def test_quick_actions_in_notes(
    api: Api, make: Make, setup: MergeRequestSetup, created: dict[str, Any], body: str, expected: dict[str, Any]
) -> None:
    merge_request = make_merge_request(make, setup.project, setup.owner, **created)

    answer = command(api, setup, merge_request, body)

    assert answer.status_code in (201, 202), answer.text
    now = shown(api, setup, merge_request)
    now |= {name: now["time_stats"][name] for name in ("time_estimate", "total_time_spent")}
    now["milestone"] = now["milestone"]["title"] if now["milestone"] else None
    assert {name: now[name] for name in expected} == expected
    assert now["user_notes_count"] == (1 if answer.status_code == 201 else 0)


def test_closing_and_reopening(api: Api, make: Make, setup: MergeRequestSetup) -> None:
    """Reopening uses the current head of the source; it fails if another merge request replaced this one."""
    merge_request = make_merge_request(make, setup.project, setup.developer)
    branch = merge_request["source_branch"]
    answer = command(api, setup, merge_request, "Not now.\n/close")
    assert (answer.status_code, answer.json()["body"]) == (201, "Not now.")
    head = commit(make, setup.project, branch, {f"{branch}.more": "x"}, setup.developer)
    assert command(api, setup, merge_request, "/reopen").json()["summary"] == ["Reopened this."]
    now = shown(api, setup, merge_request)
    assert (now["state"], now["sha"]) == ("opened", head)

    assert command(api, setup, merge_request, "/close").status_code == 202
    sent = {"source_branch": branch, "target_branch": "master", "title": "Again"}
    twin = api.post(f"{setup.project.url}/merge_requests", setup.developer, **sent).json()
    assert command(api, setup, merge_request, "/reopen").json()["summary"] == []
    assert command(api, setup, twin, "/close").status_code == 202
    assert api.delete(f"{setup.project.url}/repository/branches/{branch}", setup.owner).status_code in (200, 204)
    assert command(api, setup, merge_request, "/reopen").json()["summary"] == []


def test_target_branch(api: Api, make: Make, setup: MergeRequestSetup) -> None:
    """The diff is updated at once; the source branch and the target of an identical merge request are rejected."""
    merge_request = make_merge_request(make, setup.project, setup.developer)
    branch, url = merge_request["source_branch"], f"{setup.project.url}/merge_requests"
    versions = len(api.get(f"{url}/{merge_request['iid']}/versions", setup.developer).json())
    side = make.name("side")
    commit(make, setup.project, side, {side: "x"}, setup.developer, start=branch)
    assert command(api, setup, merge_request, f"/target_branch {branch}").json()["summary"] == []
    assert command(api, setup, merge_request, f"/target_branch {side}").json()["commands_changes"] == {
        "target_branch": side
    }
    assert api.get(f"{url}/{merge_request['iid']}/changes", setup.developer).json()["changes"] == []
    assert len(api.get(f"{url}/{merge_request['iid']}/versions", setup.developer).json()) == versions + 1
    sent = {"source_branch": branch, "target_branch": "master", "title": "Again"}
    assert api.post(url, setup.developer, **sent).status_code == 201
    assert command(api, setup, merge_request, "/target_branch master").json()["summary"] == []
    assert shown(api, setup, merge_request)["target_branch"] == side


def test_assignees_reviewers_and_approvals(api: Api, make: Make, setup: MergeRequestSetup) -> None:
    merge_request = make_merge_request(make, setup.project, setup.owner)
    name = setup.reporter.username
    assert command(api, setup, merge_request, f"/assign @{name}").status_code == 202
    assert shown(api, setup, merge_request)["assignee"]["username"] == name
    assert command(api, setup, merge_request, "/unassign").status_code == 202
    assert shown(api, setup, merge_request)["assignee"] is None

    url = f"{setup.project.url}/merge_requests/{merge_request['iid']}/approvals"
    for body, summary, approved in (
        ("/approve\n/approve", 2, True),
        ("/approve", 0, True),
        ("/unapprove", 1, False),
        ("/unapprove", 0, False),
    ):
        assert len(command(api, setup, merge_request, body).json()["summary"]) == summary
        approvals = api.get(url, setup.developer).json()
        assert [one["user"]["id"] for one in approvals["approved_by"]] == [setup.developer.id] * approved
    assert command(api, setup, merge_request, "/approve", setup.reporter).json()["summary"] == []


def test_merge(api: Api, make: Make, instance: Instance, setup: MergeRequestSetup) -> None:
    """By the job, in the name of the user, at the head sent with the request if any."""
    merge_request = make_merge_request(make, setup.project, setup.developer)
    # The default branch is protected: developers open merge requests, but do not merge.
    assert not merge_scheduled(api, setup, merge_request, setup.developer)
    assert not merge_scheduled(api, setup, merge_request, setup.reporter)
    assert not merge_scheduled(api, setup, merge_request, setup.owner, merge_request_diff_head_sha="0" * 40)
    head = merge_request["sha"]
    assert merge_scheduled(api, setup, merge_request, setup.owner, merge_request_diff_head_sha=head.upper())
    instance.work()
    now = shown(api, setup, merge_request)
    assert (now["state"], now["merged_by"]["id"]) == ("merged", setup.owner.id)
    assert command(api, setup, merge_request, "/merge\n/close\n/reopen", setup.owner).json()["summary"] == []


def test_merge_waits_for_the_pipeline(api: Api, make: Make, instance: Instance, setup: MergeRequestSetup) -> None:
    """While it runs; a failed pipeline prevents the merge, and a push cancels it."""
    merge_request = make_merge_request(make, setup.project, setup.developer)
    report(api, setup.project, merge_request, setup.owner, "failed", name="a")
    assert not merge_scheduled(api, setup, merge_request, setup.owner)
    report(api, setup.project, merge_request, setup.owner, "running", name="a")
    assert merge_scheduled(api, setup, merge_request, setup.owner)
    instance.work()
    assert shown(api, setup, merge_request)["state"] == "opened"
    branch = merge_request["source_branch"]
    commit(make, setup.project, branch, {f"{branch}.more": "x"}, setup.developer)
    instance.work()
    now = shown(api, setup, merge_request)
    assert (now["state"], now["merge_when_pipeline_succeeds"]) == ("opened", False)
    report(api, setup.project, now, setup.owner, "running", name="a")
    assert merge_scheduled(api, setup, merge_request, setup.owner)
    report(api, setup.project, now, setup.owner, "success", name="a")
    instance.work()
    assert shown(api, setup, merge_request)["state"] == "merged"


def test_merge_with_conflicts(api: Api, make: Make, instance: Instance, setup: MergeRequestSetup) -> None:
    """An undetected conflict is found and reported by the job; with a known one the action is ignored."""
    merge_request = conflicting(make, setup.project, setup.owner)
    answer = command(api, setup, merge_request, "/merge", setup.owner)
    assert answer.json()["summary"] == ["Scheduled to merge this merge request."]
    instance.work()
    now = shown(api, setup, merge_request)
    assert (now["state"], now["merge_when_pipeline_succeeds"]) == ("opened", False)
    assert now["merge_error"]
    assert not merge_scheduled(api, setup, merge_request, setup.owner)


def test_quick_actions_in_descriptions(api: Api, make: Make, setup: MergeRequestSetup) -> None:
    text = 'It works.\n\n/label ~bug\n/assign me\n/milestone %"v 1"\n/estimate 2h\n/target_branch stable\n/wip\n/merge'
    made = make_merge_request(make, setup.project, setup.developer, title="One", description=text, labels="old")
    assert (made["description"], made["labels"], made["title"]) == ("It works.", ["bug", "old"], "WIP: One")
    assert (made["assignee"]["id"], made["milestone"]["title"]) == (setup.developer.id, "v 1")
    assert (made["target_branch"], made["time_stats"]["time_estimate"]) == ("stable", 2 * HOUR)
    assert (made["state"], made["merge_when_pipeline_succeeds"]) == ("opened", False)

    branch = make.name("branch")
    own = make_merge_request(
        make, setup.project, setup.developer, branch, description=f"/target_branch {branch}\n/target_branch x"
    )
    assert (own["target_branch"], own["description"]) == ("master", None)


def test_quick_actions_in_discussions(api: Api, make: Make, setup: MergeRequestSetup) -> None:
    """In the first note, also on a line, and in replies."""
    merge_request = make_merge_request(make, setup.project, setup.developer)
    url = f"{setup.project.url}/merge_requests/{merge_request['iid']}/discussions"
    alone = api.post(url, setup.developer, body="/label ~bug")
    assert (alone.status_code, alone.json()["summary"]) == (202, ["Added ~bug label."])
    refs = shown(api, setup, merge_request)["diff_refs"]
    path = f"{merge_request['source_branch']}.txt"
    position = {**refs, "position_type": "text", "new_path": path, "old_path": path, "new_line": 1}
    begun = api.post(url, setup.developer, body="Here?\n/label ~old", position=position)
    assert begun.status_code == 201, begun.text
    (note,) = begun.json()["notes"]
    assert (note["body"], note["position"]["new_line"]) == ("Here?", 1)
    assert shown(api, setup, merge_request)["labels"] == ["bug", "old"]
    answer = api.post(f"{url}/{begun.json()['id']}/notes", setup.developer, body="Yes.\n/unlabel ~bug")
    assert (answer.status_code, answer.json()["body"]) == (201, "Yes.")
    assert shown(api, setup, merge_request)["labels"] == ["old"]
    assert api.post(url, setup.developer, body="No.\n/close", position={**position, "new_line": 9}).status_code == 400
    assert shown(api, setup, merge_request)["state"] == "opened"


def test_actions_without_permission_are_ignored(api: Api, make: Make, setup: MergeRequestSetup) -> None:
    """Reporters may comment; actions require a developer or, for some, the author."""
    text = (
        '/close\n/title Mine\n/label ~bug\n/assign me\n/milestone %"v 1"\n/estimate 1h\n/spend 1h\n'
        "/target_branch stable\n/wip\n/draft\n/ready\n/merge\n/approve"
    )
    theirs = make_merge_request(make, setup.project, setup.owner)
    answer = command(api, setup, theirs, text, setup.reporter)
    assert (answer.status_code, answer.json()) == (202, {"commands_changes": {}, "summary": []})
    assert shown(api, setup, theirs)["updated_at"] == theirs["updated_at"]

    # The author from a fork edits their merge request but sets no planning fields.
    other = fork(make, setup.project, setup.reporter)
    branch = make.name("branch")
    commit(make, other, branch, {branch: "x"}, setup.reporter, start="master")
    sent = {"source_branch": branch, "target_branch": "master", "target_project_id": setup.project.id, "title": "One"}
    description = "Mine.\n/label ~bug\n/assign me\n/draft\n/estimate 1h"
    made = api.post(f"{other.url}/merge_requests", setup.reporter, **sent, description=description)
    assert made.status_code == 201, made.text
    own = made.json()
    assert (own["description"], own["title"], own["labels"], own["assignee"]) == ("Mine.", "Draft: One", [], None)
    assert own["time_stats"]["time_estimate"] == 0
    summary = command(api, setup, own, "/ready\n/label ~bug\n/target_branch stable\n/merge", setup.reporter).json()
    assert summary["commands_changes"] == {"title": "One", "target_branch": "stable"}


def test_removed_members_execute_nothing(api: Api, make: Make, setup: MergeRequestSetup) -> None:
    """Attack: a removed member acts on their merge request from a fork."""
    person = make.user()
    assert api.post(f"{setup.project.url}/members", setup.owner, user_id=person.id, access_level=20).status_code == 201
    other, branch = fork(make, setup.project, person), make.name("branch")
    commit(make, other, branch, {branch: "x"}, person, start="master")
    sent = {"source_branch": branch, "target_branch": "master", "target_project_id": setup.project.id, "title": "One"}
    own = api.post(f"{other.url}/merge_requests", person, **sent).json()
    assert command(api, setup, own, "/title Two", person).status_code == 202
    assert api.delete(f"{setup.project.url}/members/{person.id}", setup.owner).status_code == 200

    url = f"{setup.project.url}/merge_requests/{own['iid']}"
    assert command(api, setup, own, "Again.\n/title Three\n/close", person).status_code == 404
    assert api.post(f"{url}/discussions", person, body="/close").status_code == 404
    for path in ("", "/changes", "/versions", "/commits", "/notes", "/discussions"):
        assert api.get(f"{url}{path}", person).status_code == 404, path
    again = api.post(f"{other.url}/merge_requests", person, **sent, description="/target_branch stable")
    assert again.status_code == 404
    # Their mentions send no mail, and their text reveals nothing.
    html = api.post("/markdown", person, text=f"{setup.project.path}!{own['iid']}", gfm=True).json()["html"]
    assert "<a" not in html
    now = shown(api, setup, own)
    assert (now["state"], now["title"], now["user_notes_count"]) == ("opened", "Two", 0)


def test_concurrent_identical_actions(api: Api, make: Make, instance: Instance, setup: MergeRequestSetup) -> None:
    """The action is executed once, and no request fails."""
    merge_request = make_merge_request(make, setup.project, setup.developer)
    with ThreadPoolExecutor(6) as pool:
        said = [
            pool.submit(command, api, setup, merge_request, body, setup.owner)
            for body in ("/approve", "/merge", "/approve\n/unapprove\n/approve") * 2
        ]
        assert {one.result().status_code for one in said} == {202}
    url = f"{setup.project.url}/merge_requests/{merge_request['iid']}/approvals"
    assert len(api.get(url, setup.owner).json()["approved_by"]) <= 1
    instance.work()
    assert shown(api, setup, merge_request)["state"] == "merged"


def test_all_actions_are_applied_or_none(api: Api, make: Make, setup: MergeRequestSetup) -> None:
    """When one action fails, no other action and no note is applied."""
    merge_request = make_merge_request(make, setup.project, setup.owner)
    names = [f"l{number}" for number in range(101)]
    for some in (names[:60], names[60:]):
        make_merge_request(make, setup.project, setup.owner, labels=",".join(some))
    body = f"Look.\n/close\n/label {' '.join(names[:60])}\n/label {' '.join(names[60:])}"
    assert command(api, setup, merge_request, body).status_code == 400
    now = shown(api, setup, merge_request)
    assert (now["state"], now["labels"], now["user_notes_count"]) == ("opened", [], 0)
