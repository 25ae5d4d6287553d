"""Topics with descriptions, and topics derived from projects."""

from functools import partial
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import make_project, statements_of

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32


def found(api: Api, caller: User, name: str) -> dict[str, Any] | None:
    """Return the topic of this name from a caller's search."""
    answer = api.get("/topics", caller, search=name, per_page=100)
    assert answer.status_code == 200
    return next((topic for topic in answer.json() if topic["name"] == name), None)


CALLERS = [("root", 201, 200), ("user", 403, 200), ("nobody", 401, 401)]


@pytest.mark.parametrize(("who", "status", "reads"), CALLERS)
def test_users_read_and_administrators_write(api: Api, make: Make, who: str, status: int, reads: int) -> None:
    caller = {"root": make.root, "user": make.user(), "nobody": None}[who]
    name = make.name("topic")
    made = api.post("/topics", caller, name=name, title="A Topic", description="What it is")
    assert made.status_code == status
    topic = made.json() if status == 201 else api.post("/topics", make.root, name=name, title="A Topic").json()
    other = api.post("/topics", make.root, name=make.name("topic")).json()
    topic_id = topic["id"]
    done = 200 if status == 201 else status

    assert api.get("/topics", caller).status_code == reads
    shown = api.get(f"/topics/{topic_id}", caller)
    assert (shown.status_code, shown.json().get("title")) == (reads, "A Topic" if reads == 200 else None)
    assert api.put(f"/topics/{topic_id}", caller, title="Other").status_code == done
    merged = api.post("/topics/merge", caller, source_topic_id=other["id"], target_topic_id=topic_id)
    assert merged.status_code == status
    assert api.delete(f"/topics/{topic_id}", caller).status_code == done
    assert api.get(f"/topics/{topic_id}", caller).status_code == (404 if status == 201 else reads)


def test_a_topic_has_all_fields(api: Api, make: Make) -> None:
    name = make.name("Topic")
    made = api.post("/topics", make.root, name=name)
    topic_id = made.json()["id"]
    expected = {
        "id": topic_id,
        "name": name,
        "title": name,
        "description": None,
        "total_projects_count": 0,
        "avatar_url": None,
    }
    assert (made.status_code, made.json()) == (201, expected)
    assert api.get(f"/topics/{topic_id}", make.root).json() == expected
    again = api.post("/topics", make.root, name=name.upper())
    assert (again.status_code, again.json()["message"]) == (400, {"name": ["has already been taken"]})
    edited = api.put(f"/topics/{topic_id}", make.root, title="Größe", description="Alles über Größe")
    assert edited.json() == {**expected, "title": "Größe", "description": "Alles über Größe"}
    assert found(api, make.user(), name) == edited.json()
    assert [each["id"] for each in api.get("/topics", make.root, search="GRÖßE").json()] == [topic_id]
    assert api.put(f"/topics/{topic_id}", make.root, description=None).json()["description"] is None


def test_topics_of_projects_are_listed(api: Api, make: Make) -> None:
    """At once, without a description, with a stable id."""
    name, owner = make.name("carried"), make.user()
    project = make_project(make, owner, visibility="public", topics=[name])
    first = found(api, make.root, name)
    assert first is not None
    assert (first["title"], first["total_projects_count"]) == (name, 1)
    topic_id = first["id"]
    assert api.get(f"/topics/{topic_id}", make.root).json() == first

    other = make_project(make, owner, visibility="public")
    assert api.put(f"/projects/{other.id}", owner, topics=[name.upper(), "other"]).status_code == 200
    assert api.put(f"/projects/{project.id}", owner, topics=["other", name]).status_code == 200
    again = api.get(f"/topics/{topic_id}", make.root).json()
    assert (again["id"], again["total_projects_count"]) == (topic_id, 2)

    described = api.put(f"/topics/{topic_id}", make.root, description="Now described").json()
    assert (described["description"], described["total_projects_count"]) == ("Now described", 2)
    assert api.get(f"/topics/{topic_id}", make.root).json() == described, "the old id still works"
    for each in (project, other):
        assert api.put(f"/projects/{each.id}", owner, topics=[]).status_code == 200
    assert found(api, make.root, described["name"]) == {**described, "total_projects_count": 0}


def test_private_use_is_neither_counted_nor_shown(api: Api, make: Make) -> None:
    """Attack: learn of a hidden project from the name or count of a topic."""
    secret, shared = make.name("secret"), make.name("shared")
    owner, stranger, external = make.user(), make.user(), make.user(external=True)
    hidden = make_project(make, owner, visibility="private", topics=[secret, shared])
    make_project(make, owner, visibility="internal", topics=[shared])
    make_project(make, owner, visibility="public", topics=[shared])

    counts = {who: found(api, caller, shared) for who, caller in _callers(make, owner, stranger, external)}
    assert {who: topic and topic["total_projects_count"] for who, topic in counts.items()} == {
        "root": 3,
        "owner": 3,
        "stranger": 2,
        "external": 1,
    }
    topic = found(api, owner, secret)
    assert topic is not None
    topic_id = topic["id"]
    for who, caller in _callers(make, owner, stranger, external):
        sees = who in ("root", "owner")
        assert (found(api, caller, secret) is not None) == sees, who
        assert api.get(f"/topics/{topic_id}", caller).status_code == (200 if sees else 404), who
    assert api.delete(f"/projects/{hidden.id}", owner).status_code == 200
    assert found(api, make.root, secret) is None
    after = found(api, make.root, shared)
    assert after is not None and after["total_projects_count"] == 2


def _callers(make: Make, owner: User, stranger: User, external: User) -> list[tuple[str, User]]:
    return [("root", make.root), ("owner", owner), ("stranger", stranger), ("external", external)]


def test_the_list_is_sorted_by_use_and_filters_unused_topics(api: Api, make: Make) -> None:
    stem, owner = make.name("ordered"), make.user()
    unused = api.post("/topics", make.root, name=f"{stem}-unused").json()
    make_project(make, owner, visibility="public", topics=[f"{stem}-one", f"{stem}-two"])
    make_project(make, owner, visibility="public", topics=[f"{stem}-two"])
    names = [topic["name"] for topic in api.get("/topics", owner, search=stem).json()]
    assert names == [f"{stem}-two", f"{stem}-one", f"{stem}-unused"]
    listed = api.get("/topics", owner, search=stem, without_projects=True)
    assert [topic["id"] for topic in listed.json()] == [unused["id"]]
    page = api.get("/topics", owner, search=stem, per_page=2, page=2)
    assert ([topic["name"] for topic in page.json()], page.headers["x-total"]) == ([f"{stem}-unused"], "3")
    few, many = (statements_of(make, partial(api.get, "/topics", owner, per_page=n)) for n in (1, 100))
    assert many <= few


def test_renaming_and_deleting_update_the_projects(api: Api, make: Make) -> None:
    old, new, taken = make.name("old"), make.name("new"), make.name("taken")
    project = make_project(make, make.user(), visibility="public", topics=[old, taken])
    topic = found(api, make.root, old)
    assert topic is not None
    topic_id = topic["id"]
    clash = api.put(f"/topics/{topic_id}", make.root, name=taken.upper())
    assert (clash.status_code, clash.json()["message"]) == (400, {"name": ["has already been taken"]})
    renamed = api.put(f"/topics/{topic_id}", make.root, name=new).json()
    assert renamed["id"] == topic_id, "a rename is no new topic"
    assert api.get(f"/topics/{topic_id}", make.root).json() == renamed
    assert set(api.get(f"/projects/{project.id}").json()["topics"]) == {new, taken}
    assert (renamed["name"], renamed["total_projects_count"]) == (new, 1)
    for _ in range(2):
        gone = api.delete(f"/topics/{topic_id}", make.root)
        assert (gone.status_code, gone.content) == (200, b"")
    assert api.get(f"/projects/{project.id}").json()["topics"] == [taken]


def test_adding_a_description_keeps_the_id(api: Api, make: Make) -> None:
    """The id of a topic derived from projects stays valid."""
    name = make.name("noted")
    make_project(make, make.user(), visibility="public", topics=[name])
    topic = found(api, make.root, name)
    assert topic is not None
    made = api.post("/topics", make.root, name=name.upper(), description="What it is")
    assert (made.status_code, made.json()["id"]) == (201, topic["id"])
    assert api.post("/topics", make.root, name=name).status_code == 400
    assert made.json()["name"] == name.upper()


def test_an_unused_name_is_available(api: Api, make: Make) -> None:
    """Removed by its last project, or deleted with it: the topic is hidden, and another one may take the name."""
    owner = make.user()
    dropped, deleted = make.name("dropped"), make.name("deleted")
    project = make_project(make, owner, visibility="public", topics=[dropped, deleted])
    ids = [topic["id"] for topic in (found(api, make.root, dropped), found(api, make.root, deleted)) if topic]
    assert api.put(project.url, owner, topics=[deleted]).status_code == 200
    assert api.delete(project.url, owner).status_code == 200
    assert [api.get(f"/topics/{topic_id}", make.root).status_code for topic_id in ids] == [404, 404]
    other = api.post("/topics", make.root, name=make.name("other")).json()
    for name in (dropped, deleted):
        renamed = api.put(f"/topics/{other['id']}", make.root, name=name)
        assert (renamed.status_code, renamed.json()["name"]) == (200, name)


def test_the_spelling_is_that_of_a_visible_project(api: Api, make: Make) -> None:
    """A private project used the topic first, with another spelling."""
    name = make.name("spelled")
    make_project(make, make.user(), visibility="private", topics=[name.upper()])
    make_project(make, make.user(), visibility="public", topics=[name])
    (topic,) = api.get("/topics", make.user(), search=name).json()
    assert (topic["name"], topic["title"], topic["total_projects_count"]) == (name, name, 1)


def test_merging_moves_the_projects(api: Api, make: Make) -> None:
    source, target = make.name("source"), make.name("target")
    owner = make.user()
    both = make_project(make, owner, visibility="public", topics=[source, target])
    only = make_project(make, owner, visibility="public", topics=[source])
    source_id = api.post("/topics", make.root, name=source).json()["id"]
    named = found(api, make.root, target)
    assert named is not None
    merged = api.post("/topics/merge", make.root, source_topic_id=source_id, target_topic_id=named["id"])
    assert merged.status_code == 201
    assert merged.json() == {**named, "total_projects_count": 2}
    assert api.get(f"/projects/{both.id}").json()["topics"] == [target]
    assert api.get(f"/projects/{only.id}").json()["topics"] == [target]
    assert api.get(f"/topics/{source_id}", make.root).status_code == 404
    same = api.post("/topics/merge", make.root, source_topic_id=named["id"], target_topic_id=named["id"])
    assert same.status_code == 400
    gone = api.post("/topics/merge", make.root, source_topic_id=source_id, target_topic_id=named["id"])
    assert gone.status_code == 404
    assert api.post("/topics/merge", make.root, source_topic_id="x", target_topic_id=1).status_code == 400
    assert api.post("/topics/merge", make.root, source_topic_id=1).status_code == 400


def test_avatar(api: Api, make: Make) -> None:
    name = make.name("picture")
    made = api.request("POST", "/topics", make.root, data={"name": name}, files={"avatar": ("it.png", PNG)})
    topic_id = made.json()["id"]
    assert made.json()["avatar_url"].endswith(f"/uploads/-/system/topic/avatar/{topic_id}/it.png")
    wrong = api.request("PUT", f"/topics/{topic_id}", make.root, files={"avatar": ("it.svg", b"<svg/>")})
    assert wrong.status_code == 400
    assert api.put(f"/topics/{topic_id}", make.root, avatar="").json()["avatar_url"] is None


REFUSED = [
    ({}, '400 (Bad request) "name" not given'),
    ({"name": "  "}, {"name": ["can't be blank"], "title": ["can't be blank"]}),
    ({"name": "n" * 256, "title": "t"}, {"name": ["is too long (maximum is 255 characters)"]}),
    ({"name": "a,b"}, {"name": ["cannot contain commas or control characters"]}),
    ({"name": "a\nb"}, {"name": ["cannot contain commas or control characters"]}),
    ({"name": "n", "title": "t" * 256}, {"title": ["is too long (maximum is 255 characters)"]}),
    ({"name": "n", "description": "d" * 1025}, {"description": ["is too long (maximum is 1024 characters)"]}),
    ({"name": ["n"]}, {"name": ["is invalid"]}),
    ({"name": "n", "avatar": "text"}, {"avatar": ["is invalid"]}),
]


@pytest.mark.parametrize(("sent", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_invalid_topics_are_rejected(api: Api, make: Make, sent: dict[str, Any], message: object) -> None:
    answer = api.post("/topics", make.root, **sent)
    assert (answer.status_code, answer.json()["message"]) == (400, message)


@pytest.mark.parametrize(("topic_id", "status"), [("0", 404), ("9" * 18, 404), ("9" * 30, 400), ("x", 400)])
def test_missing_topics(api: Api, make: Make, topic_id: str, status: int) -> None:
    assert api.get(f"/topics/{topic_id}", make.root).status_code == status
    assert api.put(f"/topics/{topic_id}", make.root, title="x").status_code == status
    assert api.delete(f"/topics/{topic_id}", make.root).status_code == (200 if status == 404 else 400)


def test_topics_of_an_archived_project_are_changed_by_its_owner_only(api: Api, make: Make) -> None:
    owner, maintainer, name = make.user(), make.user(), make.name("topic")
    project = make_project(make, owner, topics=[name], members={maintainer: Level.MASTER})
    api.post(f"{project.url}/archive", owner)

    assert api.put(project.url, maintainer, topics=[]).status_code == 403
    assert api.put(project.url, maintainer, tag_list=["other"]).status_code == 403
    assert api.get(project.url, owner).json()["topics"] == [name]
    assert api.put(project.url, owner, topics=[]).json()["topics"] == []
