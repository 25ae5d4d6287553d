"""Sharing of groups with groups: granted access and expiry."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ingot.core.access.levels import Level
from ingot.projects.group_shares.service import delete_expired_group_shares
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, day, ids, make_group, make_project, share

AVAILABLE = {"all_available": True, "order_by": "id", "sort": "desc"}


def _level(api: Api, group: Group, person: User) -> int:
    """Return the highest access level of a user in a group, determined by requests."""
    if api.get(group.url, person).status_code == 404:
        return 0
    if api.put(group.url, person, description="tried").status_code == 200:
        return Level.OWNER
    created = api.post("/projects", person, name=f"by-{person.username}", namespace_id=group.id)
    return Level.MASTER if created.status_code == 201 else Level.GUEST


CALLERS = [("nobody", 401), ("stranger", 404), ("master", 403), ("owner", 201), ("root", 201)]


@pytest.mark.parametrize(("who", "status"), CALLERS)
def test_owners_share(api: Api, make: Make, who: str, status: int) -> None:
    owner, caller = make.user(), make.user()
    group = make_group(make, owner, members={caller: Level.MASTER if who == "master" else Level.NONE})
    invited = make_group(make, visibility="public")
    person = {"nobody": None, "owner": owner, "root": make.root}.get(who, caller)

    shared = api.post(
        f"/groups/{group.id}/share", person, group_id=invited.id, group_access=30, expires_at="2999-01-01"
    )

    assert shared.status_code == status
    if status == 201:
        assert shared.json()["id"] == group.id
        assert shared.json()["shared_with_groups"] == [
            {
                "group_id": invited.id,
                "group_name": invited.name,
                "group_full_path": invited.path,
                "group_access_level": 30,
                "expires_at": "2999-01-01",
            }
        ]
    gone = api.delete(f"/groups/{group.id}/share/{invited.id}", person)
    assert gone.status_code == (204 if status == 201 else status)
    assert api.get(group.url, owner).json()["shared_with_groups"] == []


INVALID: list[tuple[dict[str, Any], int]] = [
    ({"group_access": 30}, 400),
    ({"group_id": "group"}, 400),
    ({"group_id": "group", "group_access": 45}, 400),
    ({"group_id": "group", "group_access": 0}, 400),
    ({"group_id": "group", "group_access": "much"}, 400),
    ({"group_id": "group", "group_access": 10**30}, 400),
    ({"group_id": "group", "group_access": 30, "expires_at": "soon"}, 400),
    ({"group_id": "hidden", "group_access": 30}, 404),
    ({"group_id": 999999999, "group_access": 30}, 404),
    ({"group_id": "namespace", "group_access": 30}, 404),
    ({"group_id": "itself", "group_access": 30}, 409),
    ({"group_id": "twice", "group_access": 30}, 409),
]


@pytest.mark.parametrize(("sent", "status"), INVALID, ids=str)
def test_an_invalid_share_is_rejected(api: Api, make: Make, sent: dict[str, Any], status: int) -> None:
    owner = make.user()
    group = make_group(make, owner)
    groups = {
        "group": make_group(make, visibility="public").id,
        "hidden": make_group(make).id,
        "namespace": api.get(f"/namespaces/{owner.username}", owner).json()["id"],
        "itself": group.id,
        "twice": make_group(make, visibility="public").id,
    }
    api.post(f"{group.url}/share", owner, group_id=groups["twice"], group_access=10)

    named = {**sent, "group_id": groups.get(sent.get("group_id", ""), sent.get("group_id"))}
    refused = api.post(f"{group.url}/share", owner, **named)

    assert refused.status_code == status
    listed = api.get(group.url, owner).json()["shared_with_groups"]
    assert [each["group_id"] for each in listed] == [groups["twice"]]


@pytest.mark.parametrize(
    ("held", "given", "then"),
    [(10, 50, 10), (50, 10, 10), (40, 40, 40), (50, 40, 40), (40, 50, 40), (50, 50, 50)],
)
def test_members_get_the_lower_level_in_the_group_and_below(
    api: Api, make: Make, held: int, given: int, then: int
) -> None:
    member = make.user()
    group = make_group(make)
    below = make_group(make, parent=group)
    inside, deep = make_project(make, group=group), make_project(make, group=below)
    invited = make_group(make, members={member: held})
    assert [api.get(place.url, member).status_code for place in (group, below, inside, deep)] == [404] * 4

    share(make, group, invited, given)

    assert [_level(api, place, member) for place in (group, below)] == [then, then]
    for project in (inside, deep):
        assert api.get(project.url, member).status_code == 200
        assert project.id in ids(api.get("/projects", member, membership=True))
        held_at_least = [
            least
            for least in (10, 20, 30, 40, 50)
            if project.id in ids(api.get("/projects", member, min_access_level=least))
        ]
        assert max(held_at_least) == then
        changed = api.put(project.url, member, description="Changed")
        assert changed.status_code == (200 if then >= Level.MASTER else 403)
    assert {group.id, below.id} <= set(ids(api.get("/groups", member, **AVAILABLE)))
    assert group.id in ids(api.get("/groups", member))

    assert api.delete(f"{group.url}/share/{invited.id}", make.root).status_code == 204

    assert [api.get(place.url, member).status_code for place in (group, below, inside, deep)] == [404] * 4
    assert not {inside.id, deep.id} & set(ids(api.get("/projects", member)))
    assert group.id not in ids(api.get("/groups", member, **AVAILABLE))


def test_only_direct_members_of_the_invited_group_get_access(api: Api, make: Make) -> None:
    """Not members of its parents, of its subgroups, or of groups invited into it."""
    above, below, further, member = (make.user() for _ in range(4))
    parent = make_group(make, members={above: 50})
    invited = make_group(make, parent=parent, members={member: 30})
    make_group(make, parent=invited, members={below: 50})
    share(make, invited, make_group(make, members={further: 50}), 50)
    group = make_group(make)
    project = make_project(make, group=group)

    share(make, group, invited, 40)

    assert [api.get(project.url, each).status_code for each in (member, above, below, further)] == [200, 404, 404, 404]
    assert [api.get(group.url, each).status_code for each in (member, above, below, further)] == [200, 404, 404, 404]
    # Projects shared with the group are not passed on to members of the invited group.
    elsewhere = make_project(make)
    share(make, elsewhere, group, 30)
    assert api.get(elsewhere.url, member).status_code == 404


def test_parents_of_the_inviting_group_are_visible_without_access(api: Api, make: Make) -> None:
    member = make.user()
    top = make_group(make)
    project = make_project(make, group=top)
    group = make_group(make, parent=top)

    share(make, group, make_group(make, members={member: 50}), 50)

    assert api.get(top.url, member).status_code == 200
    assert api.put(top.url, member, description="Mine").status_code == 403
    assert top.id in ids(api.get("/groups", member, **AVAILABLE))
    assert api.get(project.url, member).status_code == 404


def test_a_share_expires_on_its_date(instance: Instance, api: Api, make: Make) -> None:
    member = make.user()
    group, invited = make_group(make), make_group(make, members={member: 30})
    project = make_project(make, group=group)
    share(make, group, invited, 40, expires_at="2050-05-05")

    with day(instance, "2050-05-04"):
        assert api.get(project.url, member).status_code == 200
    with day(instance, "2050-05-05"):
        assert api.get(project.url, member).status_code == 404
        assert api.get(group.url, member).status_code == 404
        assert ids(api.get("/projects", member)) == ids(api.get("/projects", make.user()))
        assert api.get(group.url, make.root).json()["shared_with_groups"] == []
        # An expired share can be created again.
        assert api.post(f"{group.url}/share", make.root, group_id=invited.id, group_access=10).status_code == 201
        assert api.get(project.url, member).status_code == 200


def test_expired_shares_are_deleted(instance: Instance, make: Make) -> None:
    group, invited = make_group(make), make_group(make)
    share(make, group, invited, 40, expires_at="2001-01-01")

    assert instance.app.database.write(delete_expired_group_shares) >= 1
    assert instance.app.database.write(delete_expired_group_shares) == 0


def test_a_share_ends_with_the_membership_or_either_group(api: Api, make: Make) -> None:
    members = [make.user() for _ in range(3)]
    invited = [make_group(make, members={member: 40}) for member in members]
    group = make_group(make)
    project = make_project(make, group=group)
    for each in invited:
        share(make, group, each, 30)
    assert [api.get(project.url, member).status_code for member in members] == [200] * 3

    api.delete(f"{invited[0].url}/members/{members[0].id}", make.root)
    api.delete(invited[1].url, make.root)

    assert [api.get(project.url, member).status_code for member in members] == [404, 404, 200]
    api.delete(group.url, make.root)
    assert api.get(invited[2].url, members[2]).json()["shared_with_groups"] == []


def test_a_share_follows_a_transferred_group(api: Api, make: Make) -> None:
    member = make.user()
    above, group = make_group(make), make_group(make)
    project = make_project(make, group=group)
    share(make, above, make_group(make, members={member: 30}), 30)
    assert api.get(project.url, member).status_code == 404

    api.post(f"{group.url}/transfer", make.root, group_id=above.id)
    assert api.get(project.url, member).status_code == 200
    api.post(f"{group.url}/transfer", make.root)
    assert api.get(project.url, member).status_code == 404


def test_invited_owners_do_not_count_as_the_last_owner(api: Api, make: Make) -> None:
    """The last direct owner must stay, because an invitation can end at any time."""
    owner, guest = make.user(), make.user()
    group = make_group(make, owner)
    share(make, group, make_group(make, members={guest: 50}), 50)

    assert api.delete(f"{group.url}/members/{owner.id}", guest).status_code == 403
    assert api.delete(f"{group.url}/members/{owner.id}", owner).status_code == 403


def test_an_invited_group_is_shown_only_to_users_who_can_see_it(api: Api, make: Make) -> None:
    owner, member = make.user(), make.user()
    group = make_group(make, owner, members={member: 20})
    hidden, shown = make_group(make, owner), make_group(make, visibility="public")
    for invited in (hidden, shown):
        api.post(f"{group.url}/share", owner, group_id=invited.id, group_access=30)

    def invited_names(person: User) -> list[int]:
        return [each["group_id"] for each in api.get(group.url, person).json()["shared_with_groups"]]

    assert invited_names(owner) == invited_names(make.root) == [hidden.id, shown.id]
    assert invited_names(member) == [shown.id]
    assert ids(api.get(f"/groups/{group.id}/invited_groups", member)) == [shown.id]
    assert sorted(ids(api.get(f"/groups/{group.id}/invited_groups", owner))) == [hidden.id, shown.id]


def test_list_of_invited_groups_and_its_filters(api: Api, make: Make) -> None:
    above = make_group(make)
    group = make_group(make, parent=above)
    project = make_project(make, group=group)
    direct, inherited, own = (make_group(make, path=make.name(stem)) for stem in ("direct", "inherited", "own"))
    share(make, group, direct, 40)
    share(make, above, inherited, 20)
    share(make, project, own, 30)
    place = f"/groups/{group.id}/invited_groups"

    assert sorted(ids(api.get(place, make.root))) == [direct.id, inherited.id]
    assert ids(api.get(place, make.root, **{"relation[]": "direct"})) == [direct.id]
    assert ids(api.get(place, make.root, **{"relation[]": "inherited"})) == [inherited.id]
    assert ids(api.get(place, make.root, min_access_level=30)) == [direct.id]
    assert ids(api.get(place, make.root, search=inherited.name[:9])) == [inherited.id]
    assert api.get(place, make.root, **{"relation[]": "distant"}).status_code == 400
    assert api.get(place, make.user()).status_code == 404
    of_project = f"/projects/{project.id}/invited_groups"
    assert sorted(ids(api.get(of_project, make.root))) == [direct.id, inherited.id, own.id]
    assert ids(api.get(of_project, make.root, **{"relation[]": "direct"})) == [own.id]
    assert api.get(of_project, make.root).json()[0] == {
        "id": direct.id,
        "web_url": f"{api.url}/groups/{direct.path}",
        "name": direct.name,
        "avatar_url": None,
        "full_name": direct.name,
        "full_path": direct.path,
    }


def test_concurrent_shares_create_one(api: Api, make: Make) -> None:
    group, invited = make_group(make), make_group(make)

    def attempt(_: int) -> int:
        return api.post(f"{group.url}/share", make.root, group_id=invited.id, group_access=30).status_code

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(attempt, range(2))) == [201, 409]


def test_unsharing_is_idempotent(api: Api, make: Make) -> None:
    group, invited = make_group(make), make_group(make)

    assert api.delete(f"{group.url}/share/{invited.id}", make.root).status_code == 204
    assert api.delete(f"{group.url}/share/foo", make.root).status_code == 400
    assert api.delete("/groups/999999999/share/1", make.root).status_code == 404


def test_external_users_see_shared_groups(api: Api, make: Make) -> None:
    external = make.user(external=True)
    group = make_group(make)
    project = make_project(make, group=group)
    share(make, group, make_group(make, members={external: 30}), 30)

    assert ids(api.get("/projects", external, membership=True)) == [project.id]
    assert api.get(group.url, external).status_code == 200
