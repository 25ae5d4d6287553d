"""Todos for comments on commits."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import filled_project
from tests.client import Api, Make, User
from tests.factories import Project, add_members


class CommentedCommit:
    """Commit with comments."""

    def __init__(self, api: Api, make: Make, **attributes: Any) -> None:
        self.api = api
        self.owner, self.reporter, self.guest, self.stranger = (make.user() for _ in range(4))
        members = {self.reporter: Level.REPORTER, self.guest: Level.GUEST}
        self.project: Project = filled_project(make, self.owner, members=members, **attributes)
        self.sha = api.get(f"{self.project.url}/repository/commits/master", self.owner).json()["id"]
        self.url = f"{self.project.url}/repository/commits/{self.sha}"

    def comment(self, body: str, who: User | None = None) -> dict[str, Any]:
        """Comment on it."""
        said = self.api.post(f"{self.url}/discussions", who or self.owner, body=body)
        assert said.status_code == 201, said.text
        note: dict[str, Any] = said.json()["notes"][0]
        return note | {"discussion": said.json()["id"]}

    def todos(self, who: User, **filters: Any) -> list[dict[str, Any]]:
        """Return a user's todos."""
        found: list[dict[str, Any]] = self.api.get("/todos", who, **filters).json()
        return found


@pytest.mark.parametrize("visibility", ["private", "public"])
def test_mentions_of_users_with_code_access_create_todos(api: Api, make: Make, visibility: str) -> None:
    """With the documented fields; users without code access get none, not even later."""
    place = CommentedCommit(api, make, visibility=visibility)
    people = (place.reporter, place.guest, place.stranger)
    names = " ".join(f"@{person.username}" for person in people)

    note = place.comment(f"Look here: {names}")

    called = [bool(place.todos(person)) for person in people]
    assert called == ([True, False, False] if visibility == "private" else [True, True, True])
    (todo,) = place.todos(place.reporter, type="Commit")
    assert (todo["target_type"], todo["target"]["id"], todo["action_name"]) == ("Commit", place.sha, "mentioned")
    commit = api.get(place.url, place.reporter).json()
    assert all(commit[name] == value for name, value in todo["target"].items())
    assert todo["target_url"] == f"{commit['web_url'].replace('/-/', '/')}#note_{note['id']}"
    assert (todo["body"], todo["state"]) == (note["body"], "pending")
    assert (todo["author"]["id"], todo["project"]["id"]) == (place.owner.id, place.project.id)
    assert place.todos(place.reporter, type="Issue") == []
    if visibility == "private":
        api.delete(f"{place.project.url}/members/{place.reporter.id}", place.owner)
        assert place.todos(place.reporter) == []
        assert api.post(f"/todos/{todo['id']}/mark_as_done", place.reporter).status_code == 404
        add_members(make, place.project, {place.reporter: Level.REPORTER})
        assert len(place.todos(place.reporter)) == 1


def test_todos_are_done_and_created_once(api: Api, make: Make) -> None:
    """Done by a reply or explicitly; an edit notifies only newly mentioned users."""
    place = CommentedCommit(api, make)
    name, other = f"@{place.reporter.username}", make.user()
    add_members(make, place.project, {other: Level.DEVELOPER})
    note = place.comment(f"{name} what is this?")
    (todo,) = place.todos(place.reporter)
    assert todo["action_name"] == "directly_addressed"
    place.comment(f"Well, {name}?")
    assert [one["id"] for one in place.todos(place.reporter)] == [todo["id"]]
    place.comment("This.", place.reporter)
    assert place.todos(place.reporter) == []

    body = f"{name} and @{other.username}"
    edited = api.put(f"{place.url}/discussions/{note['discussion']}/notes/{note['id']}", place.owner, body=body)
    assert edited.status_code == 200, edited.text
    assert place.todos(place.reporter) == [], "The todo was done before."
    assert len(place.todos(other)) == 1
    place.comment(name)
    (again,) = place.todos(place.reporter)
    done = api.post(f"/todos/{again['id']}/mark_as_done", place.reporter)
    assert (done.status_code, done.json()["state"], done.json()["target"]["id"]) == (201, "done", place.sha)
    old = api.post(f"{place.url}/comments", place.owner, note=f"By the old way, {name}")
    assert old.status_code == 201
    assert len(place.todos(place.reporter)) == 1


def test_commits_of_forks_have_their_own_todos(api: Api, make: Make) -> None:
    place = CommentedCommit(api, make, visibility="public")
    copy = api.post(f"{place.project.url}/fork", place.reporter).json()
    place.comment(f"@{place.stranger.username}")
    api.post(
        f"/projects/{copy['id']}/repository/commits/{place.sha}/comments",
        place.reporter,
        note=f"@{place.stranger.username}",
    )

    assert {todo["project"]["id"] for todo in place.todos(place.stranger)} == {place.project.id, copy["id"]}
    api.delete(f"/projects/{copy['id']}", place.reporter)
    assert [todo["project"]["id"] for todo in place.todos(place.stranger)] == [place.project.id]
