"""Todos on merge requests."""

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make
from tests.conftest import Instance
from tests.smtp_server import mailbox, text_of


def test_todos(api: Api, make: Make) -> None:
    owner, helper, named = make.user(), make.user(), make.user()
    project = filled_project(make, owner, members={helper: Level.DEVELOPER, named: Level.GUEST}, visibility="private")
    made = make_merge_request(make, project, owner, assignee_id=helper.id, description=f"Look, @{named.username}")
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    marked = api.post(f"/projects/{project.id}/merge_requests/{made['iid']}/todo", owner)
    assert marked.status_code == 201, marked.text
    todo = marked.json()
    assert (todo["target_type"], todo["action_name"], todo["state"]) == ("MergeRequest", "marked", "pending")
    assert (todo["target"]["id"], todo["target_url"]) == (made["id"], made["web_url"])
    assert (todo["target"]["upvotes"], todo["body"], todo["project"]["id"]) == (0, made["title"], project.id)
    assert api.post(f"{url}/todo", owner).status_code == 304
    assert [each["action_name"] for each in api.get("/todos", helper).json()] == ["assigned"]
    assert api.get("/todos", named).json() == [], "A guest cannot see it."
    assert api.post(f"{url}/todo", named).status_code == 403
    assert [person["id"] for person in api.get(f"{url}/participants", owner).json()] == [owner.id, helper.id]
    api.delete(url, owner)
    assert api.get("/todos", owner).json() == []


def test_reviewers_get_todos(api: Api, make: Make) -> None:
    """A request for a review adds one todo for each new reviewer; the reviewer's comment completes it."""
    author, first, second = make.user(), make.user(), make.user()
    project = filled_project(make, author, members={first: Level.DEVELOPER, second: Level.DEVELOPER})
    made = make_merge_request(make, project, author, reviewer_ids=[first.id])
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    assert [each["action_name"] for each in api.get("/todos", first).json()] == ["review_requested"]
    assert api.put(url, author, reviewer_ids=[first.id, second.id]).status_code == 200
    assert len(api.get("/todos", first).json()) == 1
    (todo,) = api.get("/todos", second, action="review_requested").json()
    assert (todo["target"]["id"], todo["author"]["id"]) == (made["id"], author.id)
    assert api.post(f"{url}/notes", second, body="Good").status_code == 201
    assert api.get("/todos", second).json() == []


def test_assigned_users_are_notified(api: Api, instance: Instance, make: Make) -> None:
    """An assignment and a merge create a todo, an event and a mail, as for issues."""
    author, person, reporter = make.user(), make.user(), make.user()
    project = filled_project(make, author, members={person: Level.MASTER, reporter: Level.REPORTER})
    with mailbox(instance) as box:
        made = make_merge_request(make, project, author, assignee_id=person.id, description=f"@{reporter.username}")
        came = dict(box.receive())
        url = f"/projects/{project.id}/merge_requests/{made['iid']}"
        assert api.put(f"{url}/merge", person).status_code == 200
        assert {address for address, _ in box.receive()} == {author.email, reporter.email}

    assert set(came) == {person.email, reporter.email}
    assert came[person.email]["Message-ID"].startswith("<merge_request_")
    assert f"/merge_requests/{made['iid']}" in text_of(came[person.email])
    (done,) = api.get("/todos", person, state="done").json()
    assert (done["target_type"], done["action_name"]) == ("MergeRequest", "assigned")
    assert len(api.get("/todos", reporter, type="MergeRequest").json()) == 1
    events = api.get(f"/projects/{project.id}/events", author, target_type="merge_request").json()
    assert [event["action_name"] for event in events] == ["accepted", "opened"]
    assert (events[0]["target_type"], events[0]["target_iid"]) == ("MergeRequest", made["iid"])
