"""Notes, discussions and award emoji of project snippets."""

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import ids, make_project


def test_notes(api: Api, make: Make) -> None:
    """All who can see a snippet comment on it; masters edit notes of others."""
    owner, guest, other = make.user(), make.user(), make.user()
    project = make_project(make, owner, members={guest: Level.GUEST})
    sent = {"title": "t", "file_name": "f", "code": "c", "visibility": "internal"}
    number = api.post(f"/projects/{project.id}/snippets", owner, **sent).json()["id"]
    base = f"/projects/{project.id}/snippets/{number}"
    made = api.post(f"{base}/notes", guest, body="nice")
    assert made.status_code == 201, made.text
    note = made.json()
    assert (note["noteable_type"], note["noteable_id"], note["body"]) == ("Snippet", number, "nice")
    assert ids(api.get(f"/projects/{project.id}/snippets/{number}/notes", owner)) == [note["id"]]
    one = f"/projects/{project.id}/snippets/{number}/notes/{note['id']}"
    assert api.get(one, owner).json()["body"] == "nice"
    assert api.get(one, other).status_code == 404
    assert api.put(one, guest, body="nicer").json()["body"] == "nicer"
    given = api.post(f"/projects/{project.id}/snippets/{number}/notes/{note['id']}/award_emoji", owner, name="heart")
    assert given.status_code == 201, given.text
    award = given.json()["id"]
    awards = f"/projects/{project.id}/snippets/{number}/notes/{note['id']}/award_emoji/{award}"
    assert api.get(awards, guest).json()["name"] == "heart"
    assert api.delete(awards, owner).status_code == 200
    assert api.delete(one, owner).status_code == 200
    assert ids(api.get(f"{base}/notes", owner)) == []


def test_discussions(api: Api, make: Make) -> None:
    """Start, reply, edit and delete."""
    owner = make.user()
    project = make_project(make, owner)
    sent = {"title": "t", "file_name": "f", "code": "c", "visibility": "private"}
    number = api.post(f"/projects/{project.id}/snippets", owner, **sent).json()["id"]
    every = f"/projects/{project.id}/snippets/{number}/discussions"
    begun = api.post(every, owner, body="one")
    assert begun.status_code == 201, begun.text
    name = begun.json()["id"]
    assert api.get(f"/projects/{project.id}/snippets/{number}/discussions/{name}", owner).status_code == 200
    reply = api.post(f"/projects/{project.id}/snippets/{number}/discussions/{name}/notes", owner, body="two").json()
    one = f"/projects/{project.id}/snippets/{number}/discussions/{name}/notes/{reply['id']}"
    assert api.get(one, owner).json()["body"] == "two"
    assert api.put(one, owner, body="three").json()["body"] == "three"
    assert [len(discussion["notes"]) for discussion in api.get(every, owner).json()] == [2]
    assert api.delete(one, owner).status_code == 200
    assert [len(discussion["notes"]) for discussion in api.get(every, owner).json()] == [1]


def test_awards(api: Api, make: Make) -> None:
    """Awarded, removed, and deleted with the snippet."""
    owner = make.user()
    project = make_project(make, owner)
    sent = {"title": "t", "file_name": "f", "code": "c", "visibility": "private"}
    number = api.post(f"/projects/{project.id}/snippets", owner, **sent).json()["id"]
    every = f"/projects/{project.id}/snippets/{number}/award_emoji"
    given = api.post(every, owner, name="tada")
    assert given.status_code == 201, given.text
    assert ids(api.get(every, owner)) == [given.json()["id"]]
    one = f"/projects/{project.id}/snippets/{number}/award_emoji/{given.json()['id']}"
    assert api.get(one, owner).json()["awardable_type"] == "Snippet"
    assert api.delete(one, owner).status_code == 200
    assert ids(api.get(every, owner)) == []
    assert api.delete(f"/projects/{project.id}/snippets/{number}", owner).status_code == 200
    assert api.get(every, owner).status_code == 404
