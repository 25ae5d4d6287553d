"""Response structs of protected environments."""

from collections.abc import Collection, Sequence

from ingot.core.access.levels import Level
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.projects.environments.protection.queries import applying_rules
from ingot.projects.environments.protection.tables import DeployAccess, ProtectedEnvironment

LEVEL_NAMES: dict[int, str] = {Level.DEVELOPER: "Developers + Maintainers", Level.MASTER: "Maintainers"}
_ADMINISTRATORS = "Instance admins"


class DeployAccessLevelView(View):
    """A role, a user or a group that may deploy."""

    id: int
    access_level: int | None
    access_level_description: str
    user_id: int | None
    group_id: int | None
    group_inheritance_type: int


class ProtectedEnvironmentView(View):
    """Protected environment; approvals of deployments do not exist, so none are required."""

    name: str
    deploy_access_levels: list[DeployAccessLevelView]
    required_approval_count: int = 0
    approval_rules: tuple[()] = ()


def protected_environment_view(rule: ProtectedEnvironment, entries: Sequence[DeployAccess]) -> ProtectedEnvironmentView:
    """Return the view of a rule with its entries."""
    return ProtectedEnvironmentView(rule.name, [_level_view(entry) for entry in entries if entry.rule_id == rule.id])


def protected_names(db: Connection, project_id: int, names: Collection[str]) -> set[str]:
    """Return those of these environments of a project that a rule protects."""
    return set(applying_rules(db, project_id, names))


def description(entry: DeployAccess) -> str:
    """Return the name of a role, a user or a group."""
    role = LEVEL_NAMES.get(entry.access_level or 0, _ADMINISTRATORS)
    return entry.user_name or entry.group_name or role


def _level_view(entry: DeployAccess) -> DeployAccessLevelView:
    return DeployAccessLevelView(
        entry.id,
        entry.access_level,
        description(entry),
        entry.user_id,
        entry.group_id,
        entry.group_inheritance_type,
    )
