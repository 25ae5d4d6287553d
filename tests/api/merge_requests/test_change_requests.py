"""Requests for changes as a result of reviews, which block the merge."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.factories import Project, add_members

Sample = tuple[User, User, User, Project, str]


@pytest.fixture
def sample(make: Make) -> Sample:
    """Return the owner of a private project, the author of a merge request, a reviewer, and the addresses of both."""
    owner, author, reviewer = make.user(), make.user(), make.user()
    project = filled_project(make, owner, visibility="private")
    add_members(make, project, {author: Level.DEVELOPER, reviewer: Level.DEVELOPER})
    url = f"{project.url}/merge_requests/{make_merge_request(make, project, author)['iid']}"
    return owner, author, reviewer, project, url


def status(api: Api, url: str, caller: User) -> str:
    """Return the detailed merge status."""
    found: str = api.get(url, caller).json()["detailed_merge_status"]
    return found


def states(api: Api, url: str, caller: User) -> dict[int, str]:
    """Return the states of the reviewers by their ids."""
    return {each["user"]["id"]: each["state"] for each in api.get(f"{url}/reviewers", caller).json()}


def review(api: Api, url: str, caller: User, **params: Any) -> int:
    """Submit a review and return the status of the response."""
    return api.post(f"{url}/draft_notes/bulk_publish", caller, **params).status_code


def test_a_request_for_changes_blocks_the_merge_until_approval(api: Api, sample: Sample) -> None:
    owner, author, reviewer, project, url = sample
    assert status(api, url, owner) == "mergeable"
    assert review(api, url, reviewer, reviewer_state="requested_changes", note="Please add tests") == 204
    assert status(api, url, owner) == "requested_changes"
    assert states(api, url, owner) == {reviewer.id: "requested_changes"}
    listed = api.get(f"{project.url}/merge_requests", owner).json()
    assert listed[0]["detailed_merge_status"] == "requested_changes"
    refused = api.put(f"{url}/merge", owner)
    assert refused.status_code == 405 and "requested changes" in refused.text
    notes = api.get(f"{url}/notes", owner).json()
    assert {"Please add tests", "requested changes"} <= {note["body"] for note in notes}
    todos = api.get("/todos", author).json()
    assert [(todo["action_name"], todo["author"]["id"]) for todo in todos] == [("review_submitted", reviewer.id)]

    assert api.post(f"{url}/approve", owner).status_code == 201
    assert status(api, url, owner) == "requested_changes", "The approval of another user does not resolve it."
    assert api.post(f"{url}/approve", reviewer).status_code == 201
    assert states(api, url, owner) == {reviewer.id: "approved"}
    assert status(api, url, owner) == "mergeable"
    assert api.put(f"{url}/merge", owner).status_code == 200


def test_a_request_replaces_the_approval_and_can_be_withdrawn(api: Api, sample: Sample) -> None:
    owner, _, reviewer, _, url = sample
    assert api.post(f"{url}/approve", reviewer).status_code == 201
    assert api.post(f"{url}/notes", reviewer, body="/request_changes").status_code == 202
    assert api.get(f"{url}/approvals", owner).json()["approved_by"] == []
    assert (status(api, url, owner), states(api, url, owner)) == (
        "requested_changes",
        {reviewer.id: "requested_changes"},
    )
    assert review(api, url, reviewer, reviewer_state="requested_changes") == 204, "Nothing changes."
    assert review(api, url, reviewer) == 204
    assert states(api, url, owner) == {reviewer.id: "requested_changes"}, "A comment does not resolve it."
    assert api.post(f"{url}/reviewers/{reviewer.id}/request_review", owner).status_code == 201
    assert status(api, url, owner) == "requested_changes", "Another request for a review does not resolve it."
    assert review(api, url, reviewer, reviewer_state="reviewed") == 204
    assert (status(api, url, owner), states(api, url, owner)) == ("mergeable", {reviewer.id: "reviewed"})


def test_a_removed_or_deleted_reviewer_blocks_no_longer(api: Api, make: Make, sample: Sample) -> None:
    owner, _, reviewer, _, url = sample
    for removal in ("from the reviewers", "of the user"):
        assert review(api, url, reviewer, reviewer_state="requested_changes") == 204
        assert status(api, url, owner) == "requested_changes"
        if removal == "of the user":
            assert api.delete(f"/users/{reviewer.id}", make.root).status_code in (200, 204)
        else:
            assert api.put(url, owner, reviewer_ids=[]).status_code == 200
        assert (status(api, url, owner), states(api, url, owner)) == ("mergeable", {}), removal


def test_authors_strangers_and_guests_do_not_request_changes(api: Api, make: Make, sample: Sample) -> None:
    owner, author, reviewer, project, url = sample
    guest, reporter = make.user(), make.user()
    add_members(make, project, {guest: Level.GUEST, reporter: Level.REPORTER})
    for caller, expected in ((make.user(), 404), (guest, 403), (reporter, 403)):
        assert review(api, url, caller, reviewer_state="requested_changes", note="No") == expected
    assert review(api, url, author, reviewer_state="requested_changes") == 204
    assert status(api, url, owner) == "mergeable", "That of the author is ignored."
    assert api.post(f"{url}/notes", reporter, body="/request_changes").status_code in (202, 400)
    assert status(api, url, owner) == "mergeable"
    assert api.put(url, owner, reviewer_ids=[reporter.id]).status_code == 200
    assert review(api, url, reporter, reviewer_state="requested_changes") == 204, "Reviewers may, at any level."
    assert status(api, url, owner) == "requested_changes"
    assert review(api, url, reviewer, reviewer_state="nonsense") == 400
    assert api.put(url, owner, state_event="close").status_code == 200
    assert review(api, url, reviewer, reviewer_state="requested_changes") == 409
    assert all(note["body"] != "No" for note in api.get(f"{url}/notes", owner).json()), "All or nothing."
