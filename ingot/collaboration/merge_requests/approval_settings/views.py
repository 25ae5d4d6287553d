"""Response structs of approval rules and approval settings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.collaboration.merge_requests.approval_rules.limits import options_in_force
from ingot.collaboration.merge_requests.approval_rules.queries import members_by_group
from ingot.collaboration.merge_requests.approval_rules.state import ApprovalState
from ingot.collaboration.merge_requests.approval_rules.tables import ApprovalRule
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.projects.group_shares.shared_members import visible_group_ids
from ingot.projects.groups.views import GroupBrief, group_brief
from ingot.projects.namespaces.queries import groups_by_ids
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.protection.views import ProtectedBranchView, protected_branch_view


class ApprovalRuleView(View, kw_only=True):
    """Approval rule of a merge request."""

    id: int
    name: str
    rule_type: str
    report_type: None = None
    eligible_approvers: list[UserBrief]
    approvals_required: int
    users: list[UserBrief]
    groups: list[GroupBrief]
    contains_hidden_groups: bool
    section: None = None
    source_rule: None = None
    overridden: bool = False


class ProjectApprovalRuleView(ApprovalRuleView, kw_only=True):
    """Approval rule of a project."""

    applies_to_all_protected_branches: bool
    protected_branches: list[ProtectedBranchView]


class ApprovalRuleStateView(ApprovalRuleView, kw_only=True):
    """Approval rule of a merge request, with its approvals."""

    code_owner: bool = False
    approved_by: list[UserBrief]
    approved: bool


class ApprovalStateView(View):
    """Approval rules of a merge request, with their approvals."""

    approval_rules_overwritten: bool
    rules: list[ApprovalRuleStateView]


class ApprovalSettingsView(View):
    """Approval settings of a project."""

    approvers: list[Any]
    approver_groups: list[Any]
    approvals_before_merge: int
    reset_approvals_on_push: bool
    selective_code_owner_removals: bool
    disable_overriding_approvers_per_merge_request: bool
    merge_requests_author_approval: bool
    merge_requests_disable_committers_approval: bool
    require_password_to_approve: bool


class RuleViewData(NamedTuple):
    """Users, groups and members that the views of rules show; groups that the caller may not see are left out."""

    users: Mapping[int, UserBrief]
    groups: Mapping[int, Namespace]
    members: Mapping[int, set[int]]
    base: str


def rule_view_data(
    db: Connection, actor: Actor, rules: Sequence[ApprovalRule], base: str, more_users: Iterable[int] = ()
) -> RuleViewData:
    """Read what the views of rules show, in at most four statements."""
    group_ids = {group_id for rule in rules for group_id in rule.groups}
    seen = visible_group_ids(db, actor, sorted(group_ids))
    groups = groups_by_ids(db, seen) if seen else {}
    members = members_by_group(db, groups) if groups else {}
    user_ids = {user_id for rule in rules for user_id in rule.users}.union(more_users, *members.values())
    users = users_by_ids(db, user_ids) if user_ids else {}
    briefs = {user_id: user_brief(user, base) for user_id, user in users.items() if user.state == "active"}
    return RuleViewData(briefs, groups, members, base)


def approval_rule_fields(rule: ApprovalRule, data: RuleViewData) -> dict[str, Any]:
    """Return the fields that all views of a rule have."""
    users = [user_id for user_id in rule.users if user_id in data.users]
    groups = [data.groups[group_id] for group_id in rule.groups if group_id in data.groups]
    eligible = dict.fromkeys([*users, *(user for group in groups for user in sorted(data.members.get(group.id, ())))])
    return {
        "id": rule.id,
        "name": rule.name,
        "rule_type": rule.rule_type,
        "approvals_required": rule.approvals_required,
        "users": [data.users[user_id] for user_id in users],
        "groups": [group_brief(group, data.base) for group in groups],
        "eligible_approvers": [data.users[user_id] for user_id in eligible if user_id in data.users],
        "contains_hidden_groups": len(groups) < len(rule.groups),
    }


def approval_rule_views(
    db: Connection, actor: Actor, rules: Sequence[ApprovalRule], base: str
) -> list[ApprovalRuleView]:
    """Build the views of the rules of a merge request."""
    data = rule_view_data(db, actor, rules, base)
    return [
        ApprovalRuleView(**approval_rule_fields(rule, data), overridden=rule.merge_request_id is not None)
        for rule in rules
    ]


def project_approval_rule_views(
    db: Connection, actor: Actor, project: Project, rules: Sequence[ApprovalRule], base: str
) -> list[ProjectApprovalRuleView]:
    """Build the views of the rules of a project."""
    data = rule_view_data(db, actor, rules, base)
    branches = branch_rules(db, project.id) if rules else []
    return [
        ProjectApprovalRuleView(
            **approval_rule_fields(rule, data),
            applies_to_all_protected_branches=rule.applies_to_all_protected_branches,
            protected_branches=[
                protected_branch_view(branch, {})
                for branch in branches
                if rule.applies_to_all_protected_branches
                or (branch.id in rule.protected_branches and not branch.inherited)
            ],
        )
        for rule in rules
    ]


def approval_state_view(db: Connection, actor: Actor, state: ApprovalState, base: str) -> ApprovalStateView:
    """Build the view of the rules of a merge request with their approvals."""
    rules = [rule_state.rule for rule_state in state.rules]
    data = rule_view_data(db, actor, rules, base, state.approvers)
    return ApprovalStateView(
        approval_rules_overwritten=state.overwritten,
        rules=[
            ApprovalRuleStateView(
                **approval_rule_fields(rule_state.rule, data),
                overridden=state.overwritten,
                approved_by=[data.users[user_id] for user_id in rule_state.approved_by if user_id in data.users],
                approved=rule_state.left == 0,
            )
            for rule_state in state.rules
        ],
    )


def approval_settings_view(db: Connection, project: Project) -> ApprovalSettingsView:
    """Build the view of the approval settings of a project, with the stricter ones of the instance."""
    options = options_in_force(db, project.options)
    return ApprovalSettingsView(
        [],
        [],
        options.approvals_before_merge,
        options.reset_approvals_on_push,
        options.selective_code_owner_removals,
        options.disable_overriding_approvers_per_merge_request,
        bool(options.merge_requests_author_approval),
        options.merge_requests_disable_committers_approval,
        options.require_password_to_approve,
    )
