"""State changes of protected environments."""

from collections.abc import Collection, Sequence
from typing import Any, get_args

from msgspec import UNSET

from ingot.accounts.users.actors import active_actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Invalid, NotFound, too_long_message
from ingot.projects.environments.protection.deploy_permission import least_level_of_user, level_in_group
from ingot.projects.environments.protection.params import (
    TIERS,
    DeployAccessEntry,
    DeployLevel,
    EditProtectedEnvironment,
    ProtectEnvironment,
)
from ingot.projects.environments.protection.queries import (
    entries_of,
    find_rule,
    is_group_below,
    is_shared_with,
    rule_or_none,
)
from ingot.projects.environments.protection.tables import (
    ProtectedEnvironment,
    deploy_access_levels,
    protected_environments,
)
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

MAX_ENTRIES = 100
"""All entries of a rule are checked when a job starts."""
MAX_NAME_LENGTH = 255


def protect_environment(
    db: Connection, parent: Project | Namespace, params: ProtectEnvironment
) -> ProtectedEnvironment:
    """Protect an environment of a project, or a tier of a group; raise Conflict if it is protected already."""
    _refuse_approvals(params)
    _validate_name(parent, params.name)
    if rule_or_none(db, parent, params.name) is not None:
        raise Conflict(f"Protected environment '{params.name}' already exists")
    if not params.deploy_access_levels:
        raise Invalid(deploy_access_levels=["must name at least one role, user or group"])
    owner = {"project_id": parent.id} if isinstance(parent, Project) else {"group_id": parent.id}
    db.insert_row(protected_environments, name=params.name, created_at=db.now, **owner)
    rule = find_rule(db, parent, params.name)
    _change_entries(db, parent, rule, params.deploy_access_levels)
    return rule


def replace_rule(db: Connection, project: Project, name: str, levels: Collection[int]) -> int:
    """Protect an environment of a project for some roles, in place of an earlier rule, and return the rule's id."""
    _validate_name(project, name)
    replaced = rule_or_none(db, project, name)
    if replaced is not None:
        unprotect_environment(db, replaced)
    rule_id = db.insert(protected_environments, project_id=project.id, name=name, created_at=db.now)
    for level in sorted({level for level in levels if level in get_args(DeployLevel)}):
        db.insert_row(deploy_access_levels, rule_id=rule_id, access_level=level, group_inheritance_type=0)
    return rule_id


def edit_protected_environment(
    db: Connection, parent: Project | Namespace, rule: ProtectedEnvironment, params: EditProtectedEnvironment
) -> None:
    """Add, change and remove those who may deploy; without any entry, only administrators may."""
    _refuse_approvals(params)
    _change_entries(db, parent, rule, params.deploy_access_levels or ())


def unprotect_environment(db: Connection, rule: ProtectedEnvironment) -> None:
    """Remove the protection of an environment."""
    db.delete(protected_environments, rule.id)


def _refuse_approvals(params: ProtectEnvironment | EditProtectedEnvironment) -> None:
    for name in ("required_approval_count", "approval_rules"):
        if getattr(params, name):
            raise Invalid(**{name: ["is not supported: deployments cannot wait for approvals"]})


def _validate_name(parent: Project | Namespace, name: str) -> None:
    if isinstance(parent, Namespace):
        if name not in TIERS:
            raise Invalid(name=["must be a deployment tier: " + ", ".join(TIERS)])
    elif not name.strip():
        raise Invalid(name=["can't be blank"])
    elif len(name) > MAX_NAME_LENGTH:
        raise Invalid(name=[too_long_message(MAX_NAME_LENGTH)])


def _change_entries(
    db: Connection, parent: Project | Namespace, rule: ProtectedEnvironment, entries: Sequence[DeployAccessEntry]
) -> None:
    existing = {entry.id for entry in entries_of(db, [rule])}
    for entry in entries:
        if entry.id is not None and entry.id not in existing:
            raise NotFound()
        if entry.destroy and entry.id is not None:
            db.delete(deploy_access_levels, entry.id)
        elif entry.id is not None:
            db.update(deploy_access_levels, entry.id, **_edited_columns(db, parent, entry))
        else:
            _require_one(entry)
            columns = _columns(db, parent, entry)
            inheritance = 0 if entry.group_inheritance_type is UNSET else entry.group_inheritance_type
            db.insert_row(
                deploy_access_levels, **{"rule_id": rule.id, "group_inheritance_type": inheritance, **columns}
            )
    _check(db, rule)


def _check(db: Connection, rule: ProtectedEnvironment) -> None:
    named = [(entry.access_level, entry.user_id, entry.group_id) for entry in entries_of(db, [rule])]
    if len(set(named)) < len(named):
        raise Invalid(deploy_access_levels=["name a role, a user or a group twice"])
    if len(named) > MAX_ENTRIES:
        raise Invalid(deploy_access_levels=[f"may have {MAX_ENTRIES} entries at most"])


def _edited_columns(db: Connection, parent: Project | Namespace, entry: DeployAccessEntry) -> dict[str, Any]:
    if (entry.access_level, entry.user_id, entry.group_id) == (None, None, None):
        if entry.group_inheritance_type is UNSET:
            _require_one(entry)
        return {"group_inheritance_type": entry.group_inheritance_type}
    _require_one(entry)
    return _columns(db, parent, entry)


def _require_one(entry: DeployAccessEntry) -> None:
    if [entry.access_level, entry.user_id, entry.group_id].count(None) != 2:
        raise Invalid(deploy_access_levels=["must each have one of access_level, user_id and group_id"])


def _columns(db: Connection, parent: Project | Namespace, entry: DeployAccessEntry) -> dict[str, Any]:
    """Return the columns of an entry; raise Invalid for a user or a group that the rule may not name."""
    group = isinstance(parent, Namespace)
    if entry.user_id is not None and _level_of(db, parent, entry.user_id) < least_level_of_user(
        parent.id if group else None
    ):
        role = "a maintainer of the group" if group else "a developer of the project"
        raise Invalid(deploy_access_levels=[f"name a user who is not at least {role}"])
    if entry.group_id is not None:
        if group and not is_group_below(db, entry.group_id, parent.id):
            raise Invalid(deploy_access_levels=["name a group that is not a subgroup of the group"])
        if not group and not is_shared_with(db, parent.id, entry.group_id):
            raise Invalid(deploy_access_levels=["name a group with which the project is not shared"])
    columns: dict[str, Any] = {name: getattr(entry, name) for name in ("access_level", "user_id", "group_id")}
    if entry.group_inheritance_type is not UNSET:
        columns["group_inheritance_type"] = entry.group_inheritance_type
    return columns


def _level_of(db: Connection, parent: Project | Namespace, user_id: int) -> Level:
    actor = active_actor(db, user_id)
    if actor is None:
        return Level.NONE
    if isinstance(parent, Namespace):
        return level_in_group(db, actor, parent.id)
    try:
        return find_project(db, actor, parent.id)[0].level
    except NotFound:
        return Level.NONE
