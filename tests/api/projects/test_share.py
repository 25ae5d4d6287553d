"""Sharing projects with groups."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import make_group, make_project

CALLERS = [
    ("nobody", "public", 401),
    ("stranger", "private", 404),
    ("stranger", "public", 403),
    ("developer", "private", 403),
    ("master", "private", 201),
    ("owner", "private", 201),
    ("root", "private", 201),
]


@pytest.mark.parametrize(("who", "visibility", "status"), CALLERS)
def test_masters_share(api: Api, make: Make, who: str, visibility: str, status: int) -> None:
    owner, caller = make.user(), make.user()
    level = {"developer": 30, "master": 40}.get(who, 0)
    project = make_project(make, owner, members={caller: level}, visibility=visibility)
    group = make_group(make, visibility="public")
    person = {"nobody": None, "owner": owner, "root": make.root}.get(who, caller)

    shared = api.post(f"{project.url}/share", person, group_id=group.id, group_access=30, expires_at="2999-01-01")

    assert shared.status_code == status
    if status == 201:
        assert shared.json() == {
            "id": shared.json()["id"],
            "project_id": project.id,
            "group_id": group.id,
            "group_access": 30,
            "expires_at": "2999-01-01",
        }
    gone = api.delete(f"{project.url}/share/{group.id}", person)
    assert gone.status_code == (204 if status == 201 else status)
    assert gone.content == b"" or status != 201


INVALID: list[tuple[dict[str, Any], int]] = [
    ({"group_access": 30}, 400),
    ({"group_id": "group"}, 400),
    ({"group_id": "group", "group_access": 1234}, 400),
    ({"group_id": "group", "group_access": 50}, 400),
    ({"group_id": "group", "group_access": 0}, 400),
    ({"group_id": "group", "group_access": 30, "expires_at": "soon"}, 400),
    ({"group_id": "hidden", "group_access": 30}, 404),
    ({"group_id": 999999999, "group_access": 30}, 404),
    ({"group_id": "namespace", "group_access": 30}, 404),
    ({"group_id": "around", "group_access": 30}, 409),
    ({"group_id": "above", "group_access": 30}, 409),
    ({"group_id": "twice", "group_access": 30}, 409),
]


@pytest.mark.parametrize(("sent", "status"), INVALID, ids=str)
def test_an_invalid_share_is_rejected(api: Api, make: Make, sent: dict[str, Any], status: int) -> None:
    owner = make.user()
    above = make_group(make, owner)
    around = make_group(make, owner, parent=above)
    project = make_project(make, owner, group=around)
    groups = {
        "group": make_group(make, visibility="public").id,
        "hidden": make_group(make).id,
        "namespace": api.get(f"/namespaces/{owner.username}", owner).json()["id"],
        "around": around.id,
        "above": above.id,
        "twice": make_group(make, visibility="public").id,
    }
    api.post(f"{project.url}/share", owner, group_id=groups["twice"], group_access=10)

    refused = api.post(
        f"{project.url}/share",
        owner,
        **{**sent, "group_id": groups.get(sent.get("group_id", ""), sent.get("group_id"))},
    )

    assert refused.status_code == status
    messages = {
        "around": "Project cannot be shared with the group it is in or one of its ancestors.",
        "above": "Project cannot be shared with the group it is in or one of its ancestors.",
        "twice": "Group already shared with this group",
        "hidden": "404 Group Not Found",
        "namespace": "404 Group Not Found",
    }
    if sent.get("group_id") in messages:
        assert refused.json() == {"message": messages[sent["group_id"]]}
    listed = api.get(project.url, owner).json()["shared_with_groups"]
    assert [each["group_id"] for each in listed] == [groups["twice"]]


def test_a_group_may_forbid_sharing_of_its_projects(api: Api, make: Make) -> None:
    group = make_group(make, share_with_group_lock=True)
    subgroup = make_group(make, parent=group)
    project, other = make_project(make, group=group), make_group(make)

    for closed in (project, make_project(make, group=subgroup)):
        refused = api.post(f"{closed.url}/share", make.root, group_id=other.id, group_access=30)
        assert refused.json() == {"message": "The project sharing with group is disabled"}
    api.put(group.url, make.root, share_with_group_lock=False)
    assert api.post(f"{project.url}/share", make.root, group_id=other.id, group_access=30).status_code == 201


def test_members_cannot_share_above_their_level(api: Api, make: Make) -> None:
    """A master may grant master access at most."""
    master = make.user()
    project = make_project(make, members={master: Level.MASTER})
    group = make_group(make, master)

    assert api.post(f"{project.url}/share", master, group_id=group.id, group_access=40).status_code == 201
    assert api.delete(project.url, master).status_code == 403


def test_unsharing_is_idempotent(api: Api, make: Make) -> None:
    project, group = make_project(make), make_group(make)
    place = f"{project.url}/share/{group.id}"

    assert [api.delete(place, make.root).status_code for _ in range(2)] == [204, 204]
    assert api.delete(f"{project.url}/share/foo", make.root).status_code == 400
    assert api.delete("/projects/999999999/share/1", make.root).status_code == 404


def test_an_expired_share_can_be_created_again(api: Api, make: Make) -> None:
    project, group = make_project(make), make_group(make)
    sent = {"group_id": group.id, "group_access": 30}

    assert api.post(f"{project.url}/share", make.root, **sent, expires_at="2001-01-01").status_code == 201
    assert api.get(project.url, make.root).json()["shared_with_groups"] == []
    assert api.post(f"{project.url}/share", make.root, **sent).status_code == 201
    assert len(api.get(project.url, make.root).json()["shared_with_groups"]) == 1
