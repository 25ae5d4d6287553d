"""Queries of the protection rules of groups."""

from sqlalchemy import bindparam, literal, select

from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.repositories.protection.tables import ProtectedBranch, group_protected_branches

_OF_GROUP = select(*group_protected_branches.c, literal(False)).where(
    group_protected_branches.c.group_id == bindparam("group")
)
_ALL = _OF_GROUP.order_by(group_protected_branches.c.name)
_BY_NAME = _OF_GROUP.where(group_protected_branches.c.name == bindparam("name"))


def group_branch_rules(db: Connection, group_id: int) -> list[ProtectedBranch]:
    """List the rules of a group itself; each has the id of the group instead of that of a project."""
    return db.all(ProtectedBranch, _ALL, group=group_id)


def group_branch_rule_or_none(db: Connection, group_id: int, name: str) -> ProtectedBranch | None:
    """Return the rule with exactly this name."""
    return db.first(ProtectedBranch, _BY_NAME, group=group_id, name=name)


def find_group_branch_rule(db: Connection, group_id: int, name: str) -> ProtectedBranch:
    """Return the rule with exactly this name; raise NotFound otherwise."""
    rule = group_branch_rule_or_none(db, group_id, name)
    if rule is None:
        raise NotFound()
    return rule
