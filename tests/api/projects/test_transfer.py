"""Transfer of projects to other namespaces."""

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import by_path, ids, make_group, make_project, share

CALLERS = [
    ("nobody", Level.MASTER, 401),
    ("stranger", Level.MASTER, 404),
    ("master", Level.MASTER, 403),
    ("owner", Level.REPORTER, 404),
    ("owner", Level.NONE, 404),
    ("owner", Level.MASTER, 200),
    ("owner", Level.OWNER, 200),
    ("root", Level.NONE, 200),
]


@pytest.mark.parametrize(("who", "there", "status"), CALLERS)
def test_owners_transfer_to_namespaces_where_they_may_create(
    api: Api, make: Make, who: str, there: Level, status: int
) -> None:
    owner, caller = make.user(), make.user()
    project = make_project(make, owner, members={caller: 40 if who == "master" else 0})
    person = {"nobody": None, "owner": owner, "root": make.root}.get(who, caller)
    target = make_group(make, members={person: there} if person and who != "root" else {})

    moved = api.put(f"{project.url}/transfer", person, namespace=target.id)

    assert moved.status_code == status
    if status == 200:
        assert moved.json()["namespace"]["id"] == target.id
        assert "owner" not in moved.json()


def test_the_old_path_redirects(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner)
    below = make_group(make, owner, parent=group)
    project = make_project(make, owner)
    last = project.path.split("/")[-1]

    moved = api.put(f"{project.url}/transfer", owner, namespace=below.path).json()
    assert moved["path_with_namespace"] == f"{below.path}/{last}"
    back = api.put(f"{project.url}/transfer", owner, namespace=owner.username).json()
    assert (back["path_with_namespace"], back["owner"]["id"]) == (project.path, owner.id)

    for path in (project.path, f"{below.path}/{last}", f"{below.path}/{last}".upper()):
        assert api.get(by_path("projects", path), owner).json()["id"] == project.id


def test_access_changes_at_once(api: Api, make: Make) -> None:
    before, after, direct, sharing = (make.user() for _ in range(4))
    old, new = make_group(make, members={before: 40}), make_group(make, members={after: 40})
    project = make_project(make, group=old, members={direct: 10})
    share(make, project, make_group(make, members={sharing: 30}), 20)

    api.put(f"{project.url}/transfer", make.root, namespace=new.id)

    for who, status in ((before, 404), (after, 200), (direct, 200), (sharing, 200)):
        assert api.get(project.url, who).status_code == status
        assert bool(ids(api.get("/projects", who, membership=True))) is (status == 200)
    # Project members see the new parent group, and no longer the old one.
    assert [api.get(group.url, direct).status_code for group in (old, new)] == [404, 200]


@pytest.mark.parametrize(
    ("project", "group", "after"),
    [("public", "private", "private"), ("public", "internal", "internal"), ("private", "public", "private")],
)
def test_visibility_is_limited_by_the_new_group(api: Api, make: Make, project: str, group: str, after: str) -> None:
    made, target = make_project(make, visibility=project), make_group(make, visibility=group)

    moved = api.put(f"{made.url}/transfer", make.root, namespace=target.id).json()

    assert moved["visibility"] == after
    assert api.get(made.url).status_code == (200 if after == "public" else 404)


def test_invalid_transfers_are_rejected(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner)
    project = make_project(make, owner, name="Thing")
    path_clash, name_clash, group_clash = (make_group(make, owner) for _ in range(3))
    make_project(make, owner, group=path_clash, name="Other", path="THING")
    make_project(make, owner, group=name_clash, name="Thing", path="other")
    make_group(make, owner, parent=group_clash, path="thing")

    for target in (path_clash, name_clash, group_clash):
        refused = api.put(f"{project.url}/transfer", owner, namespace=target.id)
        assert (refused.status_code, refused.json()["message"][:16]) == (400, "Transfer failed:")
    assert api.put(f"{project.url}/transfer", owner, namespace=owner.username).status_code == 400
    assert api.put(f"{project.url}/transfer", owner, namespace=999999999).status_code == 404
    assert api.put(f"{project.url}/transfer", owner).json() == {"message": '400 (Bad request) "namespace" not given'}
    assert api.put(f"{project.url}/transfer", owner, namespace=make.user().username).status_code == 404
    assert api.get(project.url, owner).json()["path_with_namespace"] == project.path
    assert api.put(f"{project.url}/transfer", owner, namespace=group.id).status_code == 200


def test_external_users_cannot_transfer(api: Api, make: Make) -> None:
    """Owners of a group who became external may manage it, but transfer nothing."""
    user = make.user()
    group, other = make_group(make, user), make_group(make, user)
    project = make_project(make, user, group=group)
    api.put(f"/users/{user.id}", make.root, external=True)

    for target in (user.username, other.id):
        assert api.put(f"{project.url}/transfer", user, namespace=target).status_code == 404
    assert api.put(project.url, user, description="still mine").status_code == 200


def test_the_limit_of_personal_projects_applies(api: Api, make: Make) -> None:
    user = make.user(projects_limit=1)
    group = make_group(make, user)
    first, second = (make_project(make, user, group=group) for _ in range(2))

    assert api.put(f"{first.url}/transfer", user, namespace=user.username).status_code == 200
    assert api.put(f"{second.url}/transfer", user, namespace=user.username).status_code == 403
    assert api.put(f"{first.url}/transfer", user, namespace=group.id).status_code == 200


def test_the_ghost_user_cannot_receive_a_project(api: Api, make: Make) -> None:
    project = make_project(make, visibility="public")
    (ghost,) = api.get("/users", make.root, username="ghost").json()

    refusals = [
        api.put(f"{project.url}/transfer", make.root, namespace="ghost"),
        api.post(f"/projects/user/{ghost['id']}", make.root, name="haunted"),
        api.post(f"{project.url}/fork", make.root, namespace="ghost"),
    ]

    for refused in refusals:
        assert (refused.status_code, refused.json()) == (400, {"message": {"namespace": ["is not valid"]}})
    assert api.get(project.url).json()["path_with_namespace"] == project.path
    assert api.get(f"/users/{ghost['id']}/projects").json() == []
