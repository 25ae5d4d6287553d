"""Protecting branches and tags, and letting go of them."""

import re

from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.errors import Conflict, Invalid, too_long_message
from ingot.git.core.names import MAX_BYTES, ref_name_error
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.params import AllowedTo
from ingot.repositories.protection.queries import (
    branch_rule_or_none,
    branch_rules,
    find_branch_rule,
    find_tag_rule,
    tag_rule_or_none,
    tag_rules,
)
from ingot.repositories.protection.tables import ProtectedBranch, ProtectedTag, protected_branches, protected_tags

MAX_RULES = 1000
"""All rules are looked at for each branch that is shown or pushed."""
_WILDCARDS = re.compile(r"\*+")


def protect_branch(
    db: Connection,
    project_id: int,
    name: str,
    push_level: int = Level.MASTER,
    merge_level: int = Level.MASTER,
    *,
    allow_force_push: bool = False,
) -> ProtectedBranch:
    """Add a rule, or give the one of this name other levels."""
    levels = {"push_level": push_level, "merge_level": merge_level, "allow_force_push": allow_force_push}
    rule = branch_rule_or_none(db, project_id, name)
    if rule is None:
        db.insert(protected_branches, project_id=project_id, name=name, created_at=db.now, **levels)
    else:
        db.update(protected_branches, rule.id, **levels)
    return find_branch_rule(db, project_id, name)


def set_developer_permissions(
    db: Connection, project: Project, branch: str, *, push: bool | None = None, merge: bool | None = None
) -> ProtectedBranch:
    """Protect a branch, and say what developers can do; what is not said stays as it was."""
    rule = branch_rule_or_none(db, project.id, branch)
    if rule is None:
        _check_rule_limit(len(branch_rules(db, project.id)))

    def level(wanted: bool | None, before: int) -> int:
        if wanted is None:
            return before
        return Level.DEVELOPER if wanted else Level.MASTER

    return protect_branch(
        db,
        project.id,
        branch,
        level(push, rule.push_level if rule else Level.MASTER),
        level(merge, rule.merge_level if rule else Level.MASTER),
        allow_force_push=rule.allow_force_push if rule else False,
    )


def requested_level(
    field: str, plain: int | None, allowed: list[AllowedTo] | None, otherwise: int = Level.MASTER
) -> int:
    """The level that a caller asked for in one spelling or the other; rules for single people are refused."""
    if not allowed:
        return otherwise if plain is None else plain
    (first, *others) = allowed
    level = first.access_level
    if others or level is None or first != AllowedTo(access_level=level):
        raise Invalid(**{field: ["can name one access_level, and neither users nor groups nor deploy keys"]})
    return level


def add_branch_rule(
    db: Connection, project: Project, name: str, push_level: int, merge_level: int, *, allow_force_push: bool
) -> ProtectedBranch:
    """Protect branches by a rule of a name that has none yet; the name may hold ``*``."""
    _validate_name(name)
    if branch_rule_or_none(db, project.id, name) is not None:
        raise Conflict(f"Protected branch '{name}' already exists")
    _check_rule_limit(len(branch_rules(db, project.id)))
    return protect_branch(db, project.id, name, push_level, merge_level, allow_force_push=allow_force_push)


def add_tag_rule(db: Connection, project: Project, name: str, create_level: int) -> ProtectedTag:
    """Protect tags by a rule of a name that has none yet; the name may hold ``*``."""
    _validate_name(name)
    if tag_rule_or_none(db, project.id, name) is not None:
        raise Conflict(f"Protected tag '{name}' already exists")
    _check_rule_limit(len(tag_rules(db, project.id)))
    db.insert(protected_tags, project_id=project.id, name=name, create_level=create_level, created_at=db.now)
    return find_tag_rule(db, project.id, name)


def unprotect_tag(db: Connection, project_id: int, name: str) -> None:
    """Remove the rule of this very name; one that is gone already is no error."""
    rule = tag_rule_or_none(db, project_id, name)
    if rule is not None:
        db.delete(protected_tags, rule.id)


def _validate_name(name: str) -> None:
    if not name.strip():
        raise Invalid(name=["can't be blank"])
    if len(name.encode()) > MAX_BYTES:
        raise Invalid(name=[too_long_message(MAX_BYTES)])
    trouble = ref_name_error(_WILDCARDS.sub("x", name))
    if trouble is not None:
        raise Invalid(name=[trouble])


def _check_rule_limit(there: int) -> None:
    if there >= MAX_RULES:
        raise Invalid(f"A project can have {MAX_RULES} of these rules at most")


def unprotect_branch(db: Connection, project_id: int, name: str) -> None:
    """Remove the rule of this very name; one that is gone already is no error."""
    rule = branch_rule_or_none(db, project_id, name)
    if rule is not None:
        db.delete(protected_branches, rule.id)


def rename_branch_rule(db: Connection, project_id: int, old: str, new: str) -> None:
    """Protect the default branch under its new name, where an empty project's first push gave it one."""
    rule = branch_rule_or_none(db, project_id, old)
    if rule is not None and branch_rule_or_none(db, project_id, new) is None:
        db.update(protected_branches, rule.id, name=new)
