"""Tables of protected branches and tags."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

# A name may contain ``*``, which matches any characters; level 0 allows no one.
protected_branches = Table(
    "protected_branches",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("name"),
    number("push_level"),
    number("merge_level"),
    flag("allow_force_push"),
    text("created_at"),
    UniqueConstraint("project_id", "name"),
    sqlite_autoincrement=True,
)

# Rules of groups, which apply to all of their projects in addition to the rules of the project.
group_protected_branches = Table(
    "group_protected_branches",
    metadata,
    row_id(),
    reference("group_id", "namespaces.id"),
    text("name"),
    number("push_level"),
    number("merge_level"),
    flag("allow_force_push"),
    text("created_at"),
    UniqueConstraint("group_id", "name", name="uq_group_protected_branches_group_id"),
    sqlite_autoincrement=True,
)

# Deploy keys that may push to the branches of a rule; a row ends with the rule, and when the key leaves the project.
protected_branch_deploy_keys = Table(
    "protected_branch_deploy_keys",
    metadata,
    row_id(),
    reference("rule_id", "protected_branches.id"),
    reference("key_project_id", "deploy_key_projects.id", index=True),
    UniqueConstraint("rule_id", "key_project_id"),
    sqlite_autoincrement=True,
)

protected_tags = Table(
    "protected_tags",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("name"),
    number("create_level"),
    text("created_at"),
    UniqueConstraint("project_id", "name"),
    sqlite_autoincrement=True,
)


class ProtectedBranch(Record, frozen=True):
    """Protection rule for the branches that match its name; ``project_id`` is a group's id in a rule of a group."""

    id: int
    project_id: int
    name: str
    push_level: int
    merge_level: int
    allow_force_push: bool
    created_at: Timestamp
    inherited: bool = False
    """Whether a project has the rule from a group."""


class RuleDeployKey(Record, frozen=True):
    """Deploy key that may push to the branches of a rule; ``id`` is that of the entry."""

    id: int
    rule_id: int
    key_id: int
    title: str


class ProtectedTag(Record, frozen=True):
    """Protection rule for the tags that match its name."""

    id: int
    project_id: int
    name: str
    create_level: int
    created_at: Timestamp
