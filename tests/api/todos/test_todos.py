"""Todos: creation, lists and completion."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue
from tests.client import Api, Make, User
from tests.factories import Project, ids, make_group, make_project, statements_of


def _todos(api: Api, person: User, **filters: Any) -> list[dict[str, Any]]:
    answer = api.get("/todos", person, **filters)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def _actions(api: Api, person: User, **filters: Any) -> list[str]:
    return [todo["action_name"] for todo in _todos(api, person, **filters)]


def test_mark_a_todo(api: Api, make: Make) -> None:
    """With exactly the documented fields; a second call changes nothing."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    issue = make_issue(make, project, owner, title="look")

    made = api.post(f"/projects/{project.id}/issues/{issue['iid']}/todo", other)

    assert made.status_code == 201, made.text
    todo = made.json()
    assert list(todo) == [
        "id",
        "project",
        "author",
        "action_name",
        "target_type",
        "target",
        "target_url",
        "body",
        "state",
        "created_at",
    ]
    assert list(todo["project"]) == ["id", "name", "name_with_namespace", "path", "path_with_namespace"]
    assert todo["project"]["path_with_namespace"] == project.path
    assert (todo["author"]["id"], todo["action_name"], todo["state"]) == (other.id, "marked", "pending")
    assert (todo["target_type"], todo["target"]["id"], todo["body"]) == ("Issue", issue["id"], "look")
    assert (todo["target"]["upvotes"], todo["target"]["downvotes"]) == (0, 0)
    assert todo["target_url"] == issue["web_url"]
    again = api.post(f"/projects/{project.id}/issues/{issue['iid']}/todo", other)
    assert (again.status_code, again.content) == (304, b"")
    assert _todos(api, other) == [todo]
    assert _todos(api, owner) == []
    done = api.post(f"/todos/{todo['id']}/mark_as_done", other)
    assert (done.status_code, done.json()["state"]) == (201, "done")
    assert api.post(f"/projects/{project.id}/issues/{issue['iid']}/todo", other).status_code == 201
    assert api.post(f"/projects/{project.id}/issues/999/todo", other).status_code == 404


def test_targets_show_the_subscription(api: Api, make: Make) -> None:
    """As in the single view: for assigned, commented and authored issues."""
    owner, person = make.user(), make.user()
    project = make_project(make, owner, members={person: Level.DEVELOPER}, initialize_with_readme=True)
    paths = [f"/projects/{project.id}/issues/{make_issue(make, project, owner)['iid']}" for _ in range(4)]
    api.post(f"/projects/{project.id}/repository/branches", owner, branch="work", ref="master")
    asked = {"source_branch": "work", "target_branch": "master", "title": "mr"}
    request = api.post(f"/projects/{project.id}/merge_requests", owner, **asked).json()
    paths.append(f"/projects/{project.id}/merge_requests/{request['iid']}")
    api.put(paths[1], owner, assignee_ids=[person.id])
    api.post(f"{paths[2]}/subscribe", person)
    api.post(f"{paths[3]}/notes", person, body="x")
    for path in paths:
        api.post(f"{path}/todo", person)
    shown = {todo["target"]["web_url"]: todo["target"]["subscribed"] for todo in api.get("/todos", person).json()}
    each = [api.get(path, person).json() for path in paths]
    assert shown == {one["web_url"]: one["subscribed"] for one in each}
    assert [one["subscribed"] for one in each] == [False, True, True, True, False]


def test_concurrent_marking(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    url = f"/projects/{project.id}/issues/{make_issue(make, project, owner)['iid']}/todo"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: api.post(url, owner).status_code, range(8)))

    assert sorted(answers) == [201] + [304] * 7
    assert len(_todos(api, owner)) == 1


def test_assignment_todos(api: Api, make: Make) -> None:
    """The assignee gets a todo, also on self-assignment; it is kept after reassignment."""
    owner, assignee = make.user(), make.user()
    project = make_project(make, owner, members={assignee: Level.DEVELOPER})
    issue = make_issue(make, project, owner, assignee_ids=[assignee.id])
    url = f"/projects/{project.id}/issues/{issue['iid']}"
    (todo,) = _todos(api, assignee)
    assert (todo["action_name"], todo["author"]["id"], todo["target"]["id"]) == ("assigned", owner.id, issue["id"])

    api.put(url, owner, assignee_ids=[owner.id])

    assert _actions(api, owner) == _actions(api, assignee) == ["assigned"]
    api.put(url, owner, title="changed")
    assert _actions(api, owner) == []
    assert _actions(api, owner, state="done") == ["assigned"]


def test_mention_todos(api: Api, make: Make) -> None:
    """For users who can see the issue, each once; users at the beginning of a text are directly addressed."""
    owner, spoken_to, named, outsider = (make.user() for _ in range(4))
    project = make_project(make, owner, members={spoken_to: Level.GUEST, named: Level.GUEST})
    text = f"@{spoken_to.username}: what does @{named.username} say, or @{outsider.username}? `@{owner.username}`"

    issue = make_issue(make, project, owner, title="ask", description=text)

    assert _actions(api, spoken_to) == ["directly_addressed"]
    assert _actions(api, named) == ["mentioned"]
    assert _actions(api, outsider) == _actions(api, owner) == []
    url = f"/projects/{project.id}/issues/{issue['iid']}"
    api.post("/todos/mark_as_done", named)
    api.put(url, owner, description=text + " again")
    assert _actions(api, named) == [], "Users mentioned before are not notified again."
    note = api.post(f"{url}/notes", owner, body=f"hello @{named.username.upper()}").json()
    (todo,) = _todos(api, named)
    assert (todo["body"], todo["action_name"]) == (note["body"], "mentioned")
    assert todo["target_url"] == f"{issue['web_url']}#note_{note['id']}"
    api.post("/todos/mark_as_done", named)
    api.put(f"{url}/notes/{note['id']}", owner, body=f"hello @{named.username} and @{spoken_to.username}")
    assert _actions(api, named) == []
    api.delete(f"{url}/notes/{note['id']}", owner)
    assert _actions(api, named, state="done") == ["mentioned"], "A deleted note deletes its todos."


def test_mentions_of_groups_and_all(api: Api, make: Make) -> None:
    """``@all`` are the project members, if the author is one; a hidden group is plain text."""
    owner, one, other, stranger = (make.user() for _ in range(4))
    group = make_group(make, members={one: Level.GUEST}, visibility="public")
    hidden = make_group(make, members={stranger: Level.GUEST}, visibility="private")
    project = make_project(make, owner, visibility="public", members={other: Level.GUEST})

    make_issue(make, project, owner, description=f"cc @{group.path} and @{hidden.path}")
    make_issue(make, project, stranger, description="hear, @all")
    assert (_actions(api, one), _actions(api, other), _actions(api, stranger)) == (["mentioned"], [], [])
    make_issue(make, project, owner, description="hear, @all")
    assert (len(_actions(api, one)), _actions(api, other), _actions(api, stranger)) == (1, ["mentioned"], [])


def test_the_number_of_mentions_is_limited(api: Api, make: Make) -> None:
    """Attack: a text with a hundred thousand mentions; the first ones create todos."""
    owner, first, last = make.user(), make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    crowd = " ".join(f"@nobody-{number}" for number in range(50_000))

    make_issue(make, project, owner, description=f"@{first.username} {crowd} @{last.username}")

    assert (_actions(api, first), _actions(api, last)) == (["directly_addressed"], [])


@pytest.mark.parametrize("act", ["note", "close", "award", "award_note", "label"])
def test_actions_complete_a_todo(api: Api, make: Make, act: str) -> None:
    """Actions of the user on the issue do; those of others do not."""
    owner, person = make.user(), make.user()
    project = make_project(make, owner, members={person: Level.DEVELOPER})
    issue = make_issue(make, project, owner, assignee_ids=[person.id])
    url = f"/projects/{project.id}/issues/{issue['iid']}"
    note = api.post(f"{url}/notes", owner, body="well").json()["id"]

    def do(caller: User) -> int:
        calls = {
            "note": lambda: api.post(f"{url}/notes", caller, body="done"),
            "close": lambda: api.put(url, caller, state_event="close" if caller is owner else "reopen"),
            "award": lambda: api.post(f"{url}/award_emoji", caller, name="rocket"),
            "award_note": lambda: api.post(f"{url}/notes/{note}/award_emoji", caller, name="tada"),
            "label": lambda: api.put(url, caller, add_labels=caller.username),
        }
        return calls[act]().status_code

    assert do(owner) in (200, 201)
    assert _actions(api, person) == ["assigned"]
    assert do(person) in (200, 201)
    assert _actions(api, person) == []
    assert _actions(api, person, state="done") == ["assigned"]


def test_filters(api: Api, make: Make) -> None:
    owner, person = make.user(), make.user()
    group = make_group(make, members={person: Level.DEVELOPER, owner: Level.DEVELOPER})
    inside = make_project(make, group=group)
    outside = make_project(make, owner, members={person: Level.DEVELOPER})
    assigned = make_issue(make, inside, make.root, assignee_ids=[person.id])
    named = make_issue(make, outside, owner, description=f"for @{person.username}")

    def found(**filters: Any) -> list[int]:
        return [todo["target"]["id"] for todo in _todos(api, person, **filters)]

    assert found() == found(type="Issue") == found(state="pending") == [named["id"], assigned["id"]]
    assert found(action="assigned") == found(author_id=make.root.id) == [assigned["id"]]
    assert found(group_id=group.id) == found(project_id=inside.id) == [assigned["id"]]
    assert found(action="mentioned") == found(project_id=outside.id) == found(author_id=owner.id) == [named["id"]]
    assert found(type="MergeRequest") == found(state="done") == found(group_id=2**40) == found(author_id=0) == []
    page = api.get("/todos", person, per_page=1)
    assert (page.headers["x-total"], len(page.json())) == ("2", 1)
    for wrong in ({"state": "x"}, {"type": "Issue; --"}, {"action": "eaten"}, {"project_id": "x"}):
        assert api.get("/todos", person, **wrong).status_code == 400, wrong


def test_mark_as_done(api: Api, make: Make) -> None:
    """Own todos only, idempotent, singly and all at once."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    for _ in range(3):
        iid = make_issue(make, project, owner)["iid"]
        for person in (owner, other):
            assert api.post(f"/projects/{project.id}/issues/{iid}/todo", person).status_code == 201
    first, *rest = ids(api.get("/todos", owner))

    assert api.post(f"/todos/{first}/mark_as_done", other).status_code == 404
    assert api.post(f"/todos/{first}/mark_as_done", owner).status_code == 201
    assert api.post(f"/todos/{first}/mark_as_done", owner).status_code == 201
    assert ids(api.get("/todos", owner)) == rest
    every = api.post("/todos/mark_as_done", owner)
    assert (every.status_code, every.content) == (204, b"")
    assert ids(api.get("/todos", owner)) == []
    assert len(ids(api.get("/todos", other))) == 3
    for wrong, status in (("0", 404), ("x", 400), ("9" * 30, 400)):
        assert api.post(f"/todos/{wrong}/mark_as_done", owner).status_code == status, wrong


def _member(make: Make, level: int = Level.GUEST) -> tuple[User, Project, dict[str, Any], int]:
    """Return a user with a todo for an issue of a private project."""
    person = make.user()
    project = make_project(make, visibility="private", members={person: level})
    issue = make_issue(make, project, make.root, title="hush", description=f"@{person.username}")
    (number,) = ids(make.api.get("/todos", person))
    return person, project, issue, number


@pytest.mark.parametrize("how", ["confidential", "removed", "deleted", "disabled", "project deleted"])
def test_todos_of_hidden_targets_are_hidden(api: Api, make: Make, how: str) -> None:
    """Attack: access ends; the todo disappears from the list, the total and by id."""
    person, project, issue, number = _member(make)
    url = f"/projects/{project.id}/issues/{issue['iid']}"

    if how == "confidential":
        api.put(url, make.root, confidential=True)
    elif how == "removed":
        api.delete(f"/projects/{project.id}/members/{person.id}", make.root)
    elif how == "deleted":
        api.delete(url, make.root)
    elif how == "disabled":
        api.put(f"/projects/{project.id}", make.root, issues_enabled=False)
    else:
        api.delete(f"/projects/{project.id}", make.root)

    for state in ("pending", "done"):
        answer = api.get("/todos", person, state=state)
        assert (answer.json(), answer.headers["x-total"]) == ([], "0")
    assert api.post(f"/todos/{number}/mark_as_done", person).status_code == 404
    if how == "confidential":
        api.put(f"/projects/{project.id}/members/{person.id}", make.root, access_level=int(Level.REPORTER))
        assert ids(api.get("/todos", person)) == [number]


def test_mentions_of_users_without_access_create_no_todo(api: Api, make: Make) -> None:
    """Attack: mention a guest in a confidential issue, or in an internal note."""
    guest, reporter = make.user(), make.user()
    project = make_project(make, visibility="public", members={guest: Level.GUEST, reporter: Level.REPORTER})
    names = f"@{guest.username} @{reporter.username}"
    make_issue(make, project, make.root, description=names, confidential=True)
    plain = make_issue(make, project, make.root)
    api.post(f"/projects/{project.id}/issues/{plain['iid']}/notes", make.root, body=names, internal=True)

    assert _actions(api, guest) == []
    assert len(_actions(api, reporter)) == 2


def test_todos_by_deleted_users(api: Api, make: Make) -> None:
    """They stay with the ghost user as author."""
    leaving, person = make.user(), make.user()
    project = make_project(make, make.user(), members={leaving: Level.DEVELOPER, person: Level.DEVELOPER})
    make_issue(make, project, make.root, title="stays")
    iid = make_issue(make, project, make.root)["iid"]
    api.put(f"/projects/{project.id}/issues/{iid}", leaving, assignee_ids=[person.id])

    assert api.delete(f"/users/{leaving.id}", make.root).status_code < 300

    (todo,) = _todos(api, person)
    assert todo["author"]["username"] == "ghost"


def test_statements_do_not_grow_with_the_page(api: Api, make: Make) -> None:
    owner, person = make.user(), make.user()
    project = make_project(make, owner, members={person: Level.DEVELOPER})
    for number in range(6):
        name = make.name("label")
        text = f"@{person.username}"
        issue = make_issue(make, project, owner, labels=name, description=text if number % 2 else "")
        if not number % 2:
            api.post(f"/projects/{project.id}/issues/{issue['iid']}/notes", owner, body=text)

    few, many = (statements_of(make, partial(api.get, "/todos", person, per_page=size)) for size in (2, 100))

    assert many <= few


def test_quick_actions(api: Api, make: Make) -> None:
    """By /todo and /done; other text of the note completes the todo."""
    owner = make.user()
    project = make_project(make, owner)
    issue = make_issue(make, project, owner, title="look")
    notes = f"/projects/{project.id}/issues/{issue['iid']}/notes"

    for command, left in (("/todo", ["marked"]), ("/todo", ["marked"]), ("/done", [])):
        assert api.post(notes, owner, body=command).status_code == 202
        assert _actions(api, owner) == left
    assert api.post(notes, owner, body="later\n/todo").status_code == 201
    assert _actions(api, owner) == ["marked"]
