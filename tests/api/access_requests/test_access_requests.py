"""Access requests to groups and projects."""

from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, add_members, day, ids, make_group, make_project, statements_of

VIEW = {"id", "username", "name", "state", "avatar_url", "web_url", "requested_at"}
KINDS = pytest.mark.parametrize("kind", ["group", "project"])


def _source(
    make: Make, kind: str, owner: User, members: dict[User, int] | None = None, **attributes: Any
) -> Group | Project:
    sent = {"visibility": "public", **attributes}
    if kind == "group":
        return make_group(make, owner, members=members, **sent)
    return make_project(make, owner, members=members, **sent)


@KINDS
def test_requesting_access_returns_the_request(api: Api, make: Make, kind: str) -> None:
    owner, asking = make.user(), make.user()
    source = _source(make, kind, owner)

    asked = api.post(f"{source.url}/access_requests", asking)

    assert asked.status_code == 201
    assert set(asked.json()) == VIEW
    assert asked.json()["id"] == asking.id
    assert api.get(f"{source.url}/access_requests", owner).json() == [asked.json()]
    twice = api.post(f"{source.url}/access_requests", asking)
    assert (twice.status_code, twice.json()) == (400, {"message": {"user": ["already exists in source"]}})


@KINDS
@pytest.mark.parametrize(
    ("who", "attributes", "status"),
    [
        ("nobody", {}, 401),
        ("stranger", {"visibility": "private"}, 404),
        ("stranger", {"visibility": "internal"}, 201),
        ("stranger", {"request_access_enabled": False}, 403),
        ("external", {}, 201),
        ("external", {"visibility": "internal"}, 404),
        ("guest", {}, 403),
        ("owner", {}, 403),
    ],
)
def test_permission_to_request_access(
    api: Api, make: Make, kind: str, who: str, attributes: dict[str, Any], status: int
) -> None:
    owner, guest = make.user(), make.user()
    source = _source(make, kind, owner, {guest: 10}, **attributes)
    stranger = make.user(external=who == "external")
    caller = {"nobody": None, "guest": guest, "owner": owner}.get(who, stranger)

    assert api.post(f"{source.url}/access_requests", caller).status_code == status
    assert len(ids(api.get(f"{source.url}/access_requests", owner))) == (1 if status == 201 else 0)


@KINDS
@pytest.mark.parametrize(
    ("who", "status"), [("nobody", 401), ("stranger", 403), ("developer", 403), ("asking", 403), ("owner", 201)]
)
def test_permission_to_approve_and_deny(api: Api, make: Make, kind: str, who: str, status: int) -> None:
    owner, developer, asking = make.user(), make.user(), make.user()
    source = _source(make, kind, owner, {developer: 30})
    api.post(f"{source.url}/access_requests", asking)
    callers = {"nobody": None, "stranger": make.user(), "developer": developer, "asking": asking, "owner": owner}
    caller = callers[who]

    assert api.get(f"{source.url}/access_requests", caller).status_code == (200 if status == 201 else status)
    approved = api.put(f"{source.url}/access_requests/{asking.id}/approve", caller, access_level=20)
    assert approved.status_code == status
    if status == 201:
        assert approved.json()["access_level"] == 20
        assert ids(api.get(f"{source.url}/access_requests", owner)) == []
    level = api.get(f"{source.url}/members/{asking.id}", make.root)
    assert level.status_code == (200 if status == 201 else 404)


@KINDS
def test_approval_grants_developer_access_by_default(api: Api, make: Make, kind: str) -> None:
    owner, asking = make.user(), make.user()
    source = _source(make, kind, owner)
    api.post(f"{source.url}/access_requests", asking)

    for sent, status in (({"access_level": 1234}, 400), ({"access_level": "x"}, 400), ({}, 201), ({}, 404)):
        approved = api.put(f"{source.url}/access_requests/{asking.id}/approve", owner, **sent)
        assert approved.status_code == status
        if status == 201:
            assert approved.json()["access_level"] == 30


@KINDS
def test_requests_are_denied_and_withdrawn(api: Api, make: Make, kind: str) -> None:
    owner, asking, developer = make.user(), make.user(), make.user()
    source = _source(make, kind, owner, {developer: 30})
    place = f"{source.url}/access_requests/{asking.id}"

    for caller, status, left in ((developer, 403, 1), (make.user(), 403, 1), (asking, 200, 0), (owner, 200, 0)):
        api.post(f"{source.url}/access_requests", asking)
        assert api.delete(place, caller).status_code == status
        assert len(ids(api.get(f"{source.url}/access_requests", owner))) == left
    # Denying a missing request is no error, and a member is not a request.
    assert api.delete(place, owner).status_code == 200
    assert api.delete(f"{source.url}/access_requests/{developer.id}", owner).status_code == 200
    assert api.get(f"{source.url}/members/{developer.id}", owner).status_code == 200


@KINDS
def test_adding_a_member_removes_their_request(api: Api, make: Make, kind: str) -> None:
    owner, asking = make.user(), make.user()
    source = _source(make, kind, owner)
    api.post(f"{source.url}/access_requests", asking)

    add_members(make, source, {asking: 40})

    assert ids(api.get(f"{source.url}/access_requests", owner)) == []


@KINDS
def test_expired_members_may_request_access_again(api: Api, instance: Instance, make: Make, kind: str) -> None:
    owner, former = make.user(), make.user()
    source = _source(make, kind, owner)
    add_members(make, source, {former: 30}, expires_at="2888-01-01")

    assert api.post(f"{source.url}/access_requests", former).status_code == 403
    with day(instance, "2888-01-01"):
        assert api.post(f"{source.url}/access_requests", former).status_code == 201
        approved = api.put(f"{source.url}/access_requests/{former.id}/approve", owner)
        assert (approved.status_code, approved.json()["expires_at"]) == (201, None)


def test_requests_follow_a_project_to_another_group(api: Api, make: Make) -> None:
    asking, old, new = make.user(), make_group(make, visibility="public"), make_group(make, visibility="public")
    project = make_project(make, group=old, visibility="public")
    api.post(f"{project.url}/access_requests", asking)

    api.put(f"{project.url}/transfer", make.root, namespace=new.id)
    api.delete(old.url, make.root)

    assert ids(api.get(f"{project.url}/access_requests", make.root)) == [asking.id]


@KINDS
def test_a_longer_list_takes_no_more_statements(api: Api, make: Make, kind: str) -> None:
    owner = make.user()
    source = _source(make, kind, owner)
    costs = []
    for _ in range(2):
        for _ in range(2):
            api.post(f"{source.url}/access_requests", make.user())
        costs.append(statements_of(make, lambda: api.get(f"{source.url}/access_requests", owner)))

    assert costs[0] == costs[1]
