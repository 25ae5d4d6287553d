"""Tables and records of protected environments."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text

# Exactly one of the two ids is set; the name of a rule of a group is a deployment tier.
protected_environments = Table(
    "protected_environments",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True),
    reference("group_id", "namespaces.id", nullable=True),
    text("name"),
    text("created_at"),
    UniqueConstraint("project_id", "name"),
    UniqueConstraint("group_id", "name"),
    sqlite_autoincrement=True,
)

# Exactly one of role, user and group is set; a row ends with the user or the group.
deploy_access_levels = Table(
    "deploy_access_levels",
    metadata,
    row_id(),
    reference("rule_id", "protected_environments.id", index=True),
    number("access_level", nullable=True),
    reference("user_id", "users.id", nullable=True, index=True),
    reference("group_id", "namespaces.id", nullable=True, index=True),
    number("group_inheritance_type"),
    sqlite_autoincrement=True,
)


class ProtectedEnvironment(Record, frozen=True):
    """Rule for the environment of a project with this name, or for those of this tier in the projects of a group."""

    id: int
    project_id: int | None
    group_id: int | None
    name: str


class DeployAccess(Record, frozen=True):
    """A role, a user or a group that may deploy under a rule, with the name of the user or the group."""

    id: int
    rule_id: int
    access_level: int | None
    user_id: int | None
    group_id: int | None
    group_inheritance_type: int
    user_name: str | None
    group_name: str | None
