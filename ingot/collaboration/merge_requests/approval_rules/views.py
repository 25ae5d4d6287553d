"""Response structs of the approvals of a merge request."""

from typing import Any

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.collaboration.merge_requests.approval_rules.state import ApprovalState
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp


class ApproverView(View):
    """An approver."""

    user: UserBrief


class ApprovalRuleBrief(View):
    """Approval rule whose approvals are missing."""

    id: int
    name: str
    rule_type: str


class ApprovalsView(View):
    """Approvals of a merge request."""

    id: int
    iid: int
    project_id: int
    title: str
    description: str | None
    state: str
    created_at: Timestamp
    updated_at: Timestamp
    approved: bool
    approvals_required: int
    approvals_left: int
    approved_by: list[ApproverView]
    suggested_approvers: list[UserBrief]
    approvers: list[Any]
    approver_groups: list[Any]
    approval_rules_left: list[ApprovalRuleBrief]
    user_has_approved: bool
    user_can_approve: bool
    require_password_to_approve: bool = False
    has_approval_rules: bool = False
    multiple_approval_rules_available: bool = True


def approvals_view(
    db: Connection, merge_request: MergeRequest, state: ApprovalState, user_id: int, base: str, *, may: bool
) -> ApprovalsView:
    """Build the view of the approvals; ``may`` is whether the caller may approve."""
    named = {number for rule_state in state.rules for number in rule_state.rule.users}.difference(state.approvers)
    users = users_by_ids(db, [*state.approvers, *named]) if state.approvers or named else {}
    return ApprovalsView(
        id=merge_request.id,
        iid=merge_request.iid,
        project_id=merge_request.target_project_id,
        title=merge_request.title,
        description=merge_request.description,
        state=merge_request.state,
        created_at=merge_request.created_at,
        updated_at=merge_request.updated_at,
        approved=state.left == 0 if state.required else bool(state.approvers),
        approvals_required=state.required,
        approvals_left=state.left,
        approved_by=[ApproverView(user_brief(users[approver_id], base)) for approver_id in state.approvers],
        suggested_approvers=[
            user_brief(users[number], base)
            for number in sorted(named)
            if number in users and number != merge_request.author_id and users[number].state == "active"
        ],
        approvers=[],
        approver_groups=[],
        approval_rules_left=[
            ApprovalRuleBrief(rule_state.rule.id, rule_state.rule.name, rule_state.rule.rule_type)
            for rule_state in state.rules
            if rule_state.left
        ],
        user_has_approved=user_id in state.approvers,
        user_can_approve=may and user_id not in state.approvers and merge_request.state == "opened",
        has_approval_rules=bool(state.rules),
    )
