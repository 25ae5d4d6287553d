"""State changes of protection rules."""

import re
from collections.abc import Sequence

from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Invalid, too_long_message
from ingot.git.core.names import MAX_BYTES, ref_name_error
from ingot.projects.deploy_keys.queries import deploy_key_project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.params import AllowedTo
from ingot.repositories.protection.queries import (
    branch_rule_or_none,
    branch_rules,
    deploy_keys_by_rule,
    find_branch_rule,
    find_tag_rule,
    tag_rule_or_none,
    tag_rules,
)
from ingot.repositories.protection.tables import (
    ProtectedBranch,
    ProtectedTag,
    protected_branch_deploy_keys,
    protected_branches,
    protected_tags,
)

MAX_RULES = 1000
"""All rules are checked for each branch that is shown or pushed."""
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
    """Create the rule with this name, or update its levels."""
    levels = {"push_level": push_level, "merge_level": merge_level, "allow_force_push": allow_force_push}
    rule = branch_rule_or_none(db, project_id, name)
    if rule is None:
        db.insert_row(protected_branches, project_id=project_id, name=name, created_at=db.now, **levels)
    else:
        db.update(protected_branches, rule.id, **levels)
    return find_branch_rule(db, project_id, name)


def set_developer_permissions(
    db: Connection, project: Project, branch: str, *, push: bool | None = None, merge: bool | None = None
) -> ProtectedBranch:
    """Protect a branch and set the permissions of developers; None leaves a permission unchanged."""
    rule = branch_rule_or_none(db, project.id, branch)
    if rule is None:
        check_rule_limit(len(branch_rules(db, project.id)))

    def level(allowed: bool | None, current: int) -> int:
        if allowed is None:
            return current
        return Level.DEVELOPER if allowed else Level.MASTER

    return protect_branch(
        db,
        project.id,
        branch,
        level(push, rule.push_level if rule else Level.MASTER),
        level(merge, rule.merge_level if rule else Level.MASTER),
        allow_force_push=rule.allow_force_push if rule else False,
    )


def requested_level(
    field: str, level_param: int | None, allowed: Sequence[AllowedTo] | None, default: int = Level.MASTER
) -> int:
    """Return the requested level from either parameter format; entries for single users and groups are ignored.

    Raises Invalid for several levels, and for deploy keys where they have no meaning.
    """
    entries = [entry for entry in allowed or () if entry.user_id is None and entry.group_id is None]
    if not entries:
        return default if level_param is None else level_param
    (first, *rest) = entries
    entry_level = first.access_level
    if rest or entry_level is None or first != AllowedTo(access_level=entry_level):
        raise Invalid(**{field: ["supports a single access_level, but no deploy keys"]})
    return entry_level


def requested_push_level(
    level_param: int | None, allowed: Sequence[AllowedTo] | None, current: int | None = None
) -> int:
    """Return the requested level for pushes; a new rule that names only deploy keys allows no one else."""
    levels = [entry for entry in allowed or () if not _is_deploy_key_entry(entry)]
    default = Level.NONE if allowed and all(map(_is_deploy_key_entry, allowed)) else Level.MASTER
    return requested_level("allowed_to_push", level_param, levels, default if current is None else current)


def change_deploy_keys(
    db: Connection, project: Project, rule: ProtectedBranch, allowed: Sequence[AllowedTo] | None
) -> None:
    """Add and remove the deploy keys that may push under a rule; raise Invalid for a key that cannot push at all."""
    for entry in filter(_is_deploy_key_entry, allowed or ()):
        keys = deploy_keys_by_rule(db, project.id).get(rule.id, ())
        existing = [key.id for key in keys if key.key_id == entry.deploy_key_id or key.id == entry.id]
        if entry.destroy:
            for entry_id in existing:
                db.delete(protected_branch_deploy_keys, entry_id)
        elif not existing:
            _add_deploy_key(db, project, rule, entry.deploy_key_id)


def _add_deploy_key(db: Connection, project: Project, rule: ProtectedBranch, key_id: int | None) -> None:
    link = None if key_id is None else deploy_key_project_or_none(db, key_id, project.id)
    if link is None or not link.can_push:
        raise Invalid(allowed_to_push=["deploy key does not exist or has no write access to this project"])
    db.insert_row(protected_branch_deploy_keys, rule_id=rule.id, key_project_id=link.id)


def _is_deploy_key_entry(entry: AllowedTo) -> bool:
    named = entry.deploy_key_id is not None or (entry.destroy and entry.id is not None)
    return named and (entry.access_level, entry.user_id, entry.group_id) == (None, None, None)


def add_branch_rule(
    db: Connection, project: Project, name: str, push_level: int, merge_level: int, *, allow_force_push: bool
) -> ProtectedBranch:
    """Create a rule for branches; raise Conflict if the name has one. The name may contain ``*``."""
    validate_rule_name(name)
    if branch_rule_or_none(db, project.id, name) is not None:
        raise Conflict(f"Protected branch '{name}' already exists")
    check_rule_limit(len(branch_rules(db, project.id)))
    levels = {"push_level": push_level, "merge_level": merge_level, "allow_force_push": allow_force_push}
    # If another transaction has added the rule since then, this violates the unique index and is run again.
    db.insert_row(protected_branches, project_id=project.id, name=name, created_at=db.now, **levels)
    return find_branch_rule(db, project.id, name)


def add_tag_rule(db: Connection, project: Project, name: str, create_level: int) -> ProtectedTag:
    """Create a rule for tags; raise Conflict if the name has one. The name may contain ``*``."""
    validate_rule_name(name)
    if tag_rule_or_none(db, project.id, name) is not None:
        raise Conflict(f"Protected tag '{name}' already exists")
    check_rule_limit(len(tag_rules(db, project.id)))
    db.insert_row(protected_tags, project_id=project.id, name=name, create_level=create_level, created_at=db.now)
    return find_tag_rule(db, project.id, name)


def unprotect_tag(db: Connection, project_id: int, name: str) -> None:
    """Delete the rule with exactly this name; do nothing if there is none."""
    rule = tag_rule_or_none(db, project_id, name)
    if rule is not None:
        db.delete(protected_tags, rule.id)


def validate_rule_name(name: str) -> None:
    """Raise Invalid if no rule can have this name."""
    if not name.strip():
        raise Invalid(name=["can't be blank"])
    if len(name.encode()) > MAX_BYTES:
        raise Invalid(name=[too_long_message(MAX_BYTES)])
    error = ref_name_error(_WILDCARDS.sub("x", name))
    if error is not None:
        raise Invalid(name=[error])


def check_rule_limit(count: int) -> None:
    """Raise Invalid if there are too many rules for one more."""
    if count >= MAX_RULES:
        raise Invalid(f"There may be {MAX_RULES} protection rules at most")


def unprotect_branch(db: Connection, project_id: int, name: str) -> None:
    """Delete the rule with exactly this name; do nothing if there is none."""
    rule = branch_rule_or_none(db, project_id, name)
    if rule is not None:
        db.delete(protected_branches, rule.id)


def rename_branch_rule(db: Connection, project_id: int, old: str, new: str) -> None:
    """Rename the rule of the default branch after the first push to an empty project has changed its name."""
    rule = branch_rule_or_none(db, project_id, old)
    if rule is not None and branch_rule_or_none(db, project_id, new) is None:
        db.update(protected_branches, rule.id, name=new)
