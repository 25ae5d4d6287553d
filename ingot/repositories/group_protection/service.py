"""State changes of the protection rules of groups."""

from typing import Any

from msgspec import UNSET

from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict
from ingot.projects.namespaces.tables import Namespace
from ingot.repositories.group_protection.queries import (
    find_group_branch_rule,
    group_branch_rule_or_none,
    group_branch_rules,
)
from ingot.repositories.protection.params import AddBranchRule, EditBranchRule
from ingot.repositories.protection.service import check_rule_limit, requested_level, validate_rule_name
from ingot.repositories.protection.tables import ProtectedBranch, group_protected_branches


def add_group_branch_rule(db: Connection, group: Namespace, params: AddBranchRule) -> ProtectedBranch:
    """Create a rule; raise Conflict if the name has one. The name may contain ``*``."""
    validate_rule_name(params.name)
    if group_branch_rule_or_none(db, group.id, params.name) is not None:
        raise Conflict(f"Protected branch '{params.name}' already exists")
    check_rule_limit(len(group_branch_rules(db, group.id)))
    db.insert_row(
        group_protected_branches,
        group_id=group.id,
        name=params.name,
        push_level=requested_level("allowed_to_push", params.push_access_level, params.allowed_to_push),
        merge_level=requested_level("allowed_to_merge", params.merge_access_level, params.allowed_to_merge),
        allow_force_push=params.allow_force_push,
        created_at=db.now,
    )
    return find_group_branch_rule(db, group.id, params.name)


def edit_group_branch_rule(
    db: Connection, group: Namespace, rule: ProtectedBranch, params: EditBranchRule
) -> ProtectedBranch:
    """Change the levels of a rule."""
    push, merge = params.push_access_level, params.merge_access_level
    columns: dict[str, Any] = {
        "push_level": requested_level("allowed_to_push", push, params.allowed_to_push, rule.push_level),
        "merge_level": requested_level("allowed_to_merge", merge, params.allowed_to_merge, rule.merge_level),
    }
    if params.allow_force_push is not UNSET:
        columns["allow_force_push"] = params.allow_force_push
    db.update(group_protected_branches, rule.id, **columns)
    return find_group_branch_rule(db, group.id, rule.name)


def remove_group_branch_rule(db: Connection, rule: ProtectedBranch) -> None:
    """Delete a rule."""
    db.delete(group_protected_branches, rule.id)
