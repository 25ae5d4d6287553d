"""Queries of protected environments."""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, and_, bindparam, exists, or_, select, union_all

from ingot.accounts.users.tables import users
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.environments.protection.tables import (
    DeployAccess,
    ProtectedEnvironment,
    deploy_access_levels,
    protected_environments,
)
from ingot.projects.environments.tables import environments
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import Namespace, memberships, namespace_tree, namespaces
from ingot.projects.projects.tables import Project, projects, shares

_rules, _entries = protected_environments, deploy_access_levels
_COLUMNS = (_rules.c.id, _rules.c.project_id, _rules.c.group_id, _rules.c.name)
_OF_PARENT = {
    Project: select(*_COLUMNS).where(_rules.c.project_id == bindparam("parent")),
    Namespace: select(*_COLUMNS).where(_rules.c.group_id == bindparam("parent")),
}
_LISTS = {kind: list_query(statement, _rules.c.id, _rules.c.name.asc()) for kind, statement in _OF_PARENT.items()}
_BY_NAME = {kind: statement.where(_rules.c.name == bindparam("name")) for kind, statement in _OF_PARENT.items()}
_ENTRIES = (
    select(
        _entries.c.id,
        _entries.c.rule_id,
        _entries.c.access_level,
        _entries.c.user_id,
        _entries.c.group_id,
        _entries.c.group_inheritance_type,
        users.c.name,
        namespaces.c.name,
    )
    .outerjoin(users, users.c.id == _entries.c.user_id)
    .outerjoin(namespaces, namespaces.c.id == _entries.c.group_id)
    .where(in_list(_entries.c.rule_id, "rules"))
    .order_by(_entries.c.id)
)
# A rule of a project names an environment, a rule of a group the tier of environments.
_APPLYING = union_all(
    select(_rules.c.name, *_COLUMNS).where(
        _rules.c.project_id == bindparam("project"), in_list(_rules.c.name, "environments")
    ),
    select(environments.c.name, *_COLUMNS)
    .join(projects, projects.c.id == environments.c.project_id)
    .join(namespace_tree, namespace_tree.c.descendant_id == projects.c.namespace_id)
    .join(_rules, and_(_rules.c.group_id == namespace_tree.c.ancestor_id, _rules.c.name == environments.c.tier))
    .where(environments.c.project_id == bindparam("project"), in_list(environments.c.name, "environments")),
)
_MEMBERSHIP = (
    select(memberships.c.id)
    .join(namespace_tree, namespace_tree.c.ancestor_id == memberships.c.source_id)
    .where(
        memberships.c.source_kind == "group",
        memberships.c.user_id == bindparam("actor"),
        is_unexpired(memberships.c.expires_at),
        namespace_tree.c.descendant_id == bindparam("group"),
        or_(bindparam("inherited") == 1, namespace_tree.c.ancestor_id == bindparam("group")),
    )
    .limit(1)
)
_SHARE = select(shares.c.id).where(
    shares.c.project_id == bindparam("project"),
    shares.c.group_id == bindparam("group"),
    is_unexpired(shares.c.expires_at),
)
_BELOW = select(namespace_tree.c.ancestor_id).where(
    namespace_tree.c.ancestor_id == bindparam("above"), namespace_tree.c.descendant_id == bindparam("group")
)


def has_rule() -> ColumnElement[bool]:
    """Return the condition that a rule of the project or of its groups protects an environment."""
    of_project = exists().where(_rules.c.project_id == environments.c.project_id, _rules.c.name == environments.c.name)
    of_groups = (
        exists()
        .where(projects.c.id == environments.c.project_id)
        .where(namespace_tree.c.descendant_id == projects.c.namespace_id)
        .where(_rules.c.group_id == namespace_tree.c.ancestor_id, _rules.c.name == environments.c.tier)
    )
    return or_(of_project, of_groups)


def list_rules(db: Connection, parent: Project | Namespace, page: Page) -> Listing[ProtectedEnvironment]:
    """List the protected environments of a project or a group itself, by name."""
    return fetch_page(db, ProtectedEnvironment, _LISTS[type(parent)], page, parent=parent.id)


def rule_or_none(db: Connection, parent: Project | Namespace, name: str) -> ProtectedEnvironment | None:
    """Return the protected environment of a project or a group with exactly this name."""
    return db.first(ProtectedEnvironment, _BY_NAME[type(parent)], parent=parent.id, name=name)


def find_rule(db: Connection, parent: Project | Namespace, name: str) -> ProtectedEnvironment:
    """Return the protected environment with exactly this name; raise NotFound otherwise."""
    rule = rule_or_none(db, parent, name)
    if rule is None:
        raise NotFound()
    return rule


def entries_of(db: Connection, rules: Sequence[ProtectedEnvironment]) -> list[DeployAccess]:
    """Return the roles, users and groups that may deploy under these rules."""
    return db.all(DeployAccess, _ENTRIES, rules=[rule.id for rule in rules]) if rules else []


def applying_rules(db: Connection, project_id: int, names: Collection[str]) -> dict[str, list[ProtectedEnvironment]]:
    """Return the rules of a project and of its groups that protect these environments, by their names."""
    rules: dict[str, list[ProtectedEnvironment]] = {}
    if names:
        for name, *columns in db.rows(_APPLYING, project=project_id, environments=list(names)):
            rules.setdefault(name, []).append(ProtectedEnvironment(*columns))
    return rules


def is_member(db: Connection, user_id: int, group_id: int, *, inherited: bool) -> bool:
    """Return whether a user is a direct member of a group, or with ``inherited`` of it or a group above it."""
    return db.value(_MEMBERSHIP, actor=user_id, group=group_id, inherited=int(inherited), today=db.today) is not None


def is_shared_with(db: Connection, project_id: int, group_id: int) -> bool:
    """Return whether a project is shared with a group."""
    return db.value(_SHARE, project=project_id, group=group_id, today=db.today) is not None


def is_group_below(db: Connection, group_id: int, above_id: int) -> bool:
    """Return whether a group is a subgroup of another one, at any depth."""
    return group_id != above_id and db.value(_BELOW, above=above_id, group=group_id) is not None
