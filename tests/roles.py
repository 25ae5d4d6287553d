"""A project or group with somebody at every level, for tests of who may do what."""

from typing import Any

from ingot.core.access.levels import Level
from tests.client import Make, Person
from tests.factories import Group, Project, make_group, make_project

MEMBERS = {
    "master": Level.MASTER,
    "developer": Level.DEVELOPER,
    "reporter": Level.REPORTER,
    "guest": Level.GUEST,
}


class UsersByRole:
    """Who calls: ``administrator``, ``owner``, a member by level, a ``stranger``, or ``nobody`` at all."""

    def __init__(self, make: Make) -> None:
        self._people: dict[str, Person | None] = {"administrator": make.root, "nobody": None}
        for role in ("owner", "stranger", *MEMBERS):
            self._people[role] = make.user()

    def __getitem__(self, role: str) -> Person | None:
        return self._people[role]

    def __getattr__(self, role: str) -> Person:
        person = self._people[role]
        assert person is not None
        return person

    @property
    def members(self) -> dict[Person, int]:
        """Who belongs, and at which level."""
        return {getattr(self, role): int(level) for role, level in MEMBERS.items()}


def project_with(make: Make, roles: UsersByRole, **attributes: Any) -> Project:
    """A project of the roles; private where nothing else is said."""
    return make_project(make, roles.owner, members=roles.members, **{"visibility": "private", **attributes})


def group_with(make: Make, roles: UsersByRole, **attributes: Any) -> Group:
    """A group of the roles; private where nothing else is said."""
    return make_group(make, roles.owner, members=roles.members, **{"visibility": "private", **attributes})
