"""Single groups by id or path, and their contents."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.groups.test_create import VIEW
from tests.client import Api, Make
from tests.factories import Project, by_path, ids, make_group, make_project, share

CALLERS = [
    ("nobody", "public", 401),
    ("stranger", "public", 200),
    ("stranger", "internal", 200),
    ("stranger", "private", 404),
    ("external", "public", 200),
    ("external", "internal", 404),
    ("guest", "private", 200),
    ("root", "private", 200),
]


@pytest.mark.parametrize(("who", "visibility", "status"), CALLERS)
def test_group_visibility(api: Api, make: Make, who: str, visibility: str, status: int) -> None:
    guest = make.user()
    group = make_group(make, members={guest: Level.GUEST}, visibility=visibility)
    callers = {"nobody": None, "stranger": make.user(), "guest": guest, "root": make.root}
    caller = make.user(external=True) if who == "external" else callers[who]

    for path in (group.url, by_path("groups", group.path), by_path("groups", group.path.upper())):
        answer = api.get(path, caller)
        assert answer.status_code == status
        if status == 200:
            token = {"runners_token", "ip_restriction_ranges"} if who == "root" else set()
            assert set(answer.json()) == VIEW | {"projects", "shared_projects", "shared_with_groups"} | token
        elif status == 404:
            assert answer.json() == {"message": "404 Group Not Found"}
    for below in ("members", "projects", "subgroups", "descendant_groups", "members/all", "projects/shared"):
        assert api.get(f"{group.url}/{below}", caller).status_code == status


@pytest.mark.parametrize("name", ["999999999", "no-such-group", "99999999999999999999", "-1", "a%00b", "%ff", "a%2Fb"])
def test_missing_groups(api: Api, make: Make, name: str) -> None:
    assert api.get(f"/groups/{name}", make.root).status_code == 404


def test_a_user_namespace_is_not_a_group(api: Api, make: Make) -> None:
    user = make.user()
    namespace = api.get(f"/namespaces/{user.username}", user).json()

    assert api.get(f"/groups/{user.username}", user).status_code == 404
    assert api.get(f"/groups/{namespace['id']}", user).status_code == 404


def test_a_group_shows_its_visible_projects(api: Api, make: Make) -> None:
    guest = make.user()
    group = make_group(make, visibility="public")
    hidden = make_project(make, group=group)
    seen = make_project(make, group=group, members={guest: Level.GUEST})
    opened = make_project(make, group=group, visibility="public")
    shared = make_project(make, visibility="public")
    share(make, shared, group, Level.GUEST)

    for caller, expected in ((make.root, {hidden.id, seen.id, opened.id}), (guest, {seen.id, opened.id})):
        shown = api.get(group.url, caller).json()
        assert {project["id"] for project in shown["projects"]} == expected
        assert [project["id"] for project in shown["shared_projects"]] == [shared.id]
        assert not any("runners_token" in project for project in shown["projects"])
    assert "projects" not in api.get(group.url, make.root, with_projects=False).json()


def test_projects_of_a_group(api: Api, make: Make) -> None:
    member = make.user()
    top = make_group(make, members={member: Level.REPORTER})
    below = make_group(make, parent=top)
    here = make_project(make, group=top)
    deep = make_project(make, group=below)
    shared = make_project(make)
    share(make, shared, top, Level.GUEST)
    archived = make_project(make, group=top)
    api.post(f"{archived.url}/archive", make.root)
    api.post(f"{here.url}/star", member)

    lists: list[tuple[dict[str, Any], set[Project]]] = [
        ({}, {here, shared, archived}),
        ({"with_shared": False}, {here, archived}),
        ({"include_subgroups": True}, {here, shared, archived, deep}),
        ({"include_subgroups": True, "with_shared": False}, {here, archived, deep}),
        ({"archived": False}, {here, shared}),
        ({"archived": True}, {archived}),
        ({"starred": True}, {here}),
        ({"search": here.name}, {here}),
        ({"owned": True}, set()),
        ({"visibility": "public"}, set()),
        ({"min_access_level": 20}, {here, archived}),
    ]
    for params, expected in lists:
        assert set(ids(api.get(f"{top.url}/projects", member, **params))) == {each.id for each in expected}, params
    assert ids(api.get(f"{top.url}/projects/shared", member)) == [shared.id]
    simple = api.get(f"{top.url}/projects", member, simple=True).json()
    assert all("visibility" not in project for project in simple)
    assert ids(api.get(f"{below.url}/projects", member)) == [deep.id]


def test_invisible_shared_projects_are_not_listed(api: Api, make: Make) -> None:
    """A share shows in the group only to users to whom it grants access."""
    group = make_group(make, visibility="public")
    private = make_project(make)
    share(make, private, group, Level.DEVELOPER)

    assert ids(api.get(f"{group.url}/projects", make.user())) == []
    assert ids(api.get(f"{group.url}/projects/shared", make.user())) == []
    assert api.get(group.url, make.user()).json()["shared_projects"] == []


def test_subgroups(api: Api, make: Make) -> None:
    top = make_group(make, visibility="public")
    shown = make_group(make, parent=top, visibility="public")
    hidden = make_group(make, parent=top)
    deep = make_group(make, parent=shown, visibility="public")
    stranger = make.user()

    assert set(ids(api.get(f"{top.url}/subgroups", make.root))) == {shown.id, hidden.id}
    assert ids(api.get(f"{top.url}/subgroups", stranger)) == [shown.id]
    assert set(ids(api.get(f"{top.url}/descendant_groups", stranger))) == {shown.id, deep.id}
    assert ids(api.get(f"{top.url}/descendant_groups", make.root, search=deep.name)) == [deep.id]


def test_owners_see_the_registration_token(api: Api, make: Make) -> None:
    owner, maintainer = make.user(), make.user()
    group = make_group(make, owner, members={maintainer: Level.MASTER})
    token = api.get(group.url, owner).json()["runners_token"]
    assert "runners_token" not in api.get(group.url, maintainer).json()
    runner = api.post("/runners", token=token)
    assert runner.status_code == 201, runner.text
    assert api.get(f"/runners/{runner.json()['id']}", owner).json()["groups"][0]["id"] == group.id
    assert api.post(f"{group.url}/runners/reset_registration_token", owner).json()["token"] != token
    assert api.get(group.url, owner).json()["runners_token"] != token
