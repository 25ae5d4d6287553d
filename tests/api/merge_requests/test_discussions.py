"""Discussions of merge requests: notes, line comments, emoji, approvals, system notes."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.factories import Project

Sample = tuple[User, User, Project]
TEN = "".join(f"line {number}\n" for number in range(1, 11))


@pytest.fixture(scope="module")
def sample(make: Make) -> Sample:
    """Return a public project, its owner, and a reader."""
    owner, reader = make.user(), make.user()
    project = filled_project(make, owner, visibility="public")
    commit(make, project, "master", {"ten": TEN}, owner)
    return owner, reader, project


def _bodies(api: Api, url: str, person: User, **asked: Any) -> list[str]:
    found = api.get(f"{url}/notes", person, sort="asc", **asked)
    assert found.status_code == 200, found.text
    return [note["body"] for note in found.json()]


def test_notes(api: Api, make: Make, sample: Sample) -> None:
    owner, reader, project = sample
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    written = api.post(f"/projects/{project.id}/merge_requests/{made['iid']}/notes", reader, body="Fine")
    assert written.status_code == 201
    note = written.json()
    assert (note["noteable_type"], note["noteable_id"], note["noteable_iid"]) == (
        "MergeRequest",
        made["id"],
        made["iid"],
    )
    assert (note["resolvable"], note["type"]) == (False, None)
    assert api.get(url, owner).json()["user_notes_count"] == 1
    one = f"/projects/{project.id}/merge_requests/{made['iid']}/notes/{note['id']}"
    assert api.get(one, owner).json()["body"] == "Fine"
    assert api.put(one, reader, body="Finer").json()["body"] == "Finer"
    assert api.put(one, make.user(), body="Mine").status_code == 403
    assert api.delete(one, reader).status_code == 200
    assert api.get(url, owner).json()["user_notes_count"] == 0
    assert api.post(f"{url}/notes", reader, body="").status_code == 400


def test_locked_discussions_accept_members_only(api: Api, make: Make, sample: Sample) -> None:
    owner, reader, project = sample
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    api.put(url, owner, discussion_locked=True)
    assert api.post(f"{url}/notes", reader, body="Fine").status_code == 403
    assert api.post(f"{url}/notes", owner, body="Fine").status_code == 201


def test_emoji(api: Api, make: Make, sample: Sample) -> None:
    owner, reader, project = sample
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    award = api.post(f"/projects/{project.id}/merge_requests/{made['iid']}/award_emoji", reader, name="thumbsup")
    assert (award.status_code, award.json()["awardable_type"]) == (201, "MergeRequest")
    assert api.get(url, owner).json()["upvotes"] == 1
    assert api.get(f"{url}/award_emoji/{award.json()['id']}", owner).json()["name"] == "thumbsup"
    assert len(api.get(f"{url}/award_emoji", owner).json()) == 1
    assert api.delete(f"{url}/award_emoji/{award.json()['id']}", reader).status_code == 200
    assert api.get(url, owner).json()["upvotes"] == 0
    note = api.post(f"{url}/notes", owner, body="x").json()
    on_note = api.post(f"{url}/notes/{note['id']}/award_emoji", reader, name="heart").json()
    assert len(api.get(f"{url}/notes/{note['id']}/award_emoji", reader).json()) == 1
    assert api.get(f"{url}/notes/{note['id']}/award_emoji/{on_note['id']}", reader).json()["name"] == "heart"
    assert api.delete(f"{url}/notes/{note['id']}/award_emoji/{on_note['id']}", reader).status_code == 200


def test_system_notes(api: Api, make: Make, sample: Sample) -> None:
    owner, _, project = sample
    made = make_merge_request(make, project, owner, labels="first")
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    api.post(f"/projects/{project.id}/repository/branches", owner, branch=f"to-{made['iid']}", ref="master")
    milestone = api.post(f"/projects/{project.id}/milestones", owner, title=make.name("milestone")).json()
    for change in (
        {"title": f"Draft: {made['title']}"},
        {"description": "x"},
        {"assignee_id": owner.id},
        {"reviewer_ids": [owner.id]},
        {"labels": ""},
        {"milestone_id": milestone["id"]},
        {"target_branch": f"to-{made['iid']}"},
        {"discussion_locked": True},
        {"state_event": "close"},
        {"state_event": "reopen"},
    ):
        assert api.put(url, owner, **change).status_code == 200
    head = commit(make, project, made["source_branch"], {f"more-{made['iid']}": "x\n"}, owner, message="More of it")
    label = api.get(f"{url}/resource_label_events", owner).json()[0]["label"]["id"]
    assert _bodies(api, url, owner) == [
        "marked this merge request as **draft**",
        f"changed title from **{made['title']}** to **{{+Draft: +}}{made['title']}**",
        "changed the description",
        f"assigned to @{owner.username}",
        f"requested review from @{owner.username}",
        f"removed ~{label} label",
        f'changed milestone to %"{milestone["title"]}"',
        f"changed target branch from `master` to `to-{made['iid']}`",
        "locked this merge request",
        "closed",
        "reopened",
        f"added 1 commit\n\n* {head[:8]} - More of it",
    ]
    events = f"/projects/{project.id}/merge_requests/{made['iid']}"
    labels = api.get(f"{events}/resource_label_events", owner).json()
    states = api.get(f"{events}/resource_state_events", owner).json()
    milestones = api.get(f"{events}/resource_milestone_events", owner).json()
    assert [event["action"] for event in labels] == ["add", "remove"]
    assert [event["state"] for event in states] == ["closed", "reopened"]
    assert [event["action"] for event in milestones] == ["add"]
    assert api.get(f"{events}/resource_label_events/{labels[0]['id']}", owner).json()["resource_type"] == "MergeRequest"
    assert api.get(f"{events}/resource_state_events/{states[0]['id']}", owner).status_code == 200
    assert api.get(f"{events}/resource_milestone_events/{milestones[0]['id']}", owner).status_code == 200


def test_mentions(api: Api, make: Make, sample: Sample) -> None:
    owner, _, project = sample
    issue = make_issue(make, project, owner)
    first = make_merge_request(make, project, owner, description=f"See #{issue['iid']}")
    second = make_merge_request(make, project, owner, description=f"After !{first['iid']}")
    url = f"/projects/{project.id}/merge_requests/{first['iid']}"
    assert _bodies(api, f"/projects/{project.id}/issues/{issue['iid']}", owner) == [
        f"mentioned in merge request !{first['iid']}"
    ]
    api.post(f"/projects/{project.id}/issues/{issue['iid']}/notes", owner, body=f"Done in !{first['iid']}")
    api.post(f"{url}/notes", owner, body=f"Still #{issue['iid']}")
    assert _bodies(api, url, owner, activity_filter="only_activity") == [
        f"mentioned in merge request !{second['iid']}",
        f"mentioned in issue #{issue['iid']}",
    ]


def test_guests_get_no_mentions_of_merge_requests_in_issues(api: Api, make: Make) -> None:
    owner, guest, reporter = make.user(), make.user(), make.user()
    members = {guest: Level.GUEST, reporter: Level.REPORTER}
    project = filled_project(make, owner, visibility="private", members=members)
    issue = make_issue(make, project, owner)
    make_merge_request(make, project, owner, description=f"Closes #{issue['iid']}")
    url = f"/projects/{project.id}/issues/{issue['iid']}"
    assert _bodies(api, url, reporter) == ["mentioned in merge request !1"]
    assert _bodies(api, url, guest) == []
    assert api.get(f"{url}/closed_by", guest).json() == []
    assert api.get(f"{url}/related_merge_requests", guest).json() == []
    assert len(api.get(f"{url}/related_merge_requests", reporter).json()) == 1


def test_discussions_are_resolved(api: Api, make: Make, sample: Sample) -> None:
    owner, reader, project = sample
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    begun = api.post(f"/projects/{project.id}/merge_requests/{made['iid']}/discussions", reader, body="Why?")
    assert begun.status_code == 201, begun.text
    discussion = begun.json()
    note = discussion["notes"][0]
    assert (discussion["individual_note"], note["type"]) == (False, "DiscussionNote")
    assert (note["resolvable"], note["resolved"], note["resolved_by"]) == (True, False, None)
    assert api.get(url, owner).json()["blocking_discussions_resolved"] is False
    one = f"/projects/{project.id}/merge_requests/{made['iid']}/discussions/{discussion['id']}"
    answer = api.post(f"{one}/notes", owner, body="Because.").json()
    assert api.put(one, reader, resolved=True).status_code == 403
    settled = api.put(one, owner, resolved=True)
    assert settled.status_code == 200, settled.text
    assert [each["resolved"] for each in settled.json()["notes"]] == [True, True]
    assert settled.json()["notes"][0]["resolved_by"]["id"] == owner.id
    assert api.get(url, owner).json()["blocking_discussions_resolved"] is True
    assert _bodies(api, url, owner)[-1] == "resolved all threads"
    again = f"{one}/notes/{answer['id']}"
    assert api.put(again, owner, resolved=False).json()["resolved"] is False
    assert api.get(url, owner).json()["blocking_discussions_resolved"] is False
    assert api.put(again, owner, body="Because of it.").json()["body"] == "Because of it."
    assert api.put(again, reader, body="Mine").status_code == 403
    assert api.put(again, reader, resolved=True).status_code == 403
    assert api.put(again, owner).status_code == 400
    assert api.put(one, owner).status_code == 400
    assert api.put(one, owner, resolved="perhaps").status_code == 400
    assert len(api.get(f"{url}/discussions", owner).json()) == 2
    assert api.get(one, owner).json()["id"] == discussion["id"]
    assert len(api.get(f"{one}/notes", owner).json()) == 2
    assert api.get(again, owner).json()["id"] == answer["id"]
    assert api.delete(again, owner).status_code == 200


def test_an_individual_note_is_not_resolvable(api: Api, make: Make, sample: Sample) -> None:
    owner, _, project = sample
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    api.post(f"{url}/notes", owner, body="Alone")
    alone = api.get(f"{url}/discussions", owner).json()[0]
    assert alone["individual_note"] is True
    assert api.put(f"{url}/discussions/{alone['id']}", owner, resolved=True).status_code == 400
    assert api.put(f"{url}/discussions/{'0' * 40}", owner, resolved=True).status_code == 404


def _on_line(shown: dict[str, Any], **line: Any) -> dict[str, Any]:
    return {"position_type": "text", "old_path": "ten", "new_path": "ten", **shown["diff_refs"], **line}


def _changed_ten(make: Make, owner: User, project: Project) -> dict[str, Any]:
    """Return a merge request that changes the fifth of ten lines, and adds one after the eighth."""
    branch = make.name("branch")
    content = TEN.replace("line 5\n", "line five\n").replace("line 8\n", "line 8\nline 8.5\n")
    commit(make, project, branch, {"ten": content}, owner, start="master", action="update")
    sent = {"source_branch": branch, "target_branch": "master", "title": "Ten"}
    made: dict[str, Any] = make.api.post(f"/projects/{project.id}/merge_requests", owner, **sent).json()
    return made


@pytest.fixture(scope="module")
def unchanged_ten(make: Make, sample: Sample) -> dict[str, Any]:
    """Return a shared merge request of this kind, which no test changes."""
    owner, _, project = sample
    return _changed_ten(make, owner, project)


def test_positions_of_line_discussions_follow_the_code(api: Api, make: Make, sample: Sample) -> None:
    owner, reader, project = sample
    made = _changed_ten(make, owner, project)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"

    def start(**line: Any) -> dict[str, Any]:
        begun = api.post(f"{url}/discussions", reader, body="Here", position=_on_line(made, **line))
        assert begun.status_code == 201, begun.text
        found: dict[str, Any] = begun.json()
        return found

    added, removed, context, doomed = (
        start(new_line=9),
        start(old_line=5),
        start(old_line=6, new_line=6),
        start(new_line=5),
    )
    note = added["notes"][0]
    assert (note["type"], note["resolvable"]) == ("DiffNote", True)
    expected = {**_on_line(made), "old_line": None, "new_line": 9, "line_range": None}
    assert note["position"] == expected
    reply = api.post(f"{url}/discussions/{added['id']}/notes", owner, body="There").json()
    assert (reply["type"], reply["position"]) == ("DiffNote", expected)

    # The line changes again, and two lines are inserted before all others.
    content = "zero\nnought\n" + TEN.replace("line 5\n", "line V\n").replace("line 8\n", "line 8\nline 8.5\n")
    head = commit(make, project, made["source_branch"], {"ten": content}, owner, action="update")

    def current(discussion: dict[str, Any]) -> tuple[str, Any, Any]:
        place = api.get(f"{url}/discussions/{discussion['id']}", owner).json()["notes"][-1]["position"]
        return place["head_sha"], place["old_line"], place["new_line"]

    assert current(added) == (head, None, 11)
    assert current(removed) == (head, 5, None)
    assert current(context) == (head, 6, 8)
    assert current(doomed) == (made["sha"], None, 5), "It stays where its line is."


INVALID_LINES: list[dict[str, Any]] = [
    {"new_line": 1},
    {"old_line": 6},
    {"old_line": 6, "new_line": 7},
    {"new_line": 5, "new_path": "other", "old_path": "other"},
    {"new_line": 0},
    {"new_line": -1},
    {"new_line": 2**40},
    {"new_line": "x"},
    {},
    {"new_line": 5, "head_sha": "0" * 40},
    {"new_line": 5, "base_sha": "0" * 40},
    {"new_line": 5, "head_sha": ""},
    {"new_line": 5, "head_sha": "HEAD"},
    {"new_line": 5, "position_type": "sound"},
]


@pytest.mark.parametrize("line", INVALID_LINES)
def test_lines_outside_the_diff_are_rejected(
    api: Api, sample: Sample, unchanged_ten: dict[str, Any], line: dict[str, Any]
) -> None:
    owner, _, project = sample
    url = f"/projects/{project.id}/merge_requests/{unchanged_ten['iid']}"
    refused = api.post(f"{url}/discussions", owner, body="Here", position=_on_line(unchanged_ten, **line))
    assert refused.status_code == 400, refused.text


def test_reviewers_and_their_approval_state(api: Api, make: Make, sample: Sample) -> None:
    owner, reader, project = sample
    helper = make.user()
    api.post(f"/projects/{project.id}/members", owner, user_id=helper.id, access_level=int(Level.DEVELOPER))
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    assert api.get(f"{url}/reviewers", reader).json() == []
    api.put(url, owner, reviewer_ids=[owner.id, helper.id])
    api.post(f"{url}/approve", helper)
    listed = api.get(f"/projects/{project.id}/merge_requests/{made['iid']}/reviewers", reader).json()
    assert [(each["user"]["id"], each["state"]) for each in listed] == [
        (owner.id, "unreviewed"),
        (helper.id, "approved"),
    ]


def test_approvals(api: Api, make: Make, sample: Sample) -> None:
    owner, reader, project = sample
    helper = make.user()
    api.post(f"/projects/{project.id}/members", owner, user_id=helper.id, access_level=int(Level.DEVELOPER))
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    before = api.get(f"/projects/{project.id}/merge_requests/{made['iid']}/approvals", helper).json()
    assert (before["approved"], before["user_has_approved"], before["user_can_approve"]) == (False, False, True)
    assert api.post(f"{url}/approve", reader).status_code == 401
    assert api.post(f"{url}/approve", helper, sha="0" * 40).status_code == 409
    approved = api.post(f"/projects/{project.id}/merge_requests/{made['iid']}/approve", helper, sha=made["sha"])
    assert approved.status_code == 201, approved.text
    assert [each["user"]["id"] for each in approved.json()["approved_by"]] == [helper.id]
    assert api.post(f"{url}/approve", helper).status_code == 401, "Once is enough."
    assert api.get(f"{url}/approval_state", helper).json() == {"approval_rules_overwritten": False, "rules": []}
    listed = api.get(f"/projects/{project.id}/merge_requests", owner, approved_by_ids=helper.id).json()
    assert [one["id"] for one in listed] == [made["id"]]
    taken_back = api.post(f"/projects/{project.id}/merge_requests/{made['iid']}/unapprove", helper)
    assert (taken_back.status_code, taken_back.json()["approved_by"]) == (201, [])
    assert api.post(f"{url}/unapprove", helper).status_code == 404
    assert _bodies(api, url, owner) == ["approved this merge request", "unapproved this merge request"]
    api.post(f"{url}/approve", helper)
    assert api.put(f"{url}/reset_approvals", helper).status_code == 403
    reset = api.put(f"{url}/reset_approvals", owner)
    assert (reset.status_code, reset.json()["approved_by"]) == (202, []), "Clients parse the response."
    assert api.get(f"{url}/approvals", owner).json()["approved_by"] == []
    api.put(url, owner, state_event="close")
    assert api.post(f"{url}/approve", helper).status_code == 401


def test_an_issue_resolves_discussions(api: Api, make: Make, sample: Sample) -> None:
    owner, _, project = sample
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    first = api.post(f"{url}/discussions", owner, body="Do this").json()
    api.post(f"{url}/discussions", owner, body="And that")
    asked = {"merge_request_to_resolve_discussions_of": made["iid"], "discussion_to_resolve": first["id"]}
    issue = make_issue(make, project, owner, **asked)
    assert "> Do this" in issue["description"]
    assert "And that" not in issue["description"]
    states = [each["notes"][0]["resolved"] for each in api.get(f"{url}/discussions", owner).json()[:2]]
    assert states == [True, False]
    rest = make_issue(make, project, owner, merge_request_to_resolve_discussions_of=made["iid"])
    assert "> And that" in rest["description"]
    assert api.get(url, owner).json()["blocking_discussions_resolved"] is True


def test_issue_for_merge_request_without_open_discussions(api: Api, make: Make, sample: Sample) -> None:
    owner, _, project = sample
    made = make_merge_request(make, project, owner)
    asked = {"merge_request_to_resolve_discussions_of": made["iid"]}
    default = f"There are no unresolved discussions. Review the conversation in !{made['iid']}"
    assert make_issue(make, project, owner, **asked)["description"] == default
    assert make_issue(make, project, owner, **asked, discussion_to_resolve="none")["description"] == default
    given = make_issue(make, project, owner, **asked, title="mine", description="own words")
    assert (given["title"], given["description"]) == ("mine", "own words")


def test_issue_by_a_caller_who_may_not_resolve(api: Api, make: Make) -> None:
    """A reporter gets the default description and resolves nothing; a guest sees no merge request."""
    owner, reporter, guest = (make.user() for _ in range(3))
    project = filled_project(make, owner, members={reporter: Level.REPORTER, guest: Level.GUEST})
    made = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    api.post(f"{url}/discussions", owner, body="Do this")
    asked = {"merge_request_to_resolve_discussions_of": made["iid"]}
    description = make_issue(make, project, reporter, **asked)["description"]
    assert description.startswith(f"The following discussion from !{made['iid']} should be addressed:")
    assert "> Do this" in description
    assert make_issue(make, project, guest, **asked)["description"] is None
    assert api.get(url, owner).json()["blocking_discussions_resolved"] is False
