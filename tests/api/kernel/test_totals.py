"""Totals of lists: exact after every change that they depend on, and not counted again after other changes."""

from typing import Any

import pytest

from ingot.collaboration.issues.lists import pages as issue_pages
from ingot.core.db import paging
from tests.api.issues.factories import make_issue
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import add_members, ids, make_group, make_project
from tests.statements import recorded_statements


def _total(api: Api, path: str, caller: User, **params: Any) -> int:
    """Compare the total of a page of one row with all rows, and return it."""
    everything = ids(api.get(path, caller, per_page=100, **params))
    first = api.get(path, caller, per_page=1, **params)
    assert int(first.headers["X-Total"]) == len(everything)
    assert ids(first) == everything[:1]
    return len(everything)


def _all_pages(api: Api, path: str, caller: User, size: int, **params: Any) -> list[int]:
    rows: list[int] = []
    number = 1
    while True:
        answer = api.get(path, caller, per_page=size, page=number, **params)
        rows += ids(answer)
        if not answer.headers["X-Next-Page"]:
            return rows
        number += 1


def test_users(api: Api, make: Make) -> None:
    word = make.name("mariner")
    people = [make.user(name=f"{word} {number}") for number in range(3)]
    assert _total(api, "/users", make.root, search=word) == 3
    api.put(f"/users/{people[0].id}", make.root, name="Renamed")
    assert _total(api, "/users", make.root, search=word) == 2
    api.put(f"/users/{people[1].id}", make.root, external=True)
    assert _total(api, "/users", people[2], search=word) == 1
    api.post(f"/users/{people[2].id}/block", make.root)
    assert _total(api, "/users", make.root, search=word, active=True) == 1
    api.post(f"/users/{people[0].id}/emails", make.root, email=f"{word}@example.org", skip_confirmation=True)
    assert _total(api, "/users", make.root, search=word) == 3
    api.delete(f"/users/{people[1].id}", make.root)
    assert _total(api, "/users", make.root, search=word) == 2


def test_members(api: Api, make: Make) -> None:
    owner, word = make.user(), make.name("crew")
    people = [make.user(name=f"{word} {number}") for number in range(4)]
    outer, invited = make_group(make, owner), make_group(make, owner)
    project = make_project(make, owner, group=outer)
    path = f"/projects/{project.id}"

    def totals() -> tuple[int, int, int]:
        return (
            _total(api, f"{path}/members", owner),
            _total(api, f"{path}/members/all", owner),
            _total(api, f"{path}/users", owner, search=word),
        )

    direct, everyone, searched = totals()
    assert (everyone - direct, searched) == (1, 0)
    for person in people[:2]:
        api.post(f"{path}/members", owner, user_id=person.id, access_level=30)
    assert totals() == (direct + 2, everyone + 2, 2)
    api.post(f"/groups/{outer.id}/members", owner, user_id=people[2].id, access_level=20)
    api.post(f"/groups/{outer.id}/members", owner, user_id=people[0].id, access_level=40)
    assert totals() == (direct + 2, everyone + 3, 3)
    api.post(f"/groups/{invited.id}/members", owner, user_id=people[3].id, access_level=30)
    api.post(f"{path}/share", owner, group_id=invited.id, group_access=20)
    assert totals() == (direct + 2, everyone + 4, 4)
    assert api.get(f"{path}/members/all/{people[3].id}", owner).json()["access_level"] == 20
    levels = {row["id"]: row["access_level"] for row in api.get(f"{path}/members/all", owner).json()}
    assert levels[people[0].id] == 40, "The highest of both levels."
    api.put(f"{path}/members/{people[1].id}", owner, access_level=30, expires_at="2020-01-01")
    assert totals() == (direct + 1, everyone + 3, 3)
    api.put(f"/users/{people[2].id}", make.root, name="Somebody else")
    api.delete(f"{path}/share/{invited.id}", owner)
    assert totals() == (direct + 1, everyone + 2, 1)


def test_pages_of_all_members(api: Api, make: Make) -> None:
    """Members of several sources appear once, in the order of their ids, on pages from either end."""
    owner = make.user()
    people = [make.user() for _ in range(9)]
    outer = make_group(make, owner)
    inner = make_group(make, owner, parent=outer)
    project = make_project(make, owner, group=inner)
    for number, person in enumerate(people):
        for place in ("groups", "groups", "projects")[number % 3 :]:
            source = project.id if place == "projects" else (outer.id if number % 2 else inner.id)
            api.post(f"/{place}/{source}/members", owner, user_id=person.id, access_level=30)
    path = f"/projects/{project.id}/members/all"
    everyone = sorted({owner.id, *(person.id for person in people)})
    for size in (1, 3, 100):
        assert _all_pages(api, path, owner, size) == everyone
    keyset = {"pagination": "keyset", "order_by": "id", "per_page": 4}
    assert ids(api.get(path, owner, sort="asc", id_after=everyone[2], **keyset)) == everyone[3:7]
    assert ids(api.get(path, owner, sort="desc", id_before=everyone[7], **keyset)) == everyone[3:7][::-1]


def test_issues(api: Api, make: Make) -> None:
    owner, guest = make.user(), make.user()
    project = make_project(make, owner)
    add_members(make, project, {guest: 10})
    path = f"/projects/{project.id}/issues"
    made = [make_issue(make, project, owner, title=f"Walrus {number}", labels="sea") for number in range(4)]

    def totals() -> tuple[int, ...]:
        lists: list[tuple[User, dict[str, Any]]] = [
            (owner, {"search": "walrus"}),
            (guest, {"search": "walrus"}),
            (owner, {"labels": "sea"}),
            (owner, {"not[labels]": "sea"}),
            (owner, {"labels": "None"}),
            (owner, {"assignee_id": guest.id}),
            (owner, {"search": "walrus", "state": "opened"}),
        ]
        scoped = _total(api, "/issues", guest, scope="all", search="walrus")
        return *(_total(api, path, caller, **params) for caller, params in lists), scoped

    assert totals() == (4, 4, 4, 0, 0, 0, 4, 4)
    edits: list[tuple[int, dict[str, Any], tuple[int, ...]]] = [
        (0, {"title": "Seal"}, (3, 3, 4, 0, 0, 0, 3, 3)),
        (1, {"confidential": True}, (3, 2, 4, 0, 0, 0, 3, 2)),
        (1, {"assignee_ids": [guest.id]}, (3, 3, 4, 0, 0, 1, 3, 3)),
        (2, {"labels": ""}, (3, 3, 3, 1, 1, 1, 3, 3)),
        (2, {"labels": "land"}, (3, 3, 3, 1, 0, 1, 3, 3)),
        (3, {"state_event": "close"}, (3, 3, 3, 1, 0, 1, 2, 3)),
        (1, {"assignee_ids": [0]}, (3, 2, 3, 1, 0, 0, 2, 2)),
    ]
    for number, change, expected in edits:
        assert api.put(f"{path}/{made[number]['iid']}", owner, **change).status_code == 200
        assert totals() == expected, change
    api.delete(f"{path}/{made[3]['iid']}", owner)
    assert totals() == (2, 1, 2, 1, 0, 0, 2, 1)
    api.put(f"/projects/{project.id}", owner, visibility="private", issues_enabled=True)
    api.delete(f"/projects/{project.id}/members/{guest.id}", owner)
    assert _total(api, "/issues", guest, scope="all", search="walrus") == 0
    api.delete(f"/projects/{project.id}/labels/sea", owner)
    assert _total(api, path, owner, labels="None") == 2


def test_projects(api: Api, make: Make) -> None:
    owner, reader, word = make.user(), make.user(), make.name("harpoon")
    made = [make_project(make, owner, name=f"{word} {number}", visibility="public") for number in range(3)]
    assert _total(api, "/projects", reader, search=word) == 3
    api.put(f"/projects/{made[0].id}", owner, visibility="private")
    assert _total(api, "/projects", reader, search=word) == 2
    add_members(make, made[0], {reader: 20})
    assert _total(api, "/projects", reader, search=word) == 3
    api.put(f"/projects/{made[1].id}", owner, name="Renamed", path=make.name("renamed"))
    assert _total(api, "/projects", reader, search=word) == 2
    api.delete(f"/projects/{made[2].id}", owner)
    assert _total(api, "/projects", reader, search=word) == 1


def test_searches_with_many_results_find_the_same(api: Api, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read along the order of the list, and by the index where that does not suffice."""
    owner, word = make.user(), make.name("kraken")
    project = make_project(make, owner)
    for number in range(12):
        title = f"{word} {number}" if number % 3 else f"Squid {number}"
        make_issue(make, project, owner, title=title, confidential=number == 4)
        make.user(name=title)
        make_project(make, owner, name=f"{title} {make.name()}")
    searches = (f"/projects/{project.id}/issues", "/issues?scope=all", "/users", "/projects")
    expected = {path: _all_pages(api, path, owner, 100, search=word) for path in searches}
    assert all(expected.values())
    monkeypatch.setattr(paging, "MIN_SCANNED", 0)
    monkeypatch.setattr(issue_pages, "MAX_LOOKED_UP", 0)
    for path, rows in expected.items():
        for size in (1, 3, 5):
            assert _all_pages(api, path, owner, size, search=word) == rows, path


def test_a_total_is_not_counted_again_after_other_changes(api: Api, make: Make, instance: Instance) -> None:
    if not instance.settings.embedded:
        pytest.skip("Rows of PostgreSQL have no versions.")
    owner = make.user()
    project = make_project(make, owner, members={make.user(): 30})
    issue = make_issue(make, project, owner, title="Barnacle", labels="sea")
    make_issue(make, project, owner, title="Barnacle", labels="sea")
    base = f"/projects/{project.id}"
    lists = (
        f"{base}/issues?labels=sea&per_page=1",
        f"{base}/labels?with_counts=true",
        f"{base}/members?per_page=1",
        "/users?per_page=1",
    )
    for path in lists:
        api.get(path, owner)
    api.post(f"{base}/issues/{issue['iid']}/notes", owner, body="Another commit")
    with recorded_statements(instance.app.database) as texts:
        for path in lists:
            api.get(path, owner)
    assert [text for text in texts if "count(" in text] == []


def test_every_kind_of_row_has_its_triggers(instance: Instance) -> None:
    """A script that creates one of these tables anew has to create its triggers again."""
    if not instance.settings.embedded:
        pytest.skip("Rows of PostgreSQL have no versions.")
    tables = (
        "users emails projects namespaces memberships project_shares group_shares issues label_links issue_assignees"
    )
    wanted = {f"{table}_version_{event}" for table in tables.split() for event in ("insert", "update", "delete")}
    raw = instance.app.database.engine.connect(read_only=True)
    triggers = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
    raw.close()
    assert wanted - triggers == set()
