"""Creation of issues: parameters, permissions, validation."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue, make_milestone
from tests.client import Api, Make
from tests.factories import make_group, make_project, statements_of

FIELDS = {
    "id",
    "iid",
    "project_id",
    "title",
    "description",
    "state",
    "created_at",
    "updated_at",
    "labels",
    "milestone",
    "assignees",
    "assignee",
    "author",
    "user_notes_count",
    "due_date",
    "web_url",
    "confidential",
    "subscribed",
}


def test_every_parameter_is_stored(api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    project = make_project(make, owner, members={other: Level.DEVELOPER})
    milestone = make_milestone(make, project)

    answer = api.post(
        f"/projects/{project.id}/issues",
        owner,
        title="  It fell  ",
        description="<b>down</b>",
        confidential=True,
        assignee_ids=[other.id],
        milestone_id=milestone["id"],
        labels="bug, ui,bug",
        created_at="2020-01-02T03:04:05Z",
        due_date="2030-01-02",
    )

    assert answer.status_code == 201, answer.text
    issue = answer.json()
    assert issue.keys() >= FIELDS
    assert (issue["title"], issue["description"], issue["confidential"]) == ("It fell", "<b>down</b>", True)
    assert [person["id"] for person in issue["assignees"]] == [other.id]
    assert issue["assignee"]["id"] == other.id
    assert issue["milestone"]["id"] == milestone["id"]
    assert issue["labels"] == ["bug", "ui"]
    assert issue["created_at"] == "2020-01-02T03:04:05.000Z"
    assert issue["due_date"] == "2030-01-02"
    assert issue["web_url"].endswith(f"/{project.path}/issues/{issue['iid']}")
    assert api.get(f"/projects/{project.id}/issues/{issue['iid']}", owner).json() == issue


def test_only_one_assignee_is_stored(api: Api, make: Make) -> None:
    """The API has a list of at most one; ``assignee_id`` is the older parameter."""
    owner, first, second = make.user(), make.user(), make.user()
    project = make_project(make, owner, members={first: Level.GUEST, second: Level.GUEST})

    several = make_issue(make, project, owner, assignee_ids=[first.id, second.id])
    assert [person["id"] for person in several["assignees"]] == [first.id]
    assert make_issue(make, project, owner, assignee_id=second.id)["assignee"]["id"] == second.id
    assert make_issue(make, project, owner, assignee_ids=[0])["assignees"] == []
    base = f"/projects/{project.id}/issues/{several['iid']}"
    assert api.put(base, owner, assignee_ids=[second.id, first.id]).json()["assignee"]["id"] == second.id
    assert api.put(base, owner, assignee_ids=[]).json()["assignees"] == []
    assert api.put(base, owner, assignee_id=first.id).json()["assignee"]["id"] == first.id
    assert api.put(base, owner, assignee_id=0).json()["assignee"] is None


@pytest.mark.parametrize(
    ("level", "visibility", "status", "triages"),
    [
        (Level.NONE, "private", 404, False),
        (Level.NONE, "public", 201, False),
        (Level.GUEST, "private", 201, False),
        (Level.REPORTER, "private", 201, True),
        (Level.MASTER, "private", 201, True),
    ],
)
def test_permissions_to_create_and_to_label(
    api: Api, make: Make, level: Level, visibility: str, status: int, triages: bool
) -> None:
    """All users who can see issues create them; labels of callers below reporter are ignored, and none is created."""
    owner, caller = make.user(), make.user()
    project = make_project(make, owner, visibility=visibility, members={caller: level})
    milestone = make_milestone(make, project)

    answer = api.post(
        f"/projects/{project.id}/issues",
        caller,
        title="one",
        labels="new",
        milestone_id=milestone["id"],
        assignee_ids=[caller.id],
        due_date="2030-01-01",
        confidential=True,
    )

    assert answer.status_code == status, answer.text
    if status != 201:
        return
    issue = answer.json()
    assert issue["labels"] == (["new"] if triages else [])
    assert (issue["milestone"] is not None) is triages
    assert (issue["assignees"] != []) is triages
    assert issue["due_date"] == ("2030-01-01" if triages else None)
    assert issue["confidential"] is True


@pytest.mark.parametrize(("level", "kept"), [(Level.MASTER, False), (Level.OWNER, True)])
def test_only_owners_set_the_creation_date(make: Make, level: Level, kept: bool) -> None:
    caller = make.user()
    project = make_project(make, group=make_group(make, members={caller: level}))

    issue = make_issue(make, project, caller, created_at="2020-01-02T03:04:05Z")

    assert (issue["created_at"] == "2020-01-02T03:04:05.000Z") is kept


def test_labels_with_special_characters(make: Make) -> None:
    """Only commas separate labels."""
    owner = make.user()
    project = make_project(make, owner)

    issue = make_issue(make, project, owner, labels="label, label?, label&foo, ?, &, größer/schöner")

    assert sorted(issue["labels"]) == sorted(["label", "label?", "label&foo", "?", "&", "größer/schöner"])
    assert make_issue(make, project, owner, labels=["a", " b "])["labels"] == ["a", "b"]


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({}, '400 (Bad request) "title" not given'),
        ({"title": ""}, '400 (Bad request) "title" not given'),
        ({"title": "  "}, {"title": ["can't be blank"]}),
        ({"title": "g" * 256}, {"title": ["is too long (maximum is 255 characters)"]}),
        ({"title": "x" * 2**20}, {"title": ["is too long (maximum is 255 characters)"]}),
        ({"title": ["x"]}, {"title": ["is invalid"]}),
        ({"title": {"a": 1}}, {"title": ["is invalid"]}),
        ({"title": "a\0b"}, {"title": ["is invalid"]}),
        ({"title": "x", "confidential": "maybe"}, {"confidential": ["is invalid"]}),
        ({"title": "x", "assignee_ids": ["me"]}, {"assignee_ids": ["is invalid"]}),
        ({"title": "x", "assignee_ids": [2**70]}, {"assignee_ids": ["is invalid"]}),
        ({"title": "x", "milestone_id": "next"}, {"milestone_id": ["is invalid"]}),
        ({"title": "x", "milestone_id": 999_999_999}, {"milestone_id": ["is invalid"]}),
        ({"title": "x", "due_date": "tomorrow"}, {"due_date": ["is invalid"]}),
        ({"title": "x", "due_date": "2030-02-30"}, {"due_date": ["is invalid"]}),
        ({"title": "x", "created_at": "5"}, {"created_at": ["is invalid"]}),
        ({"title": "x", "labels": [["a"]]}, {"labels": ["is invalid"]}),
        ({"title": "x", "labels": "l" * 256}, {"labels": ["is too long (maximum is 255 characters)"]}),
        ({"title": "x", "labels": [str(n) for n in range(101)]}, {"labels": ["cannot be more than 100"]}),
        (
            {"title": "x", "description": "d" * 1_000_001},
            {"description": ["is too long (maximum is 1000000 characters)"]},
        ),
    ],
)
def test_invalid_input(api: Api, make: Make, sent: dict[str, Any], message: Any) -> None:
    owner = make.user()
    project = make_project(make, owner)

    answer = api.post(f"/projects/{project.id}/issues", owner, **sent)

    assert (answer.status_code, answer.json()) == (400, {"message": message})
    assert api.get(f"/projects/{project.id}/issues", owner).json() == []


def test_texts_are_stored_unchanged(api: Api, make: Make) -> None:
    """HTML, scripts, non-Latin text and a million characters."""
    owner = make.user()
    project = make_project(make, owner)
    title, text = "<script>alert('ä')</script> \U0001f98a \u202e'; DROP TABLE issues", "🦊" * 1_000_000

    issue = make_issue(make, project, owner, title=title, description=text)

    assert (issue["title"], issue["description"]) == (title, text)
    assert api.get(f"/projects/{project.id}/issues", owner, search="SCRIPT>ALERT('Ä").json()[0]["title"] == title


def test_form_fields_and_query(api: Api, make: Make) -> None:
    """The specification allows parameters in the query string or as form fields."""
    owner = make.user()
    project = make_project(make, owner)

    form = api.request(
        "POST",
        f"/projects/{project.id}/issues",
        owner,
        data={"title": "form", "labels": "a,b", "assignee_ids[]": str(owner.id), "confidential": "1"},
    )
    query = api.request("POST", f"/projects/{project.id}/issues?title=query&labels=c", owner)

    assert (form.status_code, form.json()["labels"], form.json()["confidential"]) == (201, ["a", "b"], True)
    assert form.json()["assignee"]["id"] == owner.id
    assert (query.status_code, query.json()["labels"]) == (201, ["c"])


def test_objects_of_hidden_projects_are_not_found(api: Api, make: Make) -> None:
    """Attack: a milestone or user of a hidden project is not found, and its title is never echoed."""
    owner, attacker, hidden = make.user(), make.user(), make.user()
    secret = make_project(make, owner, visibility="private")
    milestone = make_milestone(make, secret, title="Take over the world")
    own = make_project(make, attacker, visibility="private")

    refused = api.post(f"/projects/{own.id}/issues", attacker, title="x", milestone_id=milestone["id"])
    unknown = api.post(f"/projects/{own.id}/issues", attacker, title="x", milestone_id=2**62)
    passed_over = make_issue(make, own, attacker, assignee_ids=[hidden.id])
    issue = f"/projects/{own.id}/issues/{passed_over['iid']}"

    assert refused.status_code == unknown.status_code == 400
    assert refused.json() == unknown.json()
    assert passed_over["assignees"] == []
    assert api.put(issue, attacker, milestone_id=milestone["id"]).status_code == 400
    assert api.put(issue, attacker, assignee_id=hidden.id).json()["assignees"] == []
    assert "world" not in api.get(issue, attacker).text


def test_discussions_of_a_missing_merge_request_are_ignored(make: Make) -> None:
    """The issue is created without them."""
    owner = make.user()
    project = make_project(make, owner)

    issue = make_issue(
        make, project, owner, title="after", merge_request_to_resolve_discussions_of=77, discussion_to_resolve="x"
    )

    assert (issue["title"], issue["description"]) == ("after", None)


def test_user_agent_details(api: Api, make: Make) -> None:
    """User agent and address of the author, for administrators only."""
    owner = make.user()
    project = make_project(make, owner)
    made = api.request(
        "POST", f"/projects/{project.id}/issues", owner, json={"title": "x"}, headers={"User-Agent": "curious/1.0"}
    )
    path = f"/projects/{project.id}/issues/{made.json()['iid']}/user_agent_detail"

    shown = api.get(path, make.root)

    assert (shown.status_code, shown.json()["user_agent"], shown.json()["ip_address"]) == (
        200,
        "curious/1.0",
        "127.0.0.1",
    )
    assert shown.json()["spamfilter_submitted"] is False
    assert api.get(path, owner).status_code == 403
    assert api.get(f"/projects/{project.id}/issues/999/user_agent_detail", make.root).status_code == 404


def test_statement_count(api: Api, make: Make) -> None:
    """Subscribers do not read the new issue again; one statement announces the change to open pages.

    If a user of the instance watches projects, which other tests may leave behind, two statements find the recipients.
    """
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/issues"
    assert statements_of(make, lambda: api.post(base, owner, title="one", description="more")) <= 18
    assert statements_of(make, lambda: api.post(f"{base}/1/notes", owner, body="indeed")) <= 18
