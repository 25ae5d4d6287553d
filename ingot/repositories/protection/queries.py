"""Queries of protection rules."""

from collections import defaultdict
from collections.abc import Collection

from sqlalchemy import bindparam, literal, select, union_all

from ingot.accounts.keys.tables import ssh_keys
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import NotFound
from ingot.projects.deploy_keys.tables import deploy_key_projects
from ingot.projects.namespaces.group_rules import default_protection
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.protection.tables import (
    ProtectedBranch,
    ProtectedTag,
    RuleDeployKey,
    group_protected_branches,
    protected_branch_deploy_keys,
    protected_branches,
    protected_tags,
)

_BRANCHES = select(*protected_branches.c, literal(False)).where(protected_branches.c.project_id == bindparam("project"))
# The rules of the groups that contain the project come with those of the project in one statement.
_OF_GROUPS = (
    select(*group_protected_branches.c, literal(True))
    .join(namespace_tree, namespace_tree.c.ancestor_id == group_protected_branches.c.group_id)
    .join(projects, projects.c.namespace_id == namespace_tree.c.descendant_id)
)
_ALL_BRANCHES = union_all(
    select(*protected_branches.c, literal(False)).where(protected_branches.c.project_id == bindparam("project")),
    _OF_GROUPS.where(projects.c.id == bindparam("project")),
).order_by(protected_branches.c.name)
_OF_PROJECTS = union_all(
    select(protected_branches.c.project_id, *protected_branches.c, literal(False)).where(
        in_list(protected_branches.c.project_id, "projects")
    ),
    _OF_GROUPS.with_only_columns(projects.c.id, *group_protected_branches.c, literal(True)).where(
        in_list(projects.c.id, "projects")
    ),
)
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


def developers_start_project(db: Connection, project: Project) -> bool:
    """Return whether a project is empty and developers may push its first branch."""
    return project.empty and default_protection(db, project.namespace_id).admits_first_push


def branch_rules(db: Connection, project_id: int) -> list[ProtectedBranch]:
    """List the rules for a project's branches, with those of its groups; there are few, so all are read."""
    return db.all(ProtectedBranch, _ALL_BRANCHES, project=project_id)


def branch_rules_of_projects(db: Connection, project_ids: Collection[int]) -> dict[int, list[ProtectedBranch]]:
    """Return the rules for the branches of projects by the id of the project, in one statement."""
    rules: defaultdict[int, list[ProtectedBranch]] = defaultdict(list)
    for project_id, *columns in db.rows(_OF_PROJECTS, projects=sorted(project_ids)):
        rules[project_id].append(ProtectedBranch(*columns))
    return rules


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
