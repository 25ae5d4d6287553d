"""Queries of protection rules."""

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.repositories.protection.tables import ProtectedBranch, ProtectedTag, protected_branches, protected_tags

_BRANCHES = select(protected_branches).where(protected_branches.c.project_id == bindparam("project"))
_ALL_BRANCHES = _BRANCHES.order_by(protected_branches.c.name)
_BRANCH = _BRANCHES.where(protected_branches.c.name == bindparam("name"))
_TAGS = select(protected_tags).where(protected_tags.c.project_id == bindparam("project"))
_ALL_TAGS = _TAGS.order_by(protected_tags.c.name)
_TAG = _TAGS.where(protected_tags.c.name == bindparam("name"))


def branch_rules(db: Connection, project_id: int) -> list[ProtectedBranch]:
    """List the rules for a project's branches; there are few, so all are read."""
    return db.all(ProtectedBranch, _ALL_BRANCHES, project=project_id)


def branch_rule_or_none(db: Connection, project_id: int, name: str) -> ProtectedBranch | None:
    """Return the rule with exactly this name, which may contain ``*``, if any."""
    return db.first(ProtectedBranch, _BRANCH, project=project_id, name=name)


def find_branch_rule(db: Connection, project_id: int, name: str) -> ProtectedBranch:
    """Return the rule with exactly this name; raise NotFound otherwise."""
    rule = branch_rule_or_none(db, project_id, name)
    if rule is None:
        raise NotFound()
    return rule


def tag_rules(db: Connection, project_id: int) -> list[ProtectedTag]:
    """List the rules for a project's tags."""
    return db.all(ProtectedTag, _ALL_TAGS, project=project_id)


def tag_rule_or_none(db: Connection, project_id: int, name: str) -> ProtectedTag | None:
    """Return the rule with exactly this name, which may contain ``*``, if any."""
    return db.first(ProtectedTag, _TAG, project=project_id, name=name)


def find_tag_rule(db: Connection, project_id: int, name: str) -> ProtectedTag:
    """Return the rule with exactly this name; raise NotFound otherwise."""
    rule = tag_rule_or_none(db, project_id, name)
    if rule is None:
        raise NotFound()
    return rule
