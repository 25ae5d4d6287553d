"""Discussions of issues and commits."""

import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import ids, make_project
from tests.git_history import History
from tests.roles import UsersByRole, project_with


def test_start_reply_edit(api: Api, make: Make) -> None:
    """Life cycle of a discussion of an issue."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    begun = api.post(f"/projects/{project.id}/issues/1/discussions", owner, body="first")
    assert begun.status_code == 201, begun.text
    discussion = begun.json()
    assert discussion["individual_note"] is False
    assert [(note["body"], note["type"]) for note in discussion["notes"]] == [("first", "DiscussionNote")]
    name = discussion["id"]
    answered = api.post(f"/projects/{project.id}/issues/1/discussions/{name}/notes", other, body="second")
    assert (answered.status_code, answered.json()["type"]) == (201, "DiscussionNote")
    number = answered.json()["id"]
    shown = api.get(f"/projects/{project.id}/issues/1/discussions/{name}", owner).json()
    assert [note["body"] for note in shown["notes"]] == ["first", "second"]
    assert api.get(f"/projects/{project.id}/issues/1/discussions/{name}/notes", owner).json() == shown["notes"]
    assert (
        api.get(f"/projects/{project.id}/issues/1/discussions/{name}/notes/{number}", owner).json() == shown["notes"][1]
    )
    edited = api.put(f"/projects/{project.id}/issues/1/discussions/{name}/notes/{number}", other, body="edited")
    assert (edited.status_code, edited.json()["body"]) == (200, "edited")
    stranger = make.user()
    refused = api.delete(f"/projects/{project.id}/issues/1/discussions/{name}/notes/{number}", stranger)
    assert refused.status_code == 403
    for _ in range(2):
        gone = api.delete(f"/projects/{project.id}/issues/1/discussions/{name}/notes/{number}", other)
        assert gone.status_code == 200
    assert api.get(f"/projects/{project.id}/issues/1", owner).json()["user_notes_count"] == 1


def test_an_individual_note_becomes_a_discussion(api: Api, make: Make) -> None:
    """An individual note is listed as a discussion and becomes one with a reply; system notes accept no replies."""
    owner = make.user()
    project = make_project(make, owner)
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    base = f"/projects/{project.id}/issues/1"
    api.post(f"{base}/notes", owner, body="alone")
    api.post(f"{base}/discussions", owner, body="other")
    api.put(base, owner, state_event="close")
    alone, other, system = api.get(f"{base}/discussions", owner).json()
    assert [one["individual_note"] for one in (alone, other, system)] == [True, False, True]
    assert api.post(f"{base}/discussions/{system['id']}/notes", owner, body="x").status_code == 400
    assert api.post(f"{base}/discussions/{alone['id']}/notes", owner, body="answer").status_code == 201
    shown = api.get(f"{base}/discussions/{alone['id']}", owner).json()
    assert shown["individual_note"] is False
    assert [note["type"] for note in shown["notes"]] == ["DiscussionNote"] * 2
    page = api.get(f"{base}/discussions", owner, per_page=1, page=2)
    assert [one["id"] for one in page.json()] == [other["id"]]
    assert page.headers["x-total"] == "3"


@pytest.mark.parametrize("name", ["x", "0" * 40, "%00", "1' OR '1'='1", "ü" * 300])
def test_missing_discussions(api: Api, make: Make, name: str) -> None:
    """Get 404."""
    owner = make.user()
    project = make_project(make, owner)
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    answer = api.get(f"/projects/{project.id}/issues/1/discussions/{name}", owner)
    assert answer.status_code in (400, 404)
    answer = api.post(f"/projects/{project.id}/issues/1/discussions/{name}/notes", owner, body="x")
    assert answer.status_code in (400, 404)


def test_notes_of_another_discussion(api: Api, make: Make) -> None:
    """A note is found only below its own discussion."""
    owner = make.user()
    project = make_project(make, owner)
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    base = f"/projects/{project.id}/issues/1/discussions"
    one, two = (api.post(base, owner, body=body).json() for body in ("one", "two"))
    number = one["notes"][0]["id"]
    assert api.get(f"{base}/{two['id']}/notes/{number}", owner).status_code == 404
    assert api.put(f"{base}/{two['id']}/notes/{number}", owner, body="x").status_code == 404
    assert api.delete(f"{base}/{two['id']}/notes/{number}", owner).status_code == 200
    assert api.get(f"{base}/{one['id']}/notes/{number}", owner).status_code == 200


def test_discussions_of_commits(instance: Instance, api: Api, make: Make) -> None:
    """For users who can read the code; comments are listed as discussions."""
    roles = UsersByRole(make)
    project = project_with(make, roles)
    history = History()
    history.commit(files={"a": "1\n"})
    sha = history.fill(instance, project)[1]
    url = f"/projects/{project.id}"
    begun = api.post(f"{url}/repository/commits/{sha}/discussions", roles.developer, body="first")
    assert begun.status_code == 201, begun.text
    note = begun.json()["notes"][0]
    assert (note["noteable_type"], note["commit_id"], note["noteable_id"]) == ("Commit", sha, None)
    name = begun.json()["id"]
    answered = api.post(f"{url}/repository/commits/{sha}/discussions/{name}/notes", roles.reporter, body="second")
    assert answered.status_code == 201, answered.text
    number = answered.json()["id"]
    shown = api.get(f"{url}/repository/commits/{sha[:10]}/discussions/{name}", roles.owner).json()
    assert ids(api.get(f"{url}/repository/commits/{sha}/discussions/{name}/notes", roles.owner)) == [note["id"], number]
    assert [one["body"] for one in shown["notes"]] == ["first", "second"]
    got = api.get(f"{url}/repository/commits/{sha}/discussions/{name}/notes/{number}", roles.owner)
    assert got.json()["body"] == "second"
    put = api.put(f"{url}/repository/commits/{sha}/discussions/{name}/notes/{number}", roles.reporter, body="edited")
    assert put.json()["body"] == "edited"
    assert (
        api.put(
            f"{url}/repository/commits/{sha}/discussions/{name}/notes/{number}", roles.developer, body="x"
        ).status_code
        == 403
    )
    api.post(f"{url}/repository/commits/{sha}/comments", roles.owner, note="comment", path="a", line=1)
    listed = api.get(f"{url}/repository/commits/{sha}/discussions", roles.owner).json()
    assert [[one["type"] for one in discussion["notes"]] for discussion in listed] == [
        ["DiscussionNote", "DiscussionNote"],
        ["DiffNote"],
    ]
    gone = api.delete(f"{url}/repository/commits/{sha}/discussions/{name}/notes/{number}", roles.master)
    assert gone.status_code == 200
    for person, status in ((roles.guest, 403), (roles.stranger, 404), (None, 401)):
        assert api.get(f"{url}/repository/commits/{sha}/discussions", person).status_code == status
        assert api.get(f"{url}/repository/commits/{sha}/discussions/{name}", person).status_code == status
        assert api.post(f"{url}/repository/commits/{sha}/discussions", person, body="x").status_code == status
        written = api.post(f"{url}/repository/commits/{sha}/discussions/{name}/notes", person, body="x")
        assert written.status_code == status
    assert api.get(f"{url}/repository/commits/{'0' * 40}/discussions", roles.owner).status_code == 404
    assert api.post(f"{url}/repository/commits/{'0' * 40}/discussions", roles.owner, body="x").status_code == 404
    assert api.post(f"{url}/repository/commits/{sha}/discussions", roles.owner, body=" ").status_code == 400
    api.post(f"{url}/archive", roles.owner)
    assert api.post(f"{url}/repository/commits/{sha}/discussions", roles.owner, body="x").status_code == 403
