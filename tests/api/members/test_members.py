"""Members of groups and projects: list, read, add, edit, remove; the same rules for both."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import Group, Project, add_members, ids, make_group, make_project, statements_of

VIEW = {
    "id",
    "username",
    "name",
    "state",
    "avatar_url",
    "web_url",
    "access_level",
    "expires_at",
    "created_at",
}
KINDS = pytest.mark.parametrize("kind", ["group", "project"])


def _source(make: Make, kind: str, owner: User, members: dict[User, int], **attributes: Any) -> Group | Project:
    if kind == "group":
        return make_group(make, owner, members=members, **attributes)
    return make_project(make, owner, members=members, **attributes)


@KINDS
@pytest.mark.parametrize(
    ("who", "visibility", "status"),
    [
        ("nobody", "public", 401),
        ("stranger", "public", 200),
        ("stranger", "private", 404),
        ("guest", "private", 200),
        ("root", "private", 200),
    ],
)
def test_visibility_of_members(api: Api, make: Make, kind: str, who: str, visibility: str, status: int) -> None:
    owner, guest = make.user(), make.user()
    source = _source(make, kind, owner, {guest: 10}, visibility=visibility)
    caller = {"nobody": None, "stranger": make.user(), "guest": guest, "root": make.root}[who]

    for path in ("members", "members/all", f"members/{guest.id}", f"members/all/{guest.id}"):
        assert api.get(f"{source.url}/{path}", caller).status_code == status
    if status == 200:
        listed = api.get(f"{source.url}/members", caller)
        assert (ids(listed), listed.headers["x-total"]) == ([owner.id, guest.id], "2")
        assert all(set(member) == VIEW for member in listed.json())
        member = api.get(f"{source.url}/members/{guest.id}", caller).json()
        assert (member, member["access_level"]) == (listed.json()[1], 10)
        # Members are also in the tree; a project's owner is also its direct master.
        assert api.get(f"{source.url}/members/{owner.id}", caller).json()["access_level"] >= 40


@KINDS
def test_members_are_searched_and_filtered(api: Api, make: Make, kind: str) -> None:
    owner, other = make.user(), make.user(name="Someone Else")
    source = _source(make, kind, owner, {other: 20})

    for params, expected in (
        ({"query": other.username.upper()}, [other.id]),
        ({"query": "someone e"}, [other.id]),
        ({"query": "%"}, []),
        ({"user_ids[]": [owner.id, 999999999]}, [owner.id]),
    ):
        for path in ("members", "members/all"):
            assert ids(api.get(f"{source.url}/{path}", owner, **params)) == expected


@KINDS
@pytest.mark.parametrize(
    ("level", "visibility", "status"),
    [
        (Level.OWNER, "private", 201),
        (Level.DEVELOPER, "private", 403),
        (Level.GUEST, "private", 403),
        (Level.NONE, "public", 403),
        (Level.NONE, "private", 404),
    ],
)
def test_permissions_to_manage_members(
    api: Api, make: Make, kind: str, level: Level, visibility: str, status: int
) -> None:
    owner, caller, member, new = (make.user() for _ in range(4))
    source = _source(
        make, kind, owner, {caller: 0 if level == Level.OWNER else level, member: 20}, visibility=visibility
    )
    caller = owner if level == Level.OWNER else caller
    done = 200 if status == 201 else status

    assert api.post(f"{source.url}/members", caller, user_id=new.id, access_level=30).status_code == status
    assert api.put(f"{source.url}/members/{member.id}", caller, access_level=30).status_code == done
    assert api.delete(f"{source.url}/members/{member.id}", caller).status_code == done
    left = set(ids(api.get(f"{source.url}/members", make.root)))
    assert (new.id in left, member.id in left) == ((True, False) if status == 201 else (False, True))


def test_masters_manage_projects_but_not_groups(api: Api, make: Make) -> None:
    master, new = make.user(), make.user()
    for source, status in (
        (make_project(make, members={master: 40}), 201),
        (make_group(make, members={master: 40}), 403),
    ):
        assert api.post(f"{source.url}/members", master, user_id=new.id, access_level=10).status_code == status


@KINDS
def test_adding_returns_the_member(api: Api, make: Make, kind: str) -> None:
    owner, new = make.user(), make.user()
    source = _source(make, kind, owner, {})

    added = api.post(f"{source.url}/members", owner, user_id=new.id, access_level=30, expires_at="2016-08-05")

    assert added.status_code == 201
    assert set(added.json()) == VIEW
    assert added.json() | {"id": new.id, "access_level": 30, "expires_at": "2016-08-05"} == added.json()
    # An expired membership does not count, and does not prevent adding the user again.
    assert api.get(f"{source.url}/members/{new.id}", owner).status_code == 404
    again = api.post(f"{source.url}/members", owner, user_id=new.id, access_level=20)
    assert (again.status_code, again.json()["expires_at"]) == (201, None)
    twice = api.post(f"{source.url}/members", owner, user_id=new.id, access_level=20)
    assert (twice.status_code, twice.json()) == (409, {"message": "Member already exists"})


INVALID: list[tuple[dict[str, Any], int]] = [
    ({"access_level": 30}, 400),
    ({"user_id": "other"}, 400),
    ({"user_id": "other", "access_level": 1234}, 400),
    ({"user_id": "other", "access_level": 0}, 400),
    ({"user_id": "other", "access_level": "x"}, 400),
    ({"user_id": "other", "access_level": 30, "expires_at": "soon"}, 400),
    ({"user_id": 999999999, "access_level": 30}, 404),
    ({"user_id": 10**30, "access_level": 30}, 400),
    ({"user_id": [1], "access_level": 30}, 400),
]


@KINDS
@pytest.mark.parametrize(("sent", "status"), INVALID)
def test_invalid_members_are_rejected(api: Api, make: Make, kind: str, sent: dict[str, Any], status: int) -> None:
    owner, other = make.user(), make.user()
    source = _source(make, kind, owner, {})
    if sent.get("user_id") == "other":
        sent = {**sent, "user_id": other.id}

    assert api.post(f"{source.url}/members", owner, **sent).status_code == status
    assert ids(api.get(f"{source.url}/members", owner)) == [owner.id]


@KINDS
def test_the_ghost_user_cannot_be_a_member(api: Api, make: Make, kind: str) -> None:
    """The ghost user owns the contributions of deleted users and cannot sign in."""
    owner = make.user()
    source = _source(make, kind, owner, {})
    (ghost,) = api.get("/users", make.root, username="ghost").json()

    for caller in (owner, make.root):
        refused = api.post(f"{source.url}/members", caller, user_id=ghost["id"], access_level=30)
        assert (refused.status_code, refused.json()) == (400, {"message": {"user_id": ["is invalid"]}})
    assert ids(api.get(f"{source.url}/members", owner)) == [owner.id]


def test_projects_have_no_owners_by_membership(api: Api, make: Make) -> None:
    project, other = make_project(make), make.user()

    for caller in (make.root, make.user()):
        refused = api.post(f"{project.url}/members", caller, user_id=other.id, access_level=50)
        assert refused.status_code == (400 if caller is make.root else 404)


def test_members_cannot_grant_more_than_their_level(api: Api, make: Make) -> None:
    """Attack: a master through a share limited to developers grants, or edits, master access."""
    sharer, new, master = make.user(), make.user(), make.user()
    group = make_group(make, members={sharer: Level.OWNER})
    project = make_project(make, members={master: 40})
    api.post(f"{project.url}/share", make.root, group_id=group.id, group_access=40)

    assert api.post(f"{project.url}/members", sharer, user_id=new.id, access_level=40).status_code == 201
    assert api.post(f"{group.url}/members", sharer, user_id=new.id, access_level=50).status_code == 201
    assert api.put(f"{project.url}/members/{new.id}", sharer, access_level=50).status_code == 400
    api.delete(f"{project.url}/share/{group.id}", make.root)
    api.post(f"{project.url}/share", make.root, group_id=group.id, group_access=30)
    assert api.put(f"{project.url}/members/{master.id}", sharer, access_level=10).status_code == 403


@KINDS
def test_expiry_changes_only_if_sent(api: Api, make: Make, kind: str) -> None:
    owner, member = make.user(), make.user()
    source = _source(make, kind, owner, {})
    add_members(make, source, {member: 20}, expires_at="2999-12-31")
    place = f"{source.url}/members/{member.id}"

    steps: list[tuple[dict[str, Any], int, str | None]] = [
        ({"access_level": 30}, 30, "2999-12-31"),
        ({"access_level": 30, "expires_at": "2888-01-01"}, 30, "2888-01-01"),
        ({"access_level": 40, "expires_at": None}, 40, None),
        ({"access_level": 40, "expires_at": "2777-01-01"}, 40, "2777-01-01"),
        ({"access_level": 10, "expires_at": ""}, 10, None),
    ]
    for sent, level, ends in steps:
        changed = api.put(place, owner, **sent)
        assert (changed.status_code, changed.json()["access_level"], changed.json()["expires_at"]) == (200, level, ends)
    assert api.put(place, owner).json() == {"message": '400 (Bad request) "access_level" not given'}
    assert api.put(place, owner, access_level=15).status_code == 400
    assert api.put(f"{source.url}/members/999999999", owner, access_level=10).status_code == 404
    assert api.put(f"{source.url}/members/me", owner, access_level=10).status_code == 400


@KINDS
def test_members_may_leave_and_removal_is_idempotent(api: Api, make: Make, kind: str) -> None:
    owner, member = make.user(), make.user()
    source = _source(make, kind, owner, {member: 10})

    gone = [api.delete(f"{source.url}/members/{member.id}", caller) for caller in (member, owner)]

    assert [answer.status_code for answer in gone] == [200, 200]
    assert api.get(source.url, member).status_code == 404
    assert api.delete(f"{source.url}/members/{member.id}", member).status_code == 404


def test_the_last_owner_of_a_group_cannot_leave(api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    group = make_group(make, owner)
    place = f"{group.url}/members/{owner.id}"

    for caller in (owner, make.root):
        assert api.delete(place, caller).status_code == 403
        assert api.put(place, caller, access_level=40).status_code == 403
        assert api.put(place, caller, access_level=50, expires_at="2999-01-01").status_code == 403
    assert api.put(place, owner, access_level=50).status_code == 200
    add_members(make, group, {other: 50})
    assert api.put(place, owner, access_level=10).status_code == 200
    assert api.delete(f"{group.url}/members/{other.id}", other).status_code == 403


def test_the_owner_of_a_project_cannot_leave(api: Api, make: Make) -> None:
    owner, master = make.user(), make.user()
    project = make_project(make, owner, members={master: 40})

    for caller in (owner, master, make.root):
        assert api.delete(f"{project.url}/members/{owner.id}", caller).status_code == 403
        for less in ({"access_level": 10}, {"access_level": 40, "expires_at": "2999-01-01"}):
            assert api.put(f"{project.url}/members/{owner.id}", caller, **less).status_code == 403
        assert api.put(f"{project.url}/members/{owner.id}", caller, access_level=40).status_code == 200
    (held,) = [each for each in api.get(f"{project.url}/members", owner).json() if each["id"] == owner.id]
    assert (held["access_level"], held["expires_at"]) == (40, None)
    assert api.delete(f"{project.url}/members/{master.id}", owner).status_code == 200


@KINDS
@pytest.mark.parametrize("path", ["members", "members/all"])
def test_a_longer_list_takes_no_more_statements(api: Api, make: Make, kind: str, path: str) -> None:
    owner = make.user()
    source = _source(make, kind, owner, {})
    costs = []
    for _ in range(2):
        add_members(make, source, {make.user(): 10, make.user(): 20})
        costs.append(statements_of(make, lambda: api.get(f"{source.url}/{path}", owner)))

    assert costs[0] == costs[1]
