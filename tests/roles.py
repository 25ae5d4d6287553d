"""Project or group with a user of each role, for permission tests."""

from typing import Any

from ingot.core.access.levels import Level
from tests.client import Make, User
from tests.factories import Group, Project, make_group, make_project

MEMBERS = {
    "master": Level.MASTER,
    "developer": Level.DEVELOPER,
    "reporter": Level.REPORTER,
    "guest": Level.GUEST,
}


class UsersByRole:
    """Callers by role: administrator, owner, each member level, a user without membership, and anonymous."""

    def __init__(self, make: Make) -> None:
        self._people: dict[str, User | None] = {"administrator": make.root, "nobody": None}
        for role in ("owner", "stranger", *MEMBERS):
            self._people[role] = make.user()

    def __getitem__(self, role: str) -> User | None:
        return self._people[role]

    def __getattr__(self, role: str) -> User:
        person = self._people[role]
        assert person is not None
        return person

    @property
    def members(self) -> dict[User, int]:
        """Return the members by level."""
        return {getattr(self, role): int(level) for role, level in MEMBERS.items()}


def project_with(make: Make, roles: UsersByRole, **attributes: Any) -> Project:
    """Create a project of the roles, private by default."""
    return make_project(make, roles.owner, members=roles.members, **{"visibility": "private", **attributes})


def group_with(make: Make, roles: UsersByRole, **attributes: Any) -> Group:
    """Create a group of the roles, private by default."""
    return make_group(make, roles.owner, members=roles.members, **{"visibility": "private", **attributes})
