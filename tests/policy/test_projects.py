"""Permissions of projects and groups: rules as tables, and lists that agree with them."""

import random
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.core.db.times import day_of
from ingot.core.errors import NotFound
from ingot.projects.groups import policy as groups_policy
from ingot.projects.groups.params import ListGroups
from ingot.projects.groups.queries import find_group, list_groups
from ingot.projects.namespaces.params import ListNamespaces
from ingot.projects.namespaces.queries import actor_levels_in, list_namespaces
from ingot.projects.projects import policy
from ingot.projects.projects.params import ListProjects
from ingot.projects.projects.queries import existing_project, find_project, list_projects, visible_projects_by_path
from ingot.projects.projects.tables import Project, projects
from tests.client import Make, User
from tests.factories import Group, make_group, make_project, share
from tests.factories import Project as MadeProject

USER = Actor(user_id=7, username="u", via="private")
EXTERNAL = Actor(user_id=8, username="e", external=True, via="private")
_READABLE = {
    external: select(projects.c.id).where(policy.readable_projects(external=external)) for external in (False, True)
}
ROOT = Actor(user_id=1, username="root", admin=True, via="private")


@pytest.fixture(scope="module")
def sample(make: Make) -> Project:
    """Record to modify."""
    made = make_project(make)
    return make.database.read(lambda db: existing_project(db, made.id))


# Rule, then the lowest caller: none, any signed-in user, or a level; in a private, an internal and a public project.
SEE, NO = "anyone", None
RULES: list[tuple[Any, Any, Any, Any]] = [
    (policy.may_see_project, Level.GUEST, "user", SEE),
    (policy.may_download_code, Level.REPORTER, "user", SEE),
    (policy.may_see_statistics, Level.REPORTER, Level.REPORTER, Level.REPORTER),
    (policy.may_fork_project, Level.REPORTER, "user", "user"),
    (policy.may_star_project, Level.GUEST, "user", "user"),
    (policy.may_upload, Level.GUEST, "user", "user"),
    (policy.may_join_or_leave, Level.GUEST, "user", "user"),
    (policy.may_download_wiki, Level.REPORTER, "user", SEE),
    (policy.may_push_code, Level.DEVELOPER, Level.DEVELOPER, Level.DEVELOPER),
    (policy.may_write_project, Level.DEVELOPER, Level.DEVELOPER, Level.DEVELOPER),
    (policy.may_admin_project, Level.MASTER, Level.MASTER, Level.MASTER),
    (policy.may_change_project, Level.MASTER, Level.MASTER, Level.MASTER),
    (policy.may_own_project, Level.OWNER, Level.OWNER, Level.OWNER),
    (policy.may_transfer_project, Level.OWNER, Level.OWNER, Level.OWNER),
]


@pytest.mark.parametrize(
    ("rule", "private", "internal", "public"), RULES, ids=lambda value: getattr(value, "__name__", "")
)
def test_each_rule_requires_a_level(sample: Project, rule: Any, private: Any, internal: Any, public: Any) -> None:
    for visibility, least in (("private", private), ("internal", internal), ("public", public)):
        project = msgspec.structs.replace(sample, visibility=visibility)
        assert rule(ANONYMOUS, Access(), project) is (least == SEE)
        assert rule(ROOT, Access(), project) is True
        for level in Level:
            opened = least in (SEE, "user")
            assert rule(USER, Access(level=level), project) is (opened or level >= least), (visibility, level)
            if visibility == "internal":
                # External users are treated as on a private project.
                assert rule(EXTERNAL, Access(level=level), project) is (level >= (private if private != SEE else 0))


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        (policy.may_see_project, True),
        (policy.may_download_code, True),
        (policy.may_fork_project, True),
        (policy.may_star_project, True),
        (policy.may_own_project, True),
        (policy.may_admin_project, True),
        (policy.may_upload, False),
        (policy.may_write_project, False),
        (policy.may_change_project, False),
        (policy.may_transfer_project, False),
        (policy.may_join_or_leave, False),
        (policy.may_request_access, False),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_archived_projects_are_read_only(sample: Project, rule: Any, allowed: bool) -> None:
    project = msgspec.structs.replace(sample, visibility="public", archived=True)

    for actor in (USER, ROOT):
        assert rule(actor, Access(level=Level.OWNER), project) is allowed


@pytest.mark.parametrize(
    ("visibility", "enabled", "level", "user", "external"),
    [
        ("public", True, Level.NONE, True, True),
        ("internal", True, Level.NONE, True, False),
        ("private", True, Level.NONE, False, False),
        ("public", False, Level.NONE, False, False),
        ("public", True, Level.GUEST, False, False),
    ],
)
def test_permission_to_request_access(
    sample: Project, visibility: str, enabled: bool, level: Level, user: bool, external: bool
) -> None:
    project = msgspec.structs.replace(sample, visibility=visibility, request_access_enabled=enabled)

    assert policy.may_request_access(USER, Access(level=level), project) is user
    assert policy.may_request_access(EXTERNAL, Access(level=level), project) is external
    assert policy.may_request_access(ANONYMOUS, Access(), project) is False


@pytest.fixture(scope="module")
def random_data(make: Make) -> tuple[list[User], list[Group], list[MadeProject]]:
    """Return random users, nested groups, projects, memberships with and without expiry, and shares of both."""
    dice = random.Random(20)
    people = [make.user(external=number == 0) for number in range(5)]
    groups: list[Group] = []
    visible = {"private": ["private"], "internal": ["private", "internal"], "public": ["private", "internal", "public"]}
    seen: dict[int, str] = {}

    def ends() -> dict[str, str]:
        return {"expires_at": "2001-01-01"} if dice.random() < 0.25 else {}

    for _ in range(14):
        parent = dice.choice([None, *groups]) if groups else None
        allowed = visible[seen[parent.id]] if parent else list(visible)
        visibility = dice.choice(allowed)
        group = make_group(make, parent=parent, visibility=visibility)
        seen[group.id] = visibility
        groups.append(group)
        for person in dice.sample(people, dice.choice([0, 0, 1])):
            sent = {"user_id": person.id, "access_level": dice.choice([10, 20, 30, 40, 50]), **ends()}
            make.api.post(f"{group.url}/members", make.root, **sent)
    made = []
    for _ in range(24):
        home = dice.choice([None, *groups])
        visibility = dice.choice(visible[seen[home.id]] if home else list(visible))
        if home:
            project = make_project(make, group=home, visibility=visibility)
        else:
            owner = dice.choice([make.root, *people[1:]])
            project = make_project(make, owner, visibility=visibility)
        made.append(project)
        if len(made) % 3 == 0:
            level = ("private", "disabled")[len(made) % 2]
            assert make.api.put(project.url, make.root, repository_access_level=level).status_code == 200
        for person in dice.sample(people, dice.choice([0, 0, 0, 1])):
            sent = {"user_id": person.id, "access_level": dice.choice([10, 30]), **ends()}
            make.api.post(f"{project.url}/members", make.root, **sent)
        if dice.random() < 0.4:
            target = dice.choice(groups)
            around = make.api.get(project.url, make.root).json()["namespace"]["full_path"]
            if not (around + "/").startswith(target.path + "/"):
                share(make, project, target, dice.choice([10, 20, 30, 40]), **ends())
    for number, invited in enumerate(groups):
        for inviting in dice.sample(groups, 2):
            if inviting is not invited:
                ended = {"expires_at": "2001-01-01"} if number % 4 == 3 else {}
                share(make, inviting, invited, dice.choice([10, 20, 30, 40, 50]), **ended)
    return people, groups, made


def _actors(people: list[User]) -> list[Actor]:
    users = [
        Actor(user_id=person.id, username=person.username, external=number == 0, via="private")
        for number, person in enumerate(people)
    ]
    return [*users, ROOT]


def _found(db: Connection, finder: Any, actor: Actor, number: int) -> Access | None:
    try:
        access, _ = finder(db, actor, number)
    except NotFound:
        return None
    return access  # type: ignore[no-any-return]


def test_project_policy_and_lists_agree(
    make: Make, random_data: tuple[list[User], list[Group], list[MadeProject]]
) -> None:
    """``may_see_project`` and ``visible_projects``, and each membership filter, on every row for each user."""
    people, _, made = random_data

    def compare(db: Connection) -> int:
        page, rows = Page(size=10_000), 0
        for actor in [*_actors(people), ANONYMOUS]:
            everything = {project.id for project in list_projects(db, actor, ListProjects(), page).items}
            held = {
                least: {
                    project.id for project in list_projects(db, actor, ListProjects(min_access_level=least), page).items
                }
                for least in (10, 20, 30, 40, 50)
            }
            member = {project.id for project in list_projects(db, actor, ListProjects(membership=True), page).items}
            owned = {project.id for project in list_projects(db, actor, ListProjects(owned=True), page).items}
            for project in made:
                access = _found(db, find_project, actor, project.id)
                assert (access is not None) is (project.id in everything), (actor, project)
                if access is None or not actor.known:
                    continue
                rows += 1
                assert (access.level >= Level.GUEST) is (project.id in member), (actor, project)
                assert (access.level >= Level.OWNER) is (project.id in owned), (actor, project)
                for least, found in held.items():
                    assert (access.level >= least) is (project.id in found), (actor, project, least)
        return rows

    assert make.database.read(compare) > 50


def test_code_policy_and_lookups_by_path_agree(
    make: Make, random_data: tuple[list[User], list[Group], list[MadeProject]]
) -> None:
    """``may_download_code`` and ``readable_projects``, and single projects by path."""
    people, _, made = random_data

    def compare(db: Connection) -> int:
        rows = 0
        for actor in _actors(people):
            together = visible_projects_by_path(db, actor, [project.path for project in made])
            values = {"actor": actor.user_id, "today": day_of(db.now)}
            readable = {row[0] for row in db.rows(_READABLE[actor.external], **values)}
            for project in made:
                access, found = _found(db, find_project, actor, project.id), together.get(project.path.lower())
                assert access == (found.access if found else None), (actor, project)
                if found is not None and not actor.admin:
                    rows += 1
                    may = policy.may_download_code(actor, found.access, found.project)
                    assert may is (project.id in readable), (actor, project)
        return rows

    assert make.database.read(compare) > 50


def test_group_policy_and_lists_agree(
    make: Make, random_data: tuple[list[User], list[Group], list[MadeProject]]
) -> None:
    """``may_see_group`` and ``visible_groups``, and namespaces, on every row for each user."""
    people, groups, _ = random_data

    def compare(db: Connection) -> int:
        page, rows = Page(size=10_000), 0
        for actor in _actors(people):
            wanted = ListGroups(all_available=True)
            everything = {group.id for group in list_groups(db, actor, wanted, page).items}
            held = {
                least: {group.id for group in list_groups(db, actor, ListGroups(min_access_level=least), page).items}
                for least in (10, 30, 50)
            }
            spaces = {space.id for space in list_namespaces(db, actor, ListNamespaces(), page).items}
            levels = actor_levels_in(db, actor, [group.id for group in groups])
            for group in groups:
                access = _found(db, find_group, actor, group.id)
                assert (access is not None) is (group.id in everything), (actor, group)
                if access is not None:
                    assert levels.get(group.id, 0) == access.level, (actor, group)
                belongs = access is not None and (access.level >= Level.GUEST or actor.admin)
                assert belongs is (group.id in spaces), (actor, group)
                for least, found in held.items():
                    rows += 1
                    holds = access is not None and access.level >= least
                    assert holds is (group.id in found), (actor, group, least)
        return rows

    assert make.database.read(compare) > 50


def test_rules_of_groups() -> None:
    """Owners administer; all users create unless denied."""
    for level in Level:
        assert groups_policy.may_admin_group(USER, Access(level=level), None) is (level == Level.OWNER)  # type: ignore[arg-type]
        assert groups_policy.may_admin_group(ROOT, Access(level=level), None) is True  # type: ignore[arg-type]
