"""Transfer of groups: effects, permissions and validation."""

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import by_path, ids, make_group, make_project


def test_a_transfer_moves_all_contents(api: Api, make: Make) -> None:
    group = make_group(make)
    below = make_group(make, parent=group)
    project = make_project(make, group=below)
    target = make_group(make)

    moved = api.post(f"{group.url}/transfer", make.root, group_id=target.id)

    assert moved.status_code == 201
    assert (moved.json()["parent_id"], moved.json()["full_path"]) == (target.id, f"{target.path}/{group.path}")
    assert api.get(below.url, make.root).json()["full_path"] == f"{target.path}/{below.path}"
    shown = api.get(project.url, make.root).json()
    assert shown["path_with_namespace"] == f"{target.path}/{project.path}"
    for path in (project.path, shown["path_with_namespace"]):
        assert api.get(by_path("projects", path), make.root).json()["id"] == project.id
    for path in (below.path, f"{target.path}/{below.path}"):
        assert api.get(by_path("groups", path), make.root).json()["id"] == below.id

    back = api.post(f"{group.url}/transfer", make.root)
    assert (back.json()["parent_id"], back.json()["full_path"]) == (None, group.path)
    assert api.get(by_path("groups", f"{target.path}/{below.path}"), make.root).json()["id"] == below.id


def test_inherited_access_changes_at_once(api: Api, make: Make) -> None:
    before, after = make.user(), make.user()
    old = make_group(make, members={before: Level.MASTER})
    new = make_group(make, members={after: Level.MASTER})
    group = make_group(make, parent=old)
    project = make_project(make, group=make_group(make, parent=group))

    assert [api.get(project.url, who).status_code for who in (before, after)] == [200, 404]
    api.post(f"{group.url}/transfer", make.root, group_id=new.id)

    assert [api.get(project.url, who).status_code for who in (before, after)] == [404, 200]
    assert ids(api.get("/projects", before, membership=True)) == []
    assert ids(api.get("/projects", after, membership=True)) == [project.id]
    assert ids(api.get("/groups", after, min_access_level=40, search=group.name)) != []
    assert ids(api.get("/groups", before, all_available=True, search=group.name)) == []


def test_visibility_is_reduced_to_that_of_the_new_parent(api: Api, make: Make) -> None:
    group = make_group(make, visibility="public")
    below = make_group(make, parent=group, visibility="internal")
    public = make_project(make, group=group, visibility="public")
    private = make_project(make, group=below)
    target = make_group(make)
    stranger = make.user()

    api.post(f"{group.url}/transfer", make.root, group_id=target.id)

    for url in (group.url, below.url, public.url, private.url):
        assert api.get(url, make.root).json()["visibility"] == "private"
        assert api.get(url, stranger).status_code == 404
    assert api.get(public.url).status_code == 404


CALLERS = [
    (Level.OWNER, Level.OWNER, 201),
    (Level.OWNER, Level.MASTER, 403),
    (Level.MASTER, Level.OWNER, 403),
    (Level.OWNER, Level.NONE, 404),
    (Level.NONE, Level.OWNER, 404),
]


@pytest.mark.parametrize(("here", "there", "status"), CALLERS)
def test_a_transfer_requires_ownership_of_both_groups(
    api: Api, make: Make, here: Level, there: Level, status: int
) -> None:
    user = make.user()
    group, target = make_group(make, members={user: here}), make_group(make, members={user: there})

    assert api.post(f"{group.url}/transfer", user, group_id=target.id).status_code == status
    assert api.get(group.url, make.root).json()["parent_id"] == (target.id if status == 201 else None)


def test_a_transfer_to_the_top_level_requires_permission_to_create_groups(api: Api, make: Make) -> None:
    for attributes, status in (({}, 201), ({"can_create_group": False}, 403), ({"external": True}, 403)):
        user = make.user(**attributes)
        group = make_group(make, parent=make_group(make), members={user: Level.OWNER})
        assert api.post(f"{group.url}/transfer", user).status_code == status


def test_invalid_transfers_are_rejected(api: Api, make: Make) -> None:
    top = make_group(make)
    below = make_group(make, parent=top, path="same")
    deeper = make_group(make, parent=below)
    other = make_group(make)
    make_group(make, parent=other, path="Same", name="Another")
    occupied = make_group(make)
    make_project(make, group=occupied, name="same")

    cases = [(top, below), (top, deeper), (top, top), (below, top), (below, other), (below, occupied)]
    for group, target in cases:
        refused = api.post(f"{group.url}/transfer", make.root, group_id=target.id)
        assert (refused.status_code, refused.json()["message"][:16]) == (400, "Transfer failed:")
    assert api.post(f"{top.url}/transfer", make.root).status_code == 400
    assert api.get(deeper.url, make.root).json()["full_path"] == deeper.path


def test_a_transfer_respects_the_nesting_limit(api: Api, make: Make) -> None:
    deep = make_group(make)
    for _ in range(18):
        deep = make_group(make, parent=deep)
    flat, tall = make_group(make), make_group(make)
    make_group(make, parent=tall)

    assert api.post(f"{tall.url}/transfer", make.root, group_id=deep.id).status_code == 400
    assert api.post(f"{flat.url}/transfer", make.root, group_id=deep.id).status_code == 201


def test_an_administrator_transfers_a_project_into_a_group(api: Api, make: Make) -> None:
    owner = make.user()
    group, project = make_group(make, owner), make_project(make, owner, visibility="public")

    assert api.post(f"{group.url}/projects/{project.id}", owner).status_code == 403
    moved = api.post(f"/groups/{group.path}/projects/{project.path.replace('/', '%2F')}", make.root)

    assert moved.status_code == 201
    assert [each["id"] for each in moved.json()["projects"]] == [project.id]
    assert api.get(project.url, owner).json()["visibility"] == "private"
    assert api.post(f"{group.url}/projects/{project.id}", make.root).status_code == 400
    assert api.post(f"{group.url}/projects/999999999", make.root).status_code == 404
    assert api.post(f"/groups/no-such-group/projects/{project.id}", make.root).status_code == 404


def test_transfer_locations_are_groups_where_the_transfer_is_allowed(api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    parent = make_group(make, members={owner: Level.OWNER})
    group = make_group(make, parent=parent)
    below = make_group(make, parent=group)
    target = make_group(make, members={owner: Level.OWNER, other: Level.OWNER})
    make_group(make, members={owner: Level.MASTER})

    locations = api.get(f"{group.url}/transfer_locations", owner)
    assert ids(locations) == [target.id]
    assert api.get(f"{group.url}/transfer_locations", owner, search="no such group").json() == []
    assert {group.id, below.id, parent.id}.isdisjoint(ids(api.get(f"{group.url}/transfer_locations", make.root)))
    assert api.get(f"{group.url}/transfer_locations", other).status_code == 404


def test_locations_of_a_project_are_groups_where_the_action_is_allowed(api: Api, make: Make) -> None:
    owner, member = make.user(), make.user()
    home = make_group(make, members={owner: Level.OWNER, member: Level.DEVELOPER})
    project = make_project(make, group=home)
    maintained = make_group(make, members={owner: Level.MASTER})
    closed = make_group(make, members={owner: Level.MASTER})
    assert api.put(closed.url, make.root, project_creation_level="owner").status_code == 200
    visited = make_group(make, members={owner: Level.GUEST})

    assert ids(api.get(f"{project.url}/transfer_locations", owner)) == [maintained.id]
    share_locations = f"{project.url}/share_locations"
    assert set(ids(api.get(share_locations, owner))) == {maintained.id, closed.id, visited.id}
    assert api.post(f"{project.url}/share", owner, group_id=visited.id, group_access=10).status_code == 201
    assert set(ids(api.get(share_locations, owner))) == {maintained.id, closed.id}
    for kind in ("transfer", "share"):
        assert api.get(f"{project.url}/{kind}_locations", member).status_code == 403


def test_groups_that_invited_a_group(api: Api, make: Make) -> None:
    member, stranger = make.user(), make.user()
    invited = make_group(make, members={member: Level.GUEST}, visibility="public")
    inviting = make_group(make, visibility="private")
    assert api.post(f"{inviting.url}/share", make.root, group_id=invited.id, group_access=20).status_code == 201

    assert ids(api.get(f"{invited.url}/groups/shared", member)) == [inviting.id]
    assert api.get(f"{invited.url}/groups/shared", stranger).json() == []
