"""System notes of issues, and resource events."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project, statements_of


def system_notes(api: Api, project: Project, person: User | None, iid: int = 1) -> list[str]:
    """Return the system notes of an issue in order."""
    answer = api.get(
        f"/projects/{project.id}/issues/{iid}/notes", person, activity_filter="only_activity", sort="asc", per_page=100
    )
    assert answer.status_code == 200, answer.text
    assert all(note["system"] for note in answer.json())
    return [note["body"] for note in answer.json()]


CHANGES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"title": "two"}, "changed title from **{-one-}** to **{+two+}**"),
    ({"title": "fix the bug"}, {"title": "fix a bug"}, "changed title from **fix {-the-} bug** to **fix {+a+} bug**"),
    ({"title": "ab"}, {"title": "aab"}, "changed title from **ab** to **a{+a+}b**"),
    ({}, {"description": "more"}, "changed the description"),
    ({}, {"state_event": "close"}, "closed"),
    ({}, {"confidential": True}, "made the issue confidential"),
    ({"confidential": True}, {"confidential": False}, "made the issue visible to everyone"),
    ({}, {"due_date": "2030-01-02"}, "changed due date to January 2, 2030"),
    ({"due_date": "2030-01-02"}, {"due_date": ""}, "removed due date"),
    ({}, {"discussion_locked": True}, "locked this issue"),
]


@pytest.mark.parametrize(("created", "changed", "sentence"), CHANGES)
def test_system_note_texts(
    api: Api, make: Make, created: dict[str, Any], changed: dict[str, Any], sentence: str
) -> None:
    """Each change writes a note, which is not counted as a user note; no change writes none."""
    owner = make.user()
    project = make_project(make, owner)
    api.post(f"/projects/{project.id}/issues", owner, **{"title": "one", **created})
    assert system_notes(api, project, owner) == []
    for _ in range(2):
        answer = api.put(f"/projects/{project.id}/issues/1", owner, **changed)
        assert answer.status_code == 200, answer.text
    assert system_notes(api, project, owner) == [sentence]
    assert answer.json()["user_notes_count"] == 0


def test_notes_about_users_labels_and_milestones(api: Api, make: Make) -> None:
    """Users by name, labels by id, milestones by title."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, members={other: Level.DEVELOPER})
    base = f"/projects/{project.id}/issues/1"
    api.post(f"/projects/{project.id}/issues", owner, title="one", labels="a")
    api.put(base, owner, assignee_ids=[other.id])
    api.put(base, owner, assignee_ids=[owner.id])
    api.put(base, owner, assignee_ids=[0])
    api.put(base, owner, labels="a,b,c")
    details = api.get(f"/projects/{project.id}/issues", owner, with_labels_details=True).json()[0]["labels"]
    number = {label["name"]: label["id"] for label in details}
    api.put(base, owner, remove_labels="a", add_labels="d")
    api.put(base, owner, remove_labels="b")
    details = api.get(f"/projects/{project.id}/issues", owner, with_labels_details=True).json()[0]["labels"]
    number |= {label["name"]: label["id"] for label in details}
    milestone = api.post(f"/projects/{project.id}/milestones", owner, title="next one").json()["id"]
    api.put(base, owner, milestone_id=milestone)
    api.put(base, owner, milestone_id=0)
    assert system_notes(api, project, owner) == [
        f"assigned to @{other.username}",
        f"assigned to @{owner.username} and unassigned @{other.username}",
        f"unassigned @{owner.username}",
        f"added ~{number['b']} ~{number['c']} labels",
        f"added ~{number['d']} and removed ~{number['a']} labels",
        f"removed ~{number['b']} label",
        'changed milestone to %"next one"',
        "removed milestone",
    ]


def test_time_tracking_notes(api: Api, make: Make) -> None:
    """Estimates and time spent."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/issues/1"
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    api.post(f"{base}/time_estimate", owner, duration="1h")
    api.post(f"{base}/reset_time_estimate", owner)
    api.post(f"{base}/add_spent_time", owner, duration="2h")
    api.post(f"{base}/add_spent_time", owner, duration="-30m")
    api.post(f"{base}/reset_spent_time", owner)
    assert system_notes(api, project, owner) == [
        "changed time estimate to 1h",
        "removed time estimate",
        "added 2h of time spent",
        "subtracted 30m of time spent",
        "removed time spent",
    ]


def test_system_notes_are_read_only(api: Api, make: Make) -> None:
    """For owners too."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/issues/1"
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    api.put(base, owner, state_event="close")
    note = api.get(f"{base}/notes", owner).json()[0]
    assert (note["author"]["id"], note["system"]) == (owner.id, True)
    for person in (owner, make.root):
        assert api.put(f"{base}/notes/{note['id']}", person, body="x").status_code == 403
        assert api.delete(f"{base}/notes/{note['id']}", person).status_code == 403
        assert api.post(f"{base}/notes/{note['id']}/award_emoji", person, name="tada").status_code == 403
    assert api.get(f"{base}/notes/{note['id']}/award_emoji", owner).json() == []


def test_notes_about_moves(api: Api, make: Make) -> None:
    """Both issues have one, for users who can see the other project."""
    owner, reader = make.user(), make.user()
    here, there = make_project(make, owner, visibility="public"), make_project(make, owner, visibility="private")
    api.post(f"/projects/{here.id}/issues", owner, title="one")
    api.post(f"/projects/{here.id}/issues/1/award_emoji", reader, name="thumbsup")
    api.post(f"/projects/{here.id}/issues/1/award_emoji", owner, name="tada")
    moved = api.post(f"/projects/{here.id}/issues/1/move", owner, to_project_id=there.id)
    assert moved.status_code == 201, moved.text
    iid = moved.json()["iid"]
    assert system_notes(api, here, owner) == [f"moved to {there.path}#{iid}"]
    assert system_notes(api, there, owner, iid) == [f"moved from {here.path}#1"]
    assert system_notes(api, here, reader) == []
    assert api.get(f"/projects/{there.id}/issues/{iid}", owner).json()["upvotes"] == 1
    given = api.get(f"/projects/{there.id}/issues/{iid}/award_emoji", owner).json()
    assert [award["name"] for award in given] == ["thumbsup", "tada"]


def test_notes_about_mentions(api: Api, make: Make) -> None:
    """Once per mention, and only from authors who can see the issue."""
    owner, stranger = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    secret = make_project(make, owner, visibility="private")
    for title in ("one", "see #1 and #1, #99, `#1`", "three"):
        api.post(f"/projects/{project.id}/issues", owner, title=title)
    api.post(f"/projects/{project.id}/issues/3/notes", owner, body=f"like #1, {secret.path}#1 and #3")
    api.put(f"/projects/{project.id}/issues/2", owner, description="again #1")
    assert system_notes(api, project, owner) == ["mentioned in issue #2", "mentioned in issue #3"]
    assert system_notes(api, project, owner, 3) == []

    api.post(f"/projects/{secret.id}/issues", owner, title=f"hidden {project.path}#1")
    assert system_notes(api, project, owner)[2:] == [f"mentioned in issue {secret.path}#1"]
    assert system_notes(api, project, stranger) == ["mentioned in issue #2", "mentioned in issue #3"]
    assert api.put(secret.url, owner, issues_enabled=False).status_code == 200
    assert len(system_notes(api, project, owner)) == 2
    assert api.put(secret.url, owner, issues_enabled=True).status_code == 200
    number = api.get(f"/projects/{project.id}/issues/1/notes", owner).json()[0]["id"]
    assert api.get(f"/projects/{project.id}/issues/1/notes/{number}", owner).status_code == 200
    assert api.get(f"/projects/{project.id}/issues/1/notes/{number}", stranger).status_code == 404

    own = make_project(make, stranger, visibility="public")
    api.post(f"/projects/{own.id}/issues", stranger, title=f"guess {secret.path}#1")
    assert system_notes(api, secret, owner) == []


def test_mentions_by_url(api: Api, instance: Instance, make: Make) -> None:
    """A URL counts like a number; one of another instance does not."""
    owner = make.user()
    project = make_project(make, owner)
    for title in ("one", "two"):
        api.post(f"/projects/{project.id}/issues", owner, title=title)
    path = f"{project.path}/issues/1"
    api.put(f"/projects/{project.id}/issues/2", owner, description=f"like https://elsewhere.example.com/{path}")
    assert system_notes(api, project, owner) == []
    api.post(f"/projects/{project.id}/issues/2/notes", owner, body=f"like {instance.settings.base_url}/{path}")
    assert system_notes(api, project, owner) == ["mentioned in issue #2"]


def test_mentions_are_recorded_when_confidentiality_ends(api: Api, make: Make) -> None:
    """From notes and descriptions: issues and merge requests get notes, and users who could not see it get todos."""
    owner, guest = make.user(), make.user()
    project = make_project(make, owner, members={guest: Level.GUEST}, visibility="public", initialize_with_readme=True)
    base = f"/projects/{project.id}"
    for title in ("named by the text", "named by a note", "named in secret"):
        api.post(f"{base}/issues", owner, title=title)
    api.post(f"{base}/repository/branches", owner, branch="work", ref="master")
    offer = {"title": "mr", "source_branch": "work", "target_branch": "master"}
    assert api.post(f"{base}/merge_requests", owner, **offer).status_code == 201
    api.post(f"{base}/issues", owner, title="see #1", confidential=True)
    api.post(f"{base}/issues/4/notes", owner, body=f"see #2 and !1, @{guest.username}")
    api.post(f"{base}/issues/4/notes", owner, body=f"see #3, @{guest.username}", internal=True)
    paths = [f"{base}/issues/{iid}" for iid in (1, 2, 3)] + [f"{base}/merge_requests/1"]

    def notes_of() -> list[bool]:
        return ["mentioned in issue #4" in api.get(f"{path}/notes", owner).text for path in paths]

    assert (notes_of(), api.get("/todos", guest).json()) == ([False] * 4, [])
    api.put(f"{base}/issues/4", owner, confidential=False)
    assert notes_of() == [True, True, False, True]
    (todo,) = api.get("/todos", guest).json()
    assert (todo["action_name"], todo["body"]) == ("mentioned", f"see #2 and !1, @{guest.username}")
    api.put(f"{base}/issues/4", owner, confidential=True)
    assert notes_of() == [False] * 4
    assert api.get("/todos", guest).json() == []


def test_confidential_mentions_are_hidden(api: Api, make: Make) -> None:
    """A mention by a confidential issue is shown to no unauthorized user, also if it becomes confidential later."""
    owner = make.user()
    project = make_project(make, owner, visibility="public")
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    api.post(f"/projects/{project.id}/issues", owner, title="see #1", confidential=True)
    api.post(f"/projects/{project.id}/issues/2/notes", owner, body="see #1")
    assert system_notes(api, project, owner) == []
    api.put(f"/projects/{project.id}/issues/2", owner, confidential=False)
    assert system_notes(api, project, owner) == ["mentioned in issue #2"]
    api.put(f"/projects/{project.id}/issues/2", owner, confidential=True)
    assert system_notes(api, project, owner) == []


def test_resource_events(api: Api, make: Make) -> None:
    """Changes of labels, milestones and states."""
    owner = make.user()
    group = make_group(make, owner)
    project = make_project(make, owner, group=group)
    issue = api.post(f"/projects/{project.id}/issues", owner, title="one", labels="a").json()
    base = f"/projects/{project.id}/issues/1"
    api.put(base, owner, labels="b")
    milestone = api.post(f"/projects/{project.id}/milestones", owner, title="m").json()["id"]
    api.put(base, owner, milestone_id=milestone)
    api.put(base, owner, milestone_id=0)
    api.put(base, owner, state_event="close")
    api.put(base, owner, state_event="reopen")

    events = api.get(f"/projects/{project.id}/issues/1/resource_label_events", owner).json()
    assert [(event["action"], event["label"]["name"]) for event in events] == [
        ("add", "a"),
        ("add", "b"),
        ("remove", "a"),
    ]
    assert {(event["resource_type"], event["resource_id"]) for event in events} == {("Issue", issue["id"])}
    first = events[0]
    assert api.get(f"/projects/{project.id}/issues/1/resource_label_events/{first['id']}", owner).json() == first

    states = api.get(f"/projects/{project.id}/issues/1/resource_state_events", owner).json()
    assert [event["state"] for event in states] == ["closed", "reopened"]
    assert states[0]["user"]["id"] == owner.id
    state = api.get(f"/projects/{project.id}/issues/1/resource_state_events/{states[0]['id']}", owner)
    assert state.json() == states[0]
    assert api.get(f"/projects/{project.id}/issues/1/resource_state_events/{first['id']}", owner).status_code == 404
    assert api.get(f"/projects/{project.id}/issues/1/resource_state_events/x", owner).status_code == 400

    changed = api.get(f"/projects/{project.id}/issues/1/resource_milestone_events", owner).json()
    assert [(event["action"], event["milestone"]["id"]) for event in changed] == [
        ("add", milestone),
        ("remove", milestone),
    ]
    one = api.get(f"/projects/{project.id}/issues/1/resource_milestone_events/{changed[1]['id']}", owner)
    assert one.json() == changed[1]
    api.delete(f"/projects/{project.id}/milestones/{milestone}", owner)
    left = api.get(f"/projects/{project.id}/issues/1/resource_milestone_events", owner).json()
    assert [event["milestone"] for event in left] == [None, None]

    cost = statements_of(make, lambda: api.get(f"{base}/resource_label_events", owner))
    for label in "cdefg":
        api.put(base, owner, add_labels=label)
    assert statements_of(make, lambda: api.get(f"{base}/resource_label_events", owner)) == cost


ROLES = ["anonymous", "stranger", "external", "guest", "reporter", "author", "assignee", "administrator"]


@pytest.mark.parametrize("role", ROLES)
def test_confidential_issues_are_not_found(api: Api, make: Make, role: str) -> None:
    """Attack: read or write below a confidential issue."""
    people = {name: make.user(external=name == "external") for name in ROLES[1:-1]} | {"administrator": make.root}
    owner, person = make.user(), people.get(role)
    members = {people["guest"]: Level.GUEST, people["reporter"]: Level.REPORTER}
    project = make_project(make, owner, visibility="public", members=members)
    api.post(f"/projects/{project.id}/issues", people["author"], title="secret", confidential=True)
    base = f"/projects/{project.id}/issues/1"
    api.put(base, owner, assignee_ids=[people["assignee"].id], labels="x")
    api.put(base, owner, state_event="close")
    discussion = api.post(f"{base}/discussions", owner, body="about it").json()
    note = discussion["notes"][0]["id"]
    award = api.post(f"{base}/award_emoji", owner, name="tada").json()["id"]
    given = api.post(f"{base}/notes/{note}/award_emoji", owner, name="tada").json()["id"]
    label = api.get(f"{base}/resource_label_events", owner).json()[0]["id"]
    state = api.get(f"{base}/resource_state_events", owner).json()[0]["id"]
    of_discussion = f"{base}/discussions/{discussion['id']}"
    sees = role in ("reporter", "author", "assignee", "administrator")
    hidden = 401 if person is None else 404
    for path in (
        f"{base}/notes",
        f"{base}/notes/{note}",
        f"{base}/discussions",
        of_discussion,
        f"{of_discussion}/notes",
        f"{of_discussion}/notes/{note}",
        f"{base}/award_emoji",
        f"{base}/award_emoji/{award}",
        f"{base}/notes/{note}/award_emoji",
        f"{base}/notes/{note}/award_emoji/{given}",
        f"{base}/resource_label_events",
        f"{base}/resource_label_events/{label}",
        f"{base}/resource_state_events",
        f"{base}/resource_state_events/{state}",
        f"{base}/resource_milestone_events",
    ):
        assert api.get(path, person).status_code == (200 if sees else hidden), path
    for path, sent in (
        (f"{base}/notes", {"body": "x"}),
        (f"{base}/discussions", {"body": "x"}),
        (f"{of_discussion}/notes", {"body": "x"}),
        (f"{base}/award_emoji", {"name": "heart"}),
        (f"{base}/notes/{note}/award_emoji", {"name": "heart"}),
    ):
        assert api.post(path, person, **sent).status_code == (201 if sees else hidden), path
    if not sees:
        for path in (f"{base}/notes/{note}", f"{of_discussion}/notes/{note}"):
            assert api.put(path, person, body="x").status_code == hidden
            assert api.delete(path, person).status_code == hidden
        for path in (f"{base}/award_emoji/{award}", f"{base}/notes/{note}/award_emoji/{given}"):
            assert api.delete(path, person).status_code == hidden
        assert api.get(f"{base}/notes/{note}", owner).json()["body"] == "about it"
