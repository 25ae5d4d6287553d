"""Queries of protection rules."""

from collections import defaultdict

from sqlalchemy import bindparam, select

from ingot.accounts.keys.tables import ssh_keys
from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.projects.deploy_keys.tables import deploy_key_projects
from ingot.repositories.protection.tables import (
    ProtectedBranch,
    ProtectedTag,
    RuleDeployKey,
    protected_branch_deploy_keys,
    protected_branches,
    protected_tags,
)

_BRANCHES = select(protected_branches).where(protected_branches.c.project_id == bindparam("project"))
_ALL_BRANCHES = _BRANCHES.order_by(protected_branches.c.name)
_BRANCH = _BRANCHES.where(protected_branches.c.name == bindparam("name"))
_TAGS = select(protected_tags).where(protected_tags.c.project_id == bindparam("project"))
_ALL_TAGS = _TAGS.order_by(protected_tags.c.name)
_TAG = _TAGS.where(protected_tags.c.name == bindparam("name"))

_entries, _links = protected_branch_deploy_keys, deploy_key_projects
_DEPLOY_KEYS = (
    select(_entries.c.id, _entries.c.rule_id, ssh_keys.c.id, ssh_keys.c.title)
    .join(_links, _links.c.id == _entries.c.key_project_id)
    .join(ssh_keys, ssh_keys.c.id == _links.c.key_id)
    .where(_links.c.project_id == bindparam("project"))
    .order_by(_entries.c.id)
)
_RULES_OF_KEY = (
    select(_entries.c.rule_id)
    .join(_links, _links.c.id == _entries.c.key_project_id)
    .where(_links.c.project_id == bindparam("project"), _links.c.key_id == bindparam("key"))
)


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


def deploy_keys_by_rule(db: Connection, project_id: int) -> dict[int, list[RuleDeployKey]]:
    """Return the deploy keys that the rules of a project name, by the id of the rule."""
    keys: defaultdict[int, list[RuleDeployKey]] = defaultdict(list)
    for key in db.all(RuleDeployKey, _DEPLOY_KEYS, project=project_id):
        keys[key.rule_id].append(key)
    return keys


def rule_ids_of_deploy_key(db: Connection, project_id: int, key_id: int) -> frozenset[int]:
    """Return the ids of the rules that name a deploy key."""
    return frozenset(rule_id for (rule_id,) in db.rows(_RULES_OF_KEY, project=project_id, key=key_id))


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
