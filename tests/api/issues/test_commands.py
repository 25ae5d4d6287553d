"""Quick actions in descriptions and notes."""

from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue, make_milestone
from tests.client import Api, Make, User
from tests.factories import Project, make_project

HOUR = 3600


class IssueSetup(NamedTuple):
    """Project for quick actions on issues."""

    owner: User
    reporter: User
    author: User
    project: Project
    other: Project


@pytest.fixture(scope="module")
def setup(api: Api, make: Make) -> IssueSetup:
    """Return a project, created once; every test creates its own issue."""
    owner, reporter, author = make.user(), make.user(), make.user()
    members = {reporter: Level.REPORTER, author: Level.GUEST}
    project = make_project(make, owner, visibility="private", members=members)
    other = make_project(make, owner, visibility="private", members={reporter: Level.REPORTER})
    for name in ("bug", "two words", "old"):
        assert api.post(f"{project.url}/labels", owner, name=name, color="#ff0000").status_code == 201
    make_milestone(make, project, title="v 1")
    return IssueSetup(owner, reporter, author, project, other)


def command(api: Api, setup: IssueSetup, issue: dict[str, Any], body: str, person: User | None = None) -> Any:
    """Write a note and return the response."""
    return api.post(f"{setup.project.url}/issues/{issue['iid']}/notes", person or setup.reporter, body=body)


def shown(api: Api, setup: IssueSetup, issue: dict[str, Any]) -> dict[str, Any]:
    """Return the current state of the issue."""
    now: dict[str, Any] = api.get(f"{setup.project.url}/issues/{issue['iid']}", setup.reporter).json()
    return now


CASES: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({}, "/close", {"state": "closed"}),
    ({}, "/close\n/reopen", {"state": "closed"}),
    ({}, "/title Something else", {"title": "Something else"}),
    ({"labels": "old"}, '/label ~bug ~"two words" nope', {"labels": ["bug", "old", "two words"]}),
    ({"labels": "old"}, "/label bug", {"labels": ["bug", "old"]}),
    ({"labels": "old,bug"}, "/unlabel ~bug", {"labels": ["old"]}),
    ({"labels": "old,bug"}, "/unlabel", {"labels": []}),
    ({"labels": "old,bug"}, '/relabel ~"two words"', {"labels": ["two words"]}),
    ({}, '/milestone %"v 1"', {"milestone": "v 1"}),
    ({}, "/milestone v 1", {"milestone": "v 1"}),
    ({}, "/milestone %1", {"milestone": "v 1"}),
    ({}, "/milestone %nope", {"milestone": None}),
    ({}, '/milestone %"v 1"\n/remove_milestone', {"milestone": None}),
    ({}, "/due 2030-01-31", {"due_date": "2030-01-31"}),
    ({"due_date": "2030-01-31"}, "/remove_due_date", {"due_date": None}),
    ({}, "/due whenever", {"due_date": None}),
    ({}, "/estimate 1h 30m", {"time_estimate": 5400}),
    ({}, "/estimate 1h1h", {"time_estimate": 0}),
    ({}, "/estimate 1h\n/remove_estimate", {"time_estimate": 0}),
    ({}, "/spend 2h\n/spend -30m", {"total_time_spent": 5400}),
    ({}, "/spend 1h\n/spend -2h", {"total_time_spent": HOUR}),
    ({}, "/spend 1h\n/remove_time_spent", {"total_time_spent": 0}),
    ({}, "/confidential", {"confidential": True}),
    ({}, "/award :tada:\n/award thumbsup", {"upvotes": 1}),
    ({}, "/award thumbsup\n/award thumbsup", {"upvotes": 0}),
    ({}, "/award :no-such-emoji:", {"upvotes": 0}),
    ({}, "/subscribe", {"subscribed": True}),
    ({}, "/todo\n/done", {"state": "opened"}),
    ({}, "`/close`\n> /close\n```\n/close\n```", {"state": "opened"}),
]


@pytest.mark.parametrize(("created", "body", "expected"), CASES)
def test_quick_actions_in_notes(
    api: Api, make: Make, setup: IssueSetup, created: dict[str, Any], body: str, expected: dict[str, Any]
) -> None:
    issue = make_issue(make, setup.project, setup.owner, **created)

    answer = command(api, setup, issue, body)

    assert answer.status_code in (201, 202), answer.text
    now = shown(api, setup, issue)
    now |= {name: now["time_stats"][name] for name in ("time_estimate", "total_time_spent")}
    now["milestone"] = now["milestone"]["title"] if now["milestone"] else None
    assert {name: now[name] for name in expected} == expected
    assert now["user_notes_count"] == (1 if answer.status_code == 201 else 0)


def test_time_that_cannot_be_subtracted_is_reported(api: Api, make: Make, setup: IssueSetup) -> None:
    issue = make_issue(make, setup.project, setup.owner)
    answer = command(api, setup, issue, "/spend 1h\n/spend -2h\n/spend -30m")
    reason = "Time to subtract exceeds the total time spent."
    assert answer.json()["summary"] == ["Added 1h spent time.", reason, "Subtracted 30m spent time."]
    assert shown(api, setup, issue)["time_stats"]["total_time_spent"] == HOUR / 2
    longest = f"{(2**31 - 1) // HOUR}h"
    assert command(api, setup, issue, f"/spend {longest}").json()["summary"] == [
        "The total time spent would be too long."
    ]


def test_board_move(api: Api, make: Make, setup: IssueSetup) -> None:
    """Moves the issue to an existing list and out of the others; other labels stay."""
    url = setup.project.url
    board = api.get(f"{url}/boards", setup.owner).json()[0]["id"]
    for title in ("board-doing", "board-done"):
        label = api.post(f"{url}/labels", setup.owner, name=title, color="#fff").json()["id"]
        assert api.post(f"{url}/boards/{board}/lists", setup.owner, label_id=label).status_code == 201
    issue = make_issue(make, setup.project, setup.owner, labels="board-doing,board-other")

    def labels(body: str, person: User | None = None) -> list[str]:
        assert command(api, setup, issue, body, person).status_code == 202
        found: list[str] = shown(api, setup, issue)["labels"]
        return found

    assert labels("/board_move ~board-other") == ["board-doing", "board-other"]
    assert labels("/board_move ~board-doing ~board-done") == ["board-doing", "board-other"]
    assert labels("/board_move ~board-done", setup.author) == ["board-doing", "board-other"]
    assert labels("/board_move ~board-done") == ["board-done", "board-other"]


def test_assign_and_unassign(api: Api, make: Make, setup: IssueSetup) -> None:
    issue = make_issue(make, setup.project, setup.owner)
    stranger = make.user()

    def assignee(body: str) -> str | None:
        assert command(api, setup, issue, body).status_code == 202
        found = shown(api, setup, issue)["assignee"]
        return found["username"] if found else None

    assert assignee(f"/assign @{setup.owner.username}") == setup.owner.username
    assert assignee(f"/reassign @{setup.author.username}") == setup.author.username
    assert assignee(f"/assign @{stranger.username}") == setup.author.username
    assert assignee("/assign me") == setup.reporter.username
    assert assignee(f"/unassign @{setup.owner.username}") == setup.reporter.username
    assert assignee("/unassign") is None
    assert assignee("/assign @no-such-person") is None


def test_response_to_quick_actions(api: Api, make: Make, setup: IssueSetup) -> None:
    """A note with quick actions only is not stored; other text is stored without them."""
    issue = make_issue(make, setup.project, setup.owner)

    alone = command(api, setup, issue, "/close\n/label ~bug")
    assert alone.status_code == 202
    assert alone.json()["commands_changes"] == {"state_event": "close", "add_labels": ["bug"]}
    assert alone.json()["summary"] == ["Closed this.", "Added ~bug label."]

    mixed = command(api, setup, issue, "Not yet.\n/reopen\n/cc @somebody\n")
    assert mixed.status_code == 201
    assert mixed.json()["body"] == "Not yet.\n/cc @somebody"
    assert shown(api, setup, issue)["state"] == "opened"

    for path in ("discussions", f"discussions/{_discussion(api, setup, issue)}/notes"):
        url = f"{setup.project.url}/issues/{issue['iid']}/{path}"
        assert api.post(url, setup.reporter, body="/close").status_code == 202
        assert shown(api, setup, issue)["state"] == "closed"
        assert api.post(url, setup.reporter, body="So.\n/reopen").status_code == 201
        assert shown(api, setup, issue)["state"] == "opened"


def _discussion(api: Api, setup: IssueSetup, issue: dict[str, Any]) -> str:
    """Return a discussion started by a note."""
    found = api.get(f"{setup.project.url}/issues/{issue['iid']}/discussions", setup.reporter).json()
    return next(str(one["id"]) for one in found if not one["notes"][0]["system"])


def test_actions_without_permission_are_ignored(api: Api, make: Make, setup: IssueSetup) -> None:
    """A guest may comment and close their own issue; planning requires a reporter."""
    text = (
        '/close\n/title Mine\n/label ~bug\n/assign me\n/milestone %"v 1"\n/due tomorrow\n/estimate 1h\n/spend 1h\n'
        f"/confidential\n/duplicate #1\n/move {setup.other.path}"
    )
    theirs = make_issue(make, setup.project, setup.owner)
    answer = command(api, setup, theirs, text, setup.author)
    assert answer.status_code == 202
    assert answer.json() == {"commands_changes": {}, "summary": []}
    assert shown(api, setup, theirs)["updated_at"] == theirs["updated_at"]

    own = make_issue(make, setup.project, setup.author)
    assert command(api, setup, own, "Done.\n/close\n/label ~bug", setup.author).json()["body"] == "Done."
    now = shown(api, setup, own)
    assert (now["state"], now["labels"]) == ("closed", [])


def test_quick_actions_in_descriptions(api: Api, make: Make, setup: IssueSetup) -> None:
    text = 'It broke.\n\n/label ~bug\n/assign me\n/milestone %"v 1"\n/due 2030-01-02\n/estimate 2h\n/spend 1h\n/close'
    sent = {"description": text, "labels": "old"}

    made = make_issue(make, setup.project, setup.reporter, **sent)
    assert made["description"] == "It broke."
    assert (made["labels"], made["state"], made["due_date"]) == (["bug", "old"], "opened", "2030-01-02")
    assert made["assignee"]["username"] == setup.reporter.username
    assert made["milestone"]["title"] == "v 1"
    assert made["time_stats"]["time_estimate"] == 2 * HOUR
    assert made["time_stats"]["total_time_spent"] == HOUR

    by_guest = make_issue(make, setup.project, setup.author, description="/label ~bug\n/confidential")
    assert (by_guest["labels"], by_guest["confidential"], by_guest["description"]) == ([], True, None)


def test_duplicates(api: Api, make: Make, setup: IssueSetup) -> None:
    first, second = (make_issue(make, setup.project, setup.owner) for _ in range(2))
    secret = make_issue(make, setup.project, setup.owner, confidential=True)

    def system_notes(issue: dict[str, Any]) -> list[str]:
        url = f"{setup.project.url}/issues/{issue['iid']}/notes"
        return [note["body"] for note in api.get(url, setup.author, sort="asc").json()]

    assert command(api, setup, second, f"/duplicate #{first['iid']}").status_code == 202
    assert shown(api, setup, second)["state"] == "closed"
    assert system_notes(first) == [f"marked #{second['iid']} as a duplicate of this issue"]
    assert system_notes(second) == ["closed", f"marked this issue as a duplicate of #{first['iid']}"]
    command(api, setup, first, f"/duplicate #{secret['iid']}\n/duplicate #{first['iid']}\n/duplicate #99999")
    assert shown(api, setup, first)["state"] == "closed"
    assert not any(str(secret["iid"]) in text for text in system_notes(first) if "duplicate of #" in text)
    assert api.put(f"{setup.project.url}/issues/{second['iid']}", setup.owner, confidential=True).status_code == 200
    assert system_notes(first) == ["closed"]


def test_moving(api: Api, make: Make, setup: IssueSetup) -> None:
    link = f"![a](/uploads/{'a' * 32}/a.png)"
    issue = make_issue(make, setup.project, setup.reporter, description=link)

    nowhere = command(api, setup, issue, f"/move {setup.project.path}\n/move no/such\n/move 7")
    assert nowhere.json()["summary"] == []
    answer = command(api, setup, issue, f"Over there.\n/label ~bug\n/move {setup.other.path}\n/move {setup.other.path}")
    assert answer.status_code == 201

    now = shown(api, setup, issue)
    assert (now["state"], now["labels"]) == ("closed", ["bug"])
    (moved,) = api.get(f"{setup.other.url}/issues", setup.reporter).json()
    assert moved["id"] == now["moved_to_id"]
    assert moved["description"] == f"![a](/{setup.project.path}/uploads/{'a' * 32}/a.png)"
    notes = api.get(f"{setup.other.url}/issues/{moved['iid']}/notes", setup.reporter).json()
    assert "Over there." in [note["body"] for note in notes]


def test_all_actions_are_applied_or_none(api: Api, make: Make, setup: IssueSetup) -> None:
    """When one action fails, no other action and no note is applied."""
    issue = make_issue(make, setup.project, setup.owner)
    for some in (range(60), range(60, 101)):
        make_issue(make, setup.project, setup.owner, labels=",".join(f"l{number}" for number in some))
    words = " ".join(f"l{number}" for number in range(60))
    more = " ".join(f"l{number}" for number in range(60, 101))

    assert command(api, setup, issue, f"Look.\n/close\n/label {words}\n/label {more}").status_code == 400

    now = shown(api, setup, issue)
    assert (now["state"], now["labels"], now["user_notes_count"]) == ("opened", [], 0)


def test_objects_of_other_projects_are_not_found(api: Api, make: Make, setup: IssueSetup) -> None:
    """Attack: an action reaches, or reveals the existence of, objects of another project."""
    issue = make_issue(make, setup.project, setup.owner)
    hidden = make_project(make, visibility="private")
    for path, sent in {"labels": {"name": "hidden", "color": "#ff0000"}, "milestones": {"title": "hidden"}}.items():
        assert api.post(f"{hidden.url}/{path}", make.root, **sent).status_code == 201
    label = api.get(f"{hidden.url}/labels", make.root).json()[0]["id"]
    make_issue(make, hidden, make.root)
    text = f"/label ~hidden ~{label}\n/milestone %hidden\n/move {hidden.path}\n/duplicate {hidden.path}#1"

    for named in (text, text.replace(hidden.path, "no/such")):
        answer = command(api, setup, issue, named)
        assert (answer.status_code, answer.json()) == (202, {"commands_changes": {}, "summary": []})
