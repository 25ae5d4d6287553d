"""Deletion of groups, and of users who own groups."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import by_path, ids, make_group, make_project, share

CALLERS = [
    (Level.OWNER, "private", 200),
    (Level.MASTER, "private", 403),
    (Level.NONE, "public", 403),
    (Level.NONE, "private", 404),
]


@pytest.mark.parametrize(("level", "visibility", "status"), CALLERS)
def test_owners_delete(api: Api, make: Make, level: Level, visibility: str, status: int) -> None:
    user = make.user()
    group = make_group(make, members={user: level}, visibility=visibility)

    answer = api.delete(group.url, user)

    assert answer.status_code == status
    assert api.get(group.url, make.root).status_code == (404 if status == 200 else 200)


def test_deleting_a_group_deletes_its_contents_and_frees_their_paths(api: Api, make: Make) -> None:
    member = make.user()
    top = make_group(make, members={member: Level.DEVELOPER})
    below = make_group(make, parent=top, path="below")
    project = make_project(make, group=below, name="thing")
    elsewhere = make_project(make)
    share(make, elsewhere, below, Level.GUEST)

    assert api.delete(top.url, make.root).status_code == 200

    for url in (below.url, project.url, project.url_by_path, by_path("groups", below.path)):
        assert api.get(url, make.root).status_code == 404
    assert api.get(elsewhere.url, make.root).json()["shared_with_groups"] == []
    assert ids(api.get("/projects", member, membership=True)) == []
    again = make_group(make, path=top.path)
    assert make_project(make, group=make_group(make, parent=again, path="below"), name="thing").id != project.id


def test_deleting_a_renamed_group_frees_both_paths(api: Api, make: Make) -> None:
    group, moved = make_group(make), make.name("moved")
    api.put(group.url, make.root, path=moved)

    api.delete(group.url, make.root)

    for path in (group.path, moved):
        assert make_group(make, path=path)


def test_deleting_a_missing_group(api: Api, make: Make) -> None:
    assert api.delete("/groups/999999999", make.root).status_code == 404


def test_the_only_owner_of_a_group_cannot_be_deleted(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner)

    refused = api.delete(f"/users/{owner.id}", make.root)

    assert refused.status_code == 409
    assert group.path in refused.json()["message"]
    assert api.get(f"/users/{owner.id}", make.root).json()["state"] == "active"
    # With another owner the group stays, and the user can be deleted.
    heir = make.user()
    api.post(f"{group.url}/members", make.root, user_id=heir.id, access_level=50)
    assert api.delete(f"/users/{owner.id}", make.root).status_code == 200
    assert ids(api.get(f"{group.url}/members", heir)) == [heir.id]


OTHER_MEMBERS = [
    ("nobody", 409),
    ("a blocked owner", 409),
    ("one until next year", 409),
    ("an owner above", 200),
    ("a master", 409),
]


@pytest.mark.parametrize(("besides", "status"), OTHER_MEMBERS)
def test_memberships_that_count_as_another_owner(api: Api, make: Make, besides: str, status: int) -> None:
    owner, other = make.user(), make.user()
    above = make_group(make, other)
    group = make_group(make, parent=above) if besides == "an owner above" else make_group(make)
    api.post(f"{group.url}/members", make.root, user_id=owner.id, access_level=50)
    sent: dict[str, Any] = {"user_id": other.id, "access_level": 40 if besides == "a master" else 50}
    if besides == "one until next year":
        sent |= {"expires_at": "2999-01-01"}
    if besides not in ("nobody", "an owner above"):
        api.post(f"{group.url}/members", make.root, **sent)
    api.delete(f"{group.url}/members/{make.root.id}", make.root)
    if besides == "a blocked owner":
        api.post(f"/users/{other.id}/block", make.root)

    assert api.delete(f"/users/{owner.id}", make.root).status_code == status
    left = api.delete(f"{group.url}/members/{owner.id}", owner if status == 409 else make.root)
    assert left.status_code == (403 if status == 409 else 200)


def test_a_hard_deletion_also_deletes_owned_groups(api: Api, make: Make) -> None:
    owner, member = make.user(), make.user()
    alone = make_group(make, owner)
    below = make_group(make, owner, parent=alone)
    project = make_project(make, owner, group=below)
    both = make_group(make, owner, members={member: Level.OWNER})

    assert api.delete(f"/users/{owner.id}", make.root, hard_delete=True).status_code == 200

    for url, status in ((alone.url, 404), (below.url, 404), (project.url, 404), (both.url, 200)):
        assert api.get(url, make.root).status_code == status


def test_a_blocked_owner_keeps_the_group(api: Api, make: Make) -> None:
    """Blocking must always work; an administrator then names another owner."""
    owner = make.user()
    group = make_group(make, owner)

    assert api.post(f"/users/{owner.id}/block", make.root).status_code == 201

    heir = make.user()
    added = api.post(f"{group.url}/members", make.root, user_id=heir.id, access_level=50)
    assert added.status_code == 201
    assert api.delete(f"{group.url}/members/{owner.id}", heir).status_code == 200
