"""Inherited access: parent groups, shares, and expiry."""

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, add_members, day, ids, make_group, make_project, share


@pytest.fixture(scope="module")
def nested_groups(make: Make) -> tuple[list[Group], Project, list[User]]:
    """Return three nested groups with a project in the innermost, and one member of each group."""
    people = [make.user() for _ in range(3)]
    groups: list[Group] = []
    for person, level in zip(people, (Level.REPORTER, Level.DEVELOPER, Level.MASTER), strict=True):
        groups.append(make_group(make, parent=groups[-1] if groups else None, members={person: level}))
    return groups, make_project(make, group=groups[-1]), people


def test_members_of_parent_groups_have_access(
    api: Api, make: Make, nested_groups: tuple[list[Group], Project, list[User]]
) -> None:
    groups, project, people = nested_groups

    for person, level in zip(people, (20, 30, 40), strict=True):
        assert api.get(project.url, person).json()["permissions"] == {
            "project_access": None,
            "group_access": {"access_level": level, "notification_level": 3},
        }
        assert api.get(f"{project.url}/members/{person.id}", person).status_code == 404
        inherited = api.get(f"{project.url}/members/all/{person.id}", person)
        assert inherited.json()["access_level"] == level
        assert ids(api.get("/projects", person, membership=True)) == [project.id]
    everybody = {make.root.id, *(person.id for person in people)}
    assert set(ids(api.get(f"{project.url}/members/all", make.root))) == everybody
    assert set(ids(api.get(f"{project.url}/users", make.root))) == everybody
    assert ids(api.get(f"{project.url}/members", make.root)) == []
    counts = [len(ids(api.get(f"{group.url}/members/all", make.root))) for group in groups]
    assert counts == [2, 3, 4]


def test_masters_of_a_parent_group_administer_projects_below(
    api: Api, nested_groups: tuple[list[Group], Project, list[User]]
) -> None:
    _, project, (reporter, developer, master) = nested_groups

    for person, status in ((reporter, 403), (developer, 403), (master, 200)):
        assert api.put(project.url, person, description="x").status_code == status


def test_the_highest_level_counts(api: Api, make: Make) -> None:
    person = make.user()
    top = make_group(make, members={person: Level.MASTER})
    below = make_group(make, parent=top, members={person: Level.GUEST})
    project = make_project(make, group=below, members={person: Level.REPORTER})

    shown = api.get(project.url, person).json()["permissions"]
    assert (shown["project_access"]["access_level"], shown["group_access"]["access_level"]) == (20, 40)
    assert api.get(f"{project.url}/members/all/{person.id}", person).json()["access_level"] == 40
    assert api.put(project.url, person, description="by the group").status_code == 200
    (once,) = [each for each in api.get(f"{project.url}/members/all", person).json() if each["id"] == person.id]
    assert once["access_level"] == 40


LEVELS = [
    (Level.OWNER, Level.DEVELOPER, 30),
    (Level.REPORTER, Level.MASTER, 20),
    (Level.MASTER, Level.MASTER, 40),
    (Level.GUEST, Level.GUEST, 10),
]


@pytest.mark.parametrize(("held", "given", "least"), LEVELS)
@pytest.mark.parametrize("deep", [0, 2])
def test_a_share_grants_the_lower_of_both_levels(
    api: Api, make: Make, held: Level, given: Level, least: int, deep: int
) -> None:
    """The project is shared with a group two levels below the group of the member."""
    person = make.user()
    group = make_group(make, members={person: held})
    for _ in range(deep):
        group = make_group(make, parent=group)
    project = make_project(make)
    share(make, project, group, given)

    for level in (10, 20, 30, 40, 50):
        found = ids(api.get("/projects", person, membership=True, min_access_level=level))
        assert found == ([project.id] if level <= least else [])
    assert api.put(project.url, person, description="x").status_code == (200 if least >= 40 else 403)
    assert api.delete(project.url, person).status_code == 403


def test_a_share_grants_nothing_to_the_parent_group(api: Api, make: Make) -> None:
    below_only = make.user()
    top = make_group(make)
    below = make_group(make, parent=top, members={below_only: Level.OWNER})
    project = make_project(make)
    share(make, project, top, Level.DEVELOPER)

    assert api.get(project.url, below_only).status_code == 404
    share(make, project, below, Level.GUEST)
    assert api.get(project.url, below_only).status_code == 200


def _seen(api: Api, project: Project, person: User) -> tuple[int, list[int], int]:
    listed = ids(api.get("/projects", person, membership=True))
    return api.get(project.url, person).status_code, listed, api.get(f"{project.url}/members", person).status_code


@pytest.mark.parametrize("by", ["project", "group", "group above", "share", "group of the share"])
def test_expired_access_is_ignored(api: Api, instance: Instance, make: Make, by: str) -> None:
    person = make.user()
    top = make_group(make)
    group = make_group(make, parent=top)
    project = make_project(make, group=group)
    other = make_group(make)
    ends = {"expires_at": "2888-06-15"}
    if by == "share":
        add_members(make, other, {person: Level.DEVELOPER})
        share(make, project, other, Level.DEVELOPER, **ends)
    elif by == "group of the share":
        share(make, project, other, Level.DEVELOPER)
        add_members(make, other, {person: Level.DEVELOPER}, **ends)
    else:
        subjects: dict[str, Group | Project] = {"project": project, "group": group, "group above": top}
        add_members(make, subjects[by], {person: 30}, **ends)

    with day(instance, "2888-06-14"):
        assert _seen(api, project, person) == (200, [project.id], 200)
    with day(instance, "2888-06-15"):
        assert _seen(api, project, person) == (404, [], 404)
        if by == "share":
            assert api.get(project.url, make.root).json()["shared_with_groups"] == []
    assert _seen(api, project, person) == (200, [project.id], 200)


def test_expired_rows_are_deleted(api: Api, instance: Instance, make: Make) -> None:
    from ingot.projects.members.service import delete_expired_memberships
    from ingot.projects.sharing.service import delete_expired_shares

    project, group, person = make_project(make), make_group(make), make.user()
    add_members(make, project, {person: 10}, expires_at="2001-01-01")
    share(make, project, group, 10, expires_at="2001-01-01")

    assert make.database.write(delete_expired_memberships) >= 1
    assert make.database.write(delete_expired_shares) >= 1
    assert make.database.write(delete_expired_memberships) == 0


def test_removed_members_lose_access_at_once(api: Api, make: Make) -> None:
    """No cache keeps a removed membership."""
    person = make.user()
    group = make_group(make, members={person: Level.MASTER})
    project = make_project(make, group=group)
    assert api.get(project.url, person).status_code == 200

    api.delete(f"{group.url}/members/{person.id}", make.root)

    assert _seen(api, project, person) == (404, [], 404)
    assert api.put(project.url, person, description="x").status_code == 404
    assert api.get(group.url, person).status_code == 404
