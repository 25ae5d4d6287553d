"""Permission to deploy to protected environments."""

from collections.abc import Iterable

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, NotFound
from ingot.projects.environments.protection.queries import (
    applying_rules,
    entries_of,
    is_group_below,
    is_member,
    is_shared_with,
)
from ingot.projects.environments.protection.tables import DeployAccess, ProtectedEnvironment
from ingot.projects.groups.queries import find_group
from ingot.projects.projects.tables import Project

NOT_ALLOWED = "You are not allowed to deploy to this protected environment"


def may_deploy_to(db: Connection, actor: Actor, access: Access, project: Project, environment: str) -> bool:
    """Return whether no rule of the project or of its groups prevents a user from deploying to an environment."""
    rules = applying_rules(db, project.id, [environment]).get(environment, ())
    return allow_deployment(db, actor, access, project, rules)


def require_may_deploy_to(db: Connection, actor: Actor, access: Access, project: Project, environment: str) -> None:
    """Raise Denied if a rule prevents a user from deploying to an environment."""
    if not may_deploy_to(db, actor, access, project, environment):
        raise Denied(NOT_ALLOWED)


def allow_deployment(
    db: Connection, actor: Actor, access: Access, project: Project, rules: Iterable[ProtectedEnvironment]
) -> bool:
    """Return whether each of these rules allows a user to deploy; administrators may deploy under all rules."""
    rules = list(rules)
    if actor.admin or not rules:
        return True
    if access.level < Level.REPORTER:
        return False
    entries = entries_of(db, rules)
    return all(
        any(_allows(db, actor, access, project, rule, entry) for entry in entries if entry.rule_id == rule.id)
        for rule in rules
    )


def _allows(
    db: Connection,
    actor: Actor,
    access: Access,
    project: Project,
    rule: ProtectedEnvironment,
    entry: DeployAccess,
) -> bool:
    """Return whether an entry allows a user; users and groups count only as long as the rule could still name them."""
    if entry.group_id is not None:
        inherited = entry.group_inheritance_type == 1
        if not is_member(db, actor.user_id, entry.group_id, inherited=inherited):
            return False
        if rule.group_id is None:
            return is_shared_with(db, project.id, entry.group_id)
        return is_group_below(db, entry.group_id, rule.group_id)
    if entry.user_id is not None and entry.user_id != actor.user_id:
        return False
    level = access.level if rule.group_id is None else level_in_group(db, actor, rule.group_id)
    return level >= (entry.access_level or least_level_of_user(rule.group_id))


def least_level_of_user(group_id: int | None) -> Level:
    """Return the level that a user needs whom a rule names: of a project, or of the group of the rule."""
    return Level.DEVELOPER if group_id is None else Level.MASTER


def level_in_group(db: Connection, actor: Actor, group_id: int) -> Level:
    """Return the level of a user in a group."""
    try:
        return find_group(db, actor, group_id)[0].level
    except NotFound:
        return Level.NONE
