"""Editing, closing and reopening issues."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue, make_milestone
from tests.client import Api, Make
from tests.factories import make_project


def test_each_parameter_is_editable(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    milestone = make_milestone(make, project)
    iid = make_issue(make, project, owner, labels="a,b", description="old")["iid"]
    changes: list[tuple[dict[str, Any], str, Any]] = [
        ({"title": "new"}, "title", "new"),
        ({"description": "text"}, "description", "text"),
        ({"description": ""}, "description", None),
        ({"confidential": True}, "confidential", True),
        ({"confidential": False}, "confidential", False),
        ({"due_date": "2031-01-01"}, "due_date", "2031-01-01"),
        ({"due_date": None}, "due_date", None),
        ({"labels": "c, a"}, "labels", ["a", "c"]),
        ({"add_labels": "d"}, "labels", ["a", "c", "d"]),
        ({"add_labels": "d,e", "remove_labels": "e, a"}, "labels", ["c", "d"]),
        ({"remove_labels": "a,unknown"}, "labels", ["c", "d"]),
        ({"labels": ""}, "labels", []),
        ({"discussion_locked": True}, "discussion_locked", True),
        ({"state_event": "close"}, "state", "closed"),
        ({"state_event": "close"}, "state", "closed"),
        ({"state_event": "reopen"}, "state", "opened"),
        ({"state_event": "reopen"}, "state", "opened"),
    ]
    for sent, name, expected in changes:
        answer = api.put(f"/projects/{project.id}/issues/{iid}", owner, **sent)
        assert answer.status_code == 200, answer.text
        assert answer.json()[name] == expected, sent
        assert api.get(f"/projects/{project.id}/issues/{iid}", owner).json() == answer.json()
    with_milestone = api.put(f"/projects/{project.id}/issues/{iid}", owner, milestone_id=milestone["id"])
    assert with_milestone.json()["milestone"]["title"] == milestone["title"]
    assert api.put(f"/projects/{project.id}/issues/{iid}", owner, milestone_id=0).json()["milestone"] is None


def test_unsent_parameters_stay(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    before = make_issue(make, project, owner, labels="a", description="d", assignee_ids=[owner.id])

    after = api.put(f"/projects/{project.id}/issues/{before['iid']}", owner, title="t").json()

    assert after == {**before, "title": "t", "updated_at": after["updated_at"]}


def test_closing_records_user_and_time(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/issues/{make_issue(make, project, owner)['iid']}"

    closed = api.put(base, owner, state_event="close").json()
    assert (closed["closed_by"]["id"], closed["closed_at"] is not None) == (owner.id, True)
    assert api.get(f"/projects/{project.id}", owner).json()["open_issues_count"] == 0
    opened = api.put(base, owner, state_event="reopen").json()
    assert (opened["closed_by"], opened["closed_at"]) == (None, None)
    assert api.get(f"/projects/{project.id}", owner).json()["open_issues_count"] == 1


# Editor, whether they may edit, and whether they may set labels and other planning fields.
CALLERS = [
    ("author", 200, False),
    ("assignee", 200, False),
    ("stranger", 403, False),
    ("guest", 403, False),
    ("reporter", 200, True),
    ("administrator", 200, True),
]


@pytest.mark.parametrize(("who", "status", "triages"), CALLERS)
def test_permission_to_edit(api: Api, make: Make, who: str, status: int, triages: bool) -> None:
    people = {name: make.user() for name in ("author", "assignee", "stranger", "guest", "reporter")}
    levels = {people["guest"]: Level.GUEST, people["reporter"]: Level.REPORTER}
    project = make_project(make, visibility="public", members=levels)
    base = f"/projects/{project.id}/issues/{make_issue(make, project, people['author'])['iid']}"
    assert api.put(base, make.root, assignee_ids=[people["assignee"].id]).status_code == 200
    caller = {**people, "administrator": make.root}[who]

    answer = api.put(base, caller, title="edited", labels="mine", due_date="2030-01-01", assignee_ids=[])

    assert answer.status_code == status
    now = api.get(base, make.root).json()
    assert now["title"] == "edited" if status == 200 else now["title"] != "edited"
    assert (now["labels"], now["due_date"]) == ((["mine"], "2030-01-01") if triages else ([], None))
    assert (now["assignees"] == []) is triages


@pytest.mark.parametrize(("level", "kept"), [(Level.REPORTER, False), (Level.OWNER, True)])
def test_only_owners_set_the_update_date(api: Api, make: Make, level: Level, kept: bool) -> None:
    owner, reporter = make.user(), make.user()
    project = make_project(make, owner, members={reporter: Level.REPORTER})
    base = f"/projects/{project.id}/issues/{make_issue(make, project, owner)['iid']}"

    answer = api.put(
        base,
        owner if level == Level.OWNER else reporter,
        labels="label3",
        state_event="close",
        updated_at="2020-05-06T07:08:09Z",
    )

    assert answer.status_code == 200
    assert (answer.json()["updated_at"] == "2020-05-06T07:08:09.000Z") is kept


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({}, '400 (Bad request) "title" not given'),
        ({"title": ""}, {"title": ["can't be blank"]}),
        ({"title": "g" * 256}, {"title": ["is too long (maximum is 255 characters)"]}),
        ({"confidential": "foo"}, {"confidential": ["is invalid"]}),
        ({"state_event": "merge"}, {"state_event": ["is invalid"]}),
        ({"state_event": ["close"]}, {"state_event": ["is invalid"]}),
        ({"labels": "x" * 300}, {"labels": ["is too long (maximum is 255 characters)"]}),
        ({"milestone_id": -1}, {"milestone_id": ["is invalid"]}),
        ({"assignee_ids": "x"}, {"assignee_ids": ["is invalid"]}),
        ({"due_date": "31.12.2030"}, {"due_date": ["is invalid"]}),
        ({"updated_at": "yesterday", "title": "x"}, {"updated_at": ["is invalid"]}),
    ],
)
def test_invalid_input(api: Api, make: Make, sent: dict[str, Any], message: Any) -> None:
    owner = make.user()
    project = make_project(make, owner)
    before = make_issue(make, project, owner)
    path = f"/projects/{project.id}/issues/{before['iid']}"

    answer = api.put(path, owner, **sent)

    assert (answer.status_code, answer.json()) == (400, {"message": message})
    assert api.get(path, owner).json() == before


def test_missing_issues(api: Api, make: Make) -> None:
    """An unused iid, the id of a row, and an iid of another project."""
    owner = make.user()
    first, second = make_project(make, owner), make_project(make, owner)
    issue = make_issue(make, first, owner)

    for project, iid in ((first, 999), (first, issue["id"] + 10**6), (second, issue["iid"])):
        for answer in (
            api.get(f"/projects/{project.id}/issues/{iid}", owner),
            api.put(f"/projects/{project.id}/issues/{iid}", owner, title="x"),
        ):
            assert (answer.status_code, answer.json()) == (404, {"message": "404 Issue Not Found"})


@pytest.mark.parametrize(
    ("who", "status"), [("stranger", 403), ("author", 403), ("master", 403), ("owner", 200), ("administrator", 200)]
)
def test_delete(api: Api, make: Make, who: str, status: int) -> None:
    """By owners and administrators; the iid is not reused."""
    owner, master, stranger, author = (make.user() for _ in range(4))
    project = make_project(make, owner, visibility="public", members={master: Level.MASTER})
    iid = make_issue(make, project, author, labels="x")["iid"]
    path = f"/projects/{project.id}/issues/{iid}"
    people = {"owner": owner, "master": master, "stranger": stranger, "author": author, "administrator": make.root}

    assert api.delete(path, people[who]).status_code == status

    assert api.get(path, owner).status_code == (404 if status == 200 else 200)
    if status == 200:
        again = api.delete(path, people[who])
        assert (again.status_code, again.content) == (200, b"")
        assert api.get(f"/projects/{project.id}/issues", owner).json() == []
        assert api.get(f"/projects/{project.id}", owner).json()["open_issues_count"] == 0
        assert api.put(path, owner, title="x").status_code == 404
        assert make_issue(make, project, owner)["iid"] == iid + 1
    # A denied caller does not learn whether the issue exists.
    missing = api.delete(f"/projects/{project.id}/issues/999", people[who])
    assert missing.status_code == status


def test_delete_in_a_hidden_project(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="private")
    iid = make_issue(make, project, owner)["iid"]

    assert api.delete(f"/projects/{project.id}/issues/{iid}", make.user()).status_code == 404
    assert api.delete(f"/projects/{project.id}/issues/x", owner).status_code == 400
    assert api.get(f"/projects/{project.id}/issues/{iid}", owner).status_code == 200
