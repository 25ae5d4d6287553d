"""Nested groups, projects and members for an instance under measurement, without repositories."""

import random
from typing import Any

from ingot.accounts.tokens.service import create_token
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.service import create_user
from ingot.core.db.connection import Connection
from ingot.core.names import NAMESPACES
from ingot.core.settings import Settings
from ingot.projects.namespaces.tables import memberships, namespace_tree, namespaces
from ingot.projects.projects.tables import project_topics, projects, stars
from ingot.server.app import open_database

MEMBER = "token-of-a-member"
MEMBER_NAME = "member-of-many"
BELONGS_TO = 500
BY_GROUPS = 200
STARRED = 40
_VISIBILITIES = ("private", "private", "internal", "public")
_OFF = ("only_allow_merge_if_pipeline_succeeds", "only_allow_merge_if_all_discussions_are_resolved")


def insert_project(
    db: Connection, number: int, namespace_id: int, around: str, visibility: str, runners_token: bytes
) -> int:
    """Insert a project without a repository; return its id."""
    name = f"project-{number}"
    flags: dict[str, Any] = {
        column.name: column.name not in _OFF for column in projects.c if column.name.endswith("_enabled")
    }
    stamp = f"2026-01-01T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
    project_id = db.insert(
        projects,
        namespace_id=namespace_id,
        creator_id=1,
        name=name,
        name_key=name,
        path=name,
        path_key=name,
        full_path=f"{around}/{name}",
        full_path_key=f"{around}/{name}",
        description="A project of the benchmark",
        visibility=visibility,
        default_branch="master",
        archived=number % 20 == 0,
        **{**flags, **dict.fromkeys(_OFF, False)},
        public_jobs=True,
        import_status="none",
        runners_token=runners_token,
        **dict.fromkeys(
            (
                "forks_count",
                "star_count",
                "open_issues_count",
                "commit_count",
                "repository_size",
                "lfs_objects_size",
                "job_artifacts_size",
            ),
            number % 50,
        ),
        empty=True,
        repository_key=f"{number:064x}",
        created_at=stamp,
        updated_at=stamp,
        last_activity_at=stamp,
    )
    for topic in ("forge", "bench") if number % 4 == 0 else ():
        db.insert(project_topics, project_id=project_id, name=topic, name_key=topic)
    return project_id


class NamespaceData:
    """Groups three levels deep, projects in groups and in personal namespaces, and their members."""

    def __init__(self, db: Connection, people: int) -> None:
        self._db = db
        self._dice = random.Random(1)
        self._token = db.vault.seal("runners token")
        self.people = [self._user(f"tree-person-{number}") for number in range(people)]
        self.member = self._user(MEMBER_NAME)
        create_token(db, self.member[0], "personal", "Bench", ["api"], secret=MEMBER)
        self.groups: list[tuple[int, str, str]] = []
        self.projects: list[tuple[int, int]] = []
        self.belonging: list[int] = []
        """Projects to which the member belongs one by one."""
        self._taken: set[tuple[str, int, int]] = set()

    def _user(self, name: str) -> tuple[int, int]:
        wanted = CreateUser(email=f"{name}@example.org", name=name, username=name, force_random_password=True)
        user = create_user(self._db, wanted, None)
        own = namespaces.select().where(namespaces.c.owner_id == user.id)
        namespace_id: int = self._db.value(own.with_only_columns(namespaces.c.id))
        return user.id, namespace_id

    def add_groups(self, how_many: int) -> None:
        """Add groups: of ten, one is at the top, three below it, and two below each of these."""
        for number in range(how_many // 10):
            top = self._group(f"top-{number}", _VISIBILITIES[number % 4], [])
            for middle in range(3):
                below = self._group(f"middle-{middle}", top[2], [top])
                for deep in range(2):
                    self._group(f"deep-{deep}", top[2], [top, below])

    def _group(self, path: str, visibility: str, above: list[tuple[int, str, str]]) -> tuple[int, str, str]:
        full_path = "/".join([*(each[1].rpartition("/")[2] for each in above), path])
        group_id = self._db.insert(
            namespaces,
            kind="group",
            name=path,
            path=path,
            full_path=full_path,
            full_name=full_path.replace("/", " / "),
            parent_id=above[-1][0] if above else None,
            visibility=visibility,
            description="",
            lfs_enabled=True,
            request_access_enabled=True,
            share_with_group_lock=False,
            created_at=self._db.now,
            updated_at=self._db.now,
            full_path_key=full_path,
            name_key=path,
        )
        for ancestor_id in [*(each[0] for each in above), group_id]:
            self._db.insert(namespace_tree, ancestor_id=ancestor_id, descendant_id=group_id)
        group = (group_id, full_path, visibility)
        self.groups.append(group)
        return group

    def add_projects(self, how_many: int) -> None:
        """Add projects: six of ten are in groups."""
        for number in range(how_many):
            if number % 10 < 6:
                group_id, full_path, visibility = self._dice.choice(self.groups)
                self._project(number, group_id, full_path, visibility)
            else:
                place = number % len(self.people)
                user_id, own_id = self.people[place]
                project_id = self._project(number, own_id, f"tree-person-{place}", _VISIBILITIES[number % 4])
                self._add_membership("project", project_id, own_id, user_id, 40)

    def _project(self, number: int, namespace_id: int, around: str, visibility: str) -> int:
        project_id = insert_project(self._db, number, namespace_id, around, visibility, self._token)
        self.projects.append((project_id, namespace_id))
        return project_id

    def add_members(self, how_many: int) -> None:
        """Add members: two of five in groups, all others in projects; one user in five hundred projects."""
        self._add_the_member()
        while len(self._taken) < how_many:
            user_id, _ = self._dice.choice(self.people)
            level = self._dice.choice((10, 20, 30, 40))
            if self._dice.random() < 0.4:
                group_id = self._dice.choice(self.groups)[0]
                self._add_membership("group", group_id, group_id, user_id, level)
            else:
                self._add_membership("project", *self._dice.choice(self.projects), user_id, level)

    def _add_the_member(self) -> None:
        """Add the member to some projects through groups and to the others directly; half of these are writable."""
        user_id = self.member[0]
        inside: dict[int, int] = {}
        for _, namespace_id in self.projects:
            inside[namespace_id] = inside.get(namespace_id, 0) + 1
        groups: set[int] = set()
        belonging = 0
        # The innermost ones only, so that nothing is counted twice.
        for group_id, full_path, _ in self.groups:
            if full_path.count("/") == 2 and belonging < BY_GROUPS:
                groups.add(group_id)
                belonging += inside.get(group_id, 0)
                self._add_membership("group", group_id, group_id, user_id, 30)
        others = [each for each in self.projects if each[1] not in groups]
        for number, (project_id, namespace_id) in enumerate(self._dice.sample(others, BELONGS_TO - belonging)):
            self._add_membership("project", project_id, namespace_id, user_id, 20 if number % 2 else 40)
            self.belonging.append(project_id)
        for project_id, _ in self._dice.sample(others, STARRED):
            self._db.insert(stars, user_id=user_id, project_id=project_id, created_at=self._db.now)

    def _add_membership(self, kind: str, source_id: int, namespace_id: int, user_id: int, level: int) -> None:
        if (kind, source_id, user_id) in self._taken:
            return
        self._taken.add((kind, source_id, user_id))
        self._db.insert(
            memberships,
            source_kind=kind,
            source_id=source_id,
            namespace_id=namespace_id,
            user_id=user_id,
            access_level=level,
            notification_level=3,
            created_at=self._db.now,
        )


def fill_namespaces(settings: Settings, how_many: int) -> NamespaceData:
    """Add this many projects, a fifth as many groups, and five members for each project."""
    database = open_database(settings)

    def work(db: Connection) -> NamespaceData:
        db.lock(NAMESPACES)
        namespace_data = NamespaceData(db, max(200, how_many // 10))
        namespace_data.add_groups(how_many // 5)
        namespace_data.add_projects(how_many)
        namespace_data.add_members(how_many * 5)
        return namespace_data

    namespace_data = database.write(work)
    database.close()
    return namespace_data
