"""Visibility of projects: limits and changes."""

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import ids, make_group, make_project

INSIDE = [
    ("private", "private", 201),
    ("private", "internal", 400),
    ("private", "public", 400),
    ("internal", "internal", 201),
    ("internal", "public", 400),
    ("public", "public", 201),
]


@pytest.mark.parametrize(("around", "wanted", "status"), INSIDE)
def test_a_project_is_not_more_visible_than_its_group(
    api: Api, make: Make, around: str, wanted: str, status: int
) -> None:
    group = make_group(make, visibility=around)

    made = api.post("/projects", make.root, name="In", namespace_id=group.id, visibility=wanted)
    changed = api.put(make_project(make, group=group).url, make.root, visibility=wanted)

    assert (made.status_code, changed.status_code) == (status, 200 if status == 201 else 400)
    if status == 400:
        message = f"{wanted} is not allowed in a {around} group."
        assert made.json() == changed.json() == {"message": {"visibility_level": [message]}}


def test_the_default_visibility_is_limited_by_the_group(api: Api, make: Make) -> None:
    api.put("/application/settings", make.root, default_project_visibility="internal")
    try:
        group = make_group(make)
        assert api.get(make_project(make, group=group).url, make.root).json()["visibility"] == "private"
        assert api.get(make_project(make).url, make.root).json()["visibility"] == "internal"
    finally:
        api.put("/application/settings", make.root, default_project_visibility="private")


def test_restricted_levels_are_reserved_for_administrators(api: Api, make: Make) -> None:
    user = make.user()
    project, public = make_project(make, user), make_project(make, visibility="public")
    before = make_project(make, user, visibility="public")
    api.put("/application/settings", make.root, restricted_visibility_levels=["public"])
    try:
        refused = api.post("/projects", user, name="Open", visibility="public")
        assert (refused.status_code, list(refused.json()["message"])) == (400, ["visibility_level"])
        assert api.put(project.url, user, visibility="public").status_code == 400
        assert api.put(project.url, user, visibility="internal").status_code == 200
        # Existing levels stay, also when they are sent again.
        assert api.put(before.url, user, visibility="public", description="x").status_code == 200
        # A fork of a public project gets the highest permitted level.
        assert api.post(f"{public.url}/fork", user).json()["visibility"] == "internal"
        assert api.post("/projects", make.root, name=make.name("o"), visibility="public").status_code == 201
        assert api.put(project.url, make.root, visibility="public").status_code == 200
    finally:
        api.put("/application/settings", make.root, restricted_visibility_levels=[])


def test_a_change_takes_effect_at_once(api: Api, make: Make) -> None:
    owner, stranger, external = make.user(), make.user(), make.user(external=True)
    project = make_project(make, owner)

    expected = {
        "public": (200, 200, 200),
        "internal": (404, 200, 404),
        "private": (404, 404, 404),
    }
    for visibility in ("public", "private", "internal", "public", "internal", "private"):
        api.put(project.url, owner, visibility=visibility)
        for caller, status in zip((None, stranger, external), expected[visibility], strict=True):
            assert api.get(project.url, caller).status_code == status
            listed = project.id in ids(api.get("/projects", caller, search=project.name))
            found = project.id in ids(api.get(f"/projects/search/{project.name}", caller))
            of_user = project.id in ids(api.get(f"/users/{owner.id}/projects", caller))
            assert listed == found == of_user == (status == 200)


def test_external_users_see_internal_projects_as_members_only(api: Api, make: Make) -> None:
    external = make.user(external=True)
    internal, joined = (make_project(make, visibility="internal") for _ in range(2))
    group = make_group(make, members={external: Level.GUEST}, visibility="internal")
    by_group = make_project(make, group=group, visibility="internal")
    api.post(f"{joined.url}/members", make.root, user_id=external.id, access_level=10)

    for project, status in ((internal, 404), (joined, 200), (by_group, 200)):
        assert api.get(project.url, external).status_code == status
        assert (project.id in ids(api.get("/projects", external, search=project.name))) is (status == 200)
        assert api.post(f"{project.url}/star", external).status_code == (201 if status == 200 else 404)


def test_a_fork_is_not_more_visible_than_its_source(api: Api, make: Make) -> None:
    user, other = make.user(), make.user()
    project = make_project(make, visibility="public")
    fork = api.post(f"{project.url}/fork", user).json()
    again = api.post(f"/projects/{fork['id']}/fork", other).json()

    api.put(project.url, make.root, visibility="private")

    for each in (fork, again):
        assert api.get(f"/projects/{each['id']}", make.root).json()["visibility"] == "private"
        assert api.get(f"/projects/{each['id']}").status_code == 404
    refused = api.put(f"/projects/{fork['id']}", user, visibility="public")
    reason = "public is not allowed since the fork source project has lower visibility."
    assert refused.json() == {"message": {"visibility_level": [reason]}}
    api.delete(f"/projects/{fork['id']}/fork", make.root)
    assert api.put(f"/projects/{fork['id']}", user, visibility="public").status_code == 200
    # In the other direction nothing changes.
    api.put(project.url, make.root, visibility="public")
    assert api.get(f"/projects/{again['id']}", make.root).json()["visibility"] == "private"


def test_a_fork_into_a_group_is_not_more_visible_than_the_group(api: Api, make: Make) -> None:
    user, project = make.user(), make_project(make, visibility="public")
    group = make_group(make, user)

    assert api.post(f"{project.url}/fork", user, namespace=group.id).json()["visibility"] == "private"
