"""State changes of approval rules and approval settings."""

import json
from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET

from ingot.accounts.users.queries import users_by_usernames
from ingot.collaboration.merge_requests.approval_rules.queries import (
    find_approval_rule,
    merge_request_approval_rules,
    project_approval_rules,
)
from ingot.collaboration.merge_requests.approval_rules.tables import ApprovalRule, approval_rules
from ingot.collaboration.merge_requests.approval_settings.params import (
    CreateApprovalRule,
    CreateProjectApprovalRule,
    EditApprovalRule,
    EditApprovalSettings,
    EditProjectApprovalRule,
)
from ingot.collaboration.merge_requests.events import ApprovalRulesChanged
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.planning.service import assignable_users
from ingot.core.access.actor import Actor
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.core.events.bus import emit
from ingot.projects.group_shares.shared_members import visible_group_ids
from ingot.projects.namespaces.queries import groups_by_ids
from ingot.projects.projects.options import edited_options
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.protection.queries import branch_rules

MAX_RULES = 100
ANY_APPROVER: Final = "any_approver"
_MAX_APPROVERS = 200


def create_approval_rule(
    db: Connection, actor: Actor, project: Project, merge_request: MergeRequest | None, params: CreateApprovalRule
) -> ApprovalRule:
    """Create a rule of a project, or of a merge request; raise Invalid if the name is taken."""
    rules = _rules(db, project, merge_request)
    if len(rules) >= MAX_RULES:
        raise Invalid(f"There may be {MAX_RULES} approval rules at most.")
    columns = _requested_columns(db, actor, project, params)
    if params.approval_project_rule_id is not None:
        copied = find_approval_rule(project_approval_rules(db, project.id), params.approval_project_rule_id)
        columns |= {"name": copied.name, "user_ids": copied.user_ids, "group_ids": copied.group_ids}
    if params.rule_type == ANY_APPROVER and any(rule.rule_type == ANY_APPROVER for rule in rules):
        raise Invalid(rule_type=["any-approver rule already exists"])
    _check_name(rules, columns["name"])
    empty = {"user_ids": "[]", "group_ids": "[]", "protected_branch_ids": "[]"}
    created = {"applies_to_all_protected_branches": False, **empty, **columns}
    if params.rule_type == ANY_APPROVER:
        created |= {"user_ids": "[]", "group_ids": "[]"}
    rule_id = db.insert(
        approval_rules,
        project_id=project.id,
        merge_request_id=None if merge_request is None else merge_request.id,
        rule_type=params.rule_type,
        created_at=db.now,
        **created,
    )
    if not project.options.has_approval_rules:
        _store_options(db, project, {"has_approval_rules": True})
    emit(db, ApprovalRulesChanged(project.id))
    return find_approval_rule(_rules(db, project, merge_request), rule_id)


def edit_approval_rule(
    db: Connection, actor: Actor, project: Project, rule: ApprovalRule, params: EditApprovalRule
) -> ApprovalRule:
    """Change a rule; raise Invalid if the name is taken."""
    columns = _requested_columns(db, actor, project, params)
    if rule.rule_type == ANY_APPROVER:
        columns = {name: value for name, value in columns.items() if name not in ("user_ids", "group_ids")}
    elif "group_ids" in columns and not params.remove_hidden_groups:
        # The caller cannot name groups that they do not see; those remain.
        hidden = set(rule.groups).difference(visible_group_ids(db, actor, rule.groups))
        columns["group_ids"] = json.dumps([*json.loads(columns["group_ids"]), *sorted(hidden)])
    elif params.remove_hidden_groups:
        columns["group_ids"] = json.dumps(list(visible_group_ids(db, actor, rule.groups)))
    others = [other for other in rules_beside(db, rule) if other.id != rule.id]
    _check_name(others, columns.get("name", rule.name))
    if columns:
        db.update(approval_rules, rule.id, **columns)
        emit(db, ApprovalRulesChanged(project.id))
    return find_approval_rule(rules_beside(db, rule), rule.id)


def delete_approval_rule(db: Connection, rule: ApprovalRule) -> None:
    """Delete a rule."""
    db.delete(approval_rules, rule.id)
    emit(db, ApprovalRulesChanged(rule.project_id))


def rules_beside(db: Connection, rule: ApprovalRule) -> list[ApprovalRule]:
    """List the rules of the project or merge request that a rule belongs to, with itself."""
    if rule.merge_request_id is not None:
        return merge_request_approval_rules(db, rule.merge_request_id)
    return project_approval_rules(db, rule.project_id)


def set_required_approvals(
    db: Connection, actor: Actor, project: Project, merge_request: MergeRequest, required: int
) -> None:
    """Require approvals of any users from a merge request."""
    for rule in merge_request_approval_rules(db, merge_request.id):
        if rule.rule_type == ANY_APPROVER:
            db.update(approval_rules, rule.id, approvals_required=required)
            emit(db, ApprovalRulesChanged(project.id))
            return
    params = CreateApprovalRule(name="All Members", approvals_required=required, rule_type=ANY_APPROVER)
    create_approval_rule(db, actor, project, merge_request, params)


def edit_approval_settings(db: Connection, project: Project, params: EditApprovalSettings) -> Project:
    """Change the approval settings of a project."""
    _store_options(db, project, given_fields(params))
    emit(db, ApprovalRulesChanged(project.id))
    return existing_project(db, project.id)


def _rules(db: Connection, project: Project, merge_request: MergeRequest | None) -> list[ApprovalRule]:
    if merge_request is None:
        return project_approval_rules(db, project.id)
    return merge_request_approval_rules(db, merge_request.id)


def _check_name(others: Sequence[ApprovalRule], name: str) -> None:
    if any(other.name == name for other in others):
        raise Invalid(name=["has already been taken"])


def _requested_columns(
    db: Connection, actor: Actor, project: Project, params: CreateApprovalRule | EditApprovalRule
) -> dict[str, Any]:
    given = given_fields(params)
    columns: dict[str, Any] = {
        name: given[name]
        for name in ("name", "approvals_required", "applies_to_all_protected_branches")
        if name in given
    }
    if params.user_ids is not UNSET or params.usernames is not UNSET:
        named = users_by_usernames(db, params.usernames or []).values() if params.usernames else ()
        requested = [*(params.user_ids or []), *(user.id for user in named)]
        columns["user_ids"] = json.dumps(assignable_users(db, project, requested[:_MAX_APPROVERS]))
    if params.group_ids is not UNSET:
        requested = (params.group_ids or [])[:_MAX_APPROVERS]
        columns["group_ids"] = json.dumps(sorted(groups_by_ids(db, visible_group_ids(db, actor, requested))))
    if isinstance(params, CreateProjectApprovalRule | EditProjectApprovalRule) and isinstance(
        params.protected_branch_ids, list
    ):
        known = {rule.id for rule in branch_rules(db, project.id) if not rule.inherited}
        columns["protected_branch_ids"] = json.dumps(sorted(known.intersection(params.protected_branch_ids)))
    return columns


def _store_options(db: Connection, project: Project, given: dict[str, Any]) -> None:
    db.update(projects, project.id, options_document=edited_options(project.options_document, given))
