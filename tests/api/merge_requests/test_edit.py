"""Editing, closing, reopening and deleting merge requests."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue, make_milestone
from tests.api.merge_requests.factories import commit, filled_project, fork, make_merge_request
from tests.client import Api, Make, User
from tests.factories import Project, ids
from tests.roles import UsersByRole, project_with

Sample = tuple[User, Project]


@pytest.fixture(scope="module")
def sample(make: Make) -> Sample:
    """Return a project and its owner."""
    owner = make.user()
    return owner, filled_project(make, owner)


def test_only_sent_parameters_change(api: Api, make: Make, sample: Sample) -> None:
    owner, project = sample
    helper = make.user()
    api.post(f"/projects/{project.id}/members", owner, user_id=helper.id, access_level=int(Level.DEVELOPER))
    milestone = make_milestone(make, project)
    made = make_merge_request(make, project, owner, labels="one,two", description="As it was")
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"

    changed = api.put(
        url,
        owner,
        title="  Draft: new  ",
        assignee_id=helper.id,
        reviewer_ids=[helper.id],
        milestone_id=milestone["id"],
        add_labels="three",
        remove_labels="one",
        remove_source_branch=True,
        squash=True,
        discussion_locked=True,
    )

    assert changed.status_code == 200, changed.text
    shown = changed.json()
    assert (shown["title"], shown["description"], shown["draft"]) == ("Draft: new", "As it was", True)
    assert (shown["assignee"]["id"], shown["reviewers"][0]["id"]) == (helper.id, helper.id)
    assert (shown["labels"], shown["milestone"]["id"]) == (["three", "two"], milestone["id"])
    assert (shown["force_remove_source_branch"], shown["squash"], shown["discussion_locked"]) == (True, True, True)
    emptied = api.put(url, owner, assignee_id=0, milestone_id=0, labels="", description="", reviewer_ids=[]).json()
    assert (emptied["assignee"], emptied["milestone"], emptied["labels"]) == (None, None, [])
    assert (emptied["description"], emptied["reviewers"]) == (None, [])
    assert api.get(url, owner).json()["title"] == "Draft: new"


INVALID: list[tuple[dict[str, Any], int]] = [
    ({}, 400),
    ({"unknown": "x"}, 400),
    ({"title": ""}, 400),
    ({"title": "x" * 256}, 400),
    ({"target_branch": ""}, 400),
    ({"target_branch": "none such"}, 400),
    ({"state_event": "merge"}, 400),
    ({"milestone_id": 2**40}, 400),
    ({"assignee_id": "x"}, 400),
    ({"remove_source_branch": "perhaps"}, 400),
]


@pytest.mark.parametrize(("wrong", "status"), INVALID)
def test_invalid_edits_are_rejected(api: Api, make: Make, sample: Sample, wrong: dict[str, Any], status: int) -> None:
    owner, project = sample
    iid = _any(api, make, sample)["iid"]
    assert api.put(f"/projects/{project.id}/merge_requests/{iid}", owner, **wrong).status_code == status


def _any(api: Api, make: Make, sample: Sample) -> dict[str, Any]:
    owner, project = sample
    found: list[dict[str, Any]] = api.get(f"/projects/{project.id}/merge_requests", owner, state="opened").json()
    return found[0] if found else make_merge_request(make, project, owner)


@pytest.mark.parametrize("iid", ["0", "x", str(2**63), "99999"])
def test_missing_merge_requests(api: Api, sample: Sample, iid: str) -> None:
    owner, project = sample
    for answer in (
        api.get(f"/projects/{project.id}/merge_requests/{iid}", owner),
        api.put(f"/projects/{project.id}/merge_requests/{iid}", owner, title="x"),
        api.put(f"/projects/{project.id}/merge_requests/{iid}", owner, state_event="reopen"),
    ):
        assert answer.status_code in (400, 404), answer.text


def test_closing_and_reopening(api: Api, make: Make, sample: Sample) -> None:
    owner, project = sample
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    closed = api.put(url, owner, state_event="close").json()
    assert (closed["state"], closed["closed_by"]["id"]) == ("closed", owner.id)
    assert closed["closed_at"] is not None
    assert api.put(url, owner, state_event="close").json()["state"] == "closed"
    assert ids(api.get(f"/projects/{project.id}/merge_requests", owner, state="closed"))[0] == made["id"]
    head = commit(make, project, made["source_branch"], {"later": "x\n"}, owner)
    assert api.get(url, owner).json()["sha"] == made["sha"], "A closed merge request ignores pushes."
    opened = api.put(url, owner, state_event="reopen").json()
    assert (opened["state"], opened["closed_at"], opened["sha"]) == ("opened", None, head)
    assert len(api.get(f"{url}/versions", owner).json()) == 2


def test_one_merge_request_is_open_between_two_branches(api: Api, make: Make, sample: Sample) -> None:
    owner, project = sample
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests"
    api.put(f"{url}/{made['iid']}", owner, state_event="close")
    sent = {"source_branch": made["source_branch"], "target_branch": "master", "title": "Again"}
    again = api.post(url, owner, **sent)
    assert again.status_code == 201
    assert api.put(f"{url}/{made['iid']}", owner, state_event="reopen").status_code == 409
    api.post(f"/projects/{project.id}/repository/branches", owner, branch="aside", ref="master")
    aside = api.post(url, owner, **{**sent, "target_branch": "aside"}).json()
    assert api.put(f"{url}/{aside['iid']}", owner, target_branch="master").status_code == 409
    assert api.put(f"{url}/{aside['iid']}", owner, target_branch=made["source_branch"]).status_code == 400


def test_reopening_requires_the_source_branch(api: Api, make: Make, sample: Sample) -> None:
    owner, project = sample
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    api.put(url, owner, state_event="close")
    api.delete(f"/projects/{project.id}/repository/branches/{made['source_branch']}", owner)
    assert api.put(url, owner, state_event="reopen").status_code == 400
    assert api.get(url, owner).json()["state"] == "closed"


def test_changing_the_target_updates_the_diff(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    commit(make, project, "next", {"next": "x\n"}, owner, start="master")
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    moved = api.put(url, owner, target_branch="next").json()
    assert moved["target_branch"] == "next"
    assert moved["diff_refs"]["start_sha"] != made["diff_refs"]["start_sha"]
    assert moved["diff_refs"]["base_sha"] == made["diff_refs"]["base_sha"]


def test_concurrent_closing_closes_once(api: Api, make: Make, sample: Sample) -> None:
    owner, project = sample
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: api.put(url, owner, state_event="close").status_code, range(4)))
    assert answers == [200] * 4
    states = api.get(f"{url}/resource_state_events", owner).json()
    assert [event["state"] for event in states] == ["closed"]


CALLERS = [
    ("administrator", 200, 200),
    ("owner", 200, 200),
    ("master", 200, 403),
    ("developer", 200, 403),
    ("reporter", 403, 403),
    ("guest", 403, 403),
    ("stranger", 404, 404),
    ("nobody", 401, 401),
]


@pytest.fixture(scope="module")
def roles(make: Make) -> tuple[UsersByRole, Project]:
    """Return a user of each role, and a private project with a first commit."""
    roles = UsersByRole(make)
    project = project_with(make, roles)
    commit(make, project, "master", {"README": "x\n"}, roles.owner)
    return roles, project


@pytest.mark.parametrize(("role", "edits", "deletes"), CALLERS)
def test_permissions_to_edit_and_delete(
    api: Api, make: Make, roles: tuple[UsersByRole, Project], role: str, edits: int, deletes: int
) -> None:
    people, project = roles
    made = make_merge_request(make, project, people.owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    assert api.put(url, people[role], title="Edited").status_code == edits
    assert api.delete(url, people[role]).status_code == deletes
    assert api.get(url, people.owner).status_code == (404 if deletes == 200 else 200)
    if deletes == 200:
        assert api.delete(url, people[role]).status_code == 200, "A deleted merge request is not found."
        assert made["id"] not in ids(api.get(f"/projects/{project.id}/merge_requests", people.owner))
        later = make_merge_request(make, project, people.owner)
        assert later["iid"] > made["iid"], "Iids are not reused."


def test_an_external_author_edits_but_does_not_label(api: Api, make: Make) -> None:
    project = filled_project(make, visibility="public")
    person = make.user()
    copy = fork(make, project, person)
    commit(make, copy, "mine", {"mine": "x\n"}, person, start="master")
    sent = {"source_branch": "mine", "target_branch": "master", "title": "x", "target_project_id": project.id}
    made = api.post(f"/projects/{copy.id}/merge_requests", person, **sent).json()
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    edited = api.put(url, person, title="Mine", labels="x", milestone_id=0).json()
    assert (edited["title"], edited["labels"]) == ("Mine", [])
    assert api.put(url, make.user(), title="Theirs").status_code == 403
    assert api.put(url, person, state_event="close").json()["state"] == "closed"


def test_subscribe(api: Api, make: Make, sample: Sample) -> None:
    owner, project = sample
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    assert api.post(f"/projects/{project.id}/merge_requests/{made['iid']}/subscribe", owner).status_code == 304
    stopped = api.post(f"/projects/{project.id}/merge_requests/{made['iid']}/unsubscribe", owner)
    assert (stopped.status_code, stopped.json()["subscribed"]) == (201, False)
    assert api.post(f"{url}/unsubscribe", owner).status_code == 304
    assert api.post(f"{url}/subscribe", owner).json()["subscribed"] is True
    assert api.get(url, make.root).json()["subscribed"] is False


def test_time_tracking(api: Api, make: Make, sample: Sample) -> None:
    owner, project = sample
    url = f"/projects/{project.id}/merge_requests/{make_merge_request(make, project, owner)['iid']}"
    estimated = api.post(f"{url}/time_estimate", owner, duration="3h30m")
    assert (estimated.status_code, estimated.json()["human_time_estimate"]) == (200, "3h 30m")
    spent = api.post(f"{url}/add_spent_time", owner, duration="1h")
    assert (spent.status_code, spent.json()["total_time_spent"]) == (201, 3600)
    refused = api.post(f"{url}/add_spent_time", owner, duration="-2h")
    message = {"time_spent": ["Time to subtract exceeds the total time spent"]}
    assert (refused.status_code, refused.json()) == (400, {"message": message})
    assert api.post(f"{url}/time_estimate", owner, duration="long").status_code == 400
    assert api.post(f"{url}/time_estimate", owner).status_code == 400
    assert api.get(f"{url}/time_stats", owner).json()["time_estimate"] == 12_600
    assert api.post(f"{url}/reset_time_estimate", owner).json()["time_estimate"] == 0
    assert api.post(f"{url}/reset_spent_time", owner).json() == {
        "time_estimate": 0,
        "total_time_spent": 0,
        "human_time_estimate": None,
        "human_total_time_spent": None,
    }


def test_closed_issues(api: Api, make: Make) -> None:
    owner, reader = make.user(), make.user()
    project = filled_project(make, owner, visibility="public")
    issues = [make_issue(make, project, owner) for _ in range(3)]
    secret = make_issue(make, project, owner, confidential=True)
    text = f"Closes #{issues[0]['iid']}, #{secret['iid']} and mentions #{issues[1]['iid']}"
    made = make_merge_request(make, project, owner, description=text)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}/closes_issues"
    assert ids(api.get(url, owner)) == [issues[0]["id"], secret["id"]]
    assert ids(api.get(url, reader)) == [issues[0]["id"]]
    closed_by = f"/projects/{project.id}/issues/{issues[0]['iid']}/closed_by"
    assert ids(api.get(closed_by, reader)) == [made["id"]]
    related = f"/projects/{project.id}/issues/{issues[1]['iid']}/related_merge_requests"
    assert ids(api.get(related, reader)) == [made["id"]]
    mentioned = f"/projects/{project.id}/merge_requests/{made['iid']}/related_issues"
    assert ids(api.get(mentioned, owner)) == [issues[0]["id"], issues[1]["id"], secret["id"]]
    assert ids(api.get(mentioned, reader)) == [issues[0]["id"], issues[1]["id"]]
    message = f"Fix #{issues[2]['iid']}"
    commit(make, project, made["source_branch"], {"more": "x\n"}, owner, message=message)
    assert ids(api.get(url, reader)) == [issues[0]["id"], issues[2]["id"]]
    edited = f"/projects/{project.id}/merge_requests/{made['iid']}"
    api.put(edited, owner, state_event="close")
    assert api.get(closed_by, reader).json() == [], "It is not going to be merged."
    api.put(edited, owner, state_event="reopen")
    api.post(f"/projects/{project.id}/repository/branches", owner, branch="aside", ref="master")
    api.put(edited, owner, target_branch="aside")
    assert api.get(closed_by, reader).json() == api.get(url, reader).json() == [], "Only the default branch counts."
    api.put(edited, owner, target_branch="master")
    assert ids(api.get(closed_by, reader)) == [made["id"]]
    api.put(edited, owner, description="Closes nothing")
    assert ids(api.get(url, reader)) == [issues[2]["id"]]
    assert api.get(closed_by, reader).json() == []


def test_participants(api: Api, make: Make) -> None:
    owner, helper = make.user(), make.user()
    project = filled_project(make, owner, members={helper: Level.DEVELOPER})
    made = make_merge_request(make, project, owner, assignee_id=helper.id)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}/participants"
    assert ids(api.get(url, owner)) == [owner.id, helper.id]


def test_merge_requests_of_a_commit(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/repository/commits/{made['sha']}/merge_requests"
    assert ids(api.get(url, owner)) == [made["id"]]
