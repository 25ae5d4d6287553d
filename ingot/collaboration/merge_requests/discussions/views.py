"""Response structs of approvals and reviewers."""

from collections.abc import Sequence
from typing import Any, Literal

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp


class ApproverView(View):
    """An approver."""

    user: UserBrief


class ApprovalsView(View):
    """Approvals of a merge request; none are required."""

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
    user_has_approved: bool
    user_can_approve: bool
    require_password_to_approve: bool = False
    has_approval_rules: bool = False


class ReviewerView(View):
    """A reviewer of a merge request, and whether they have approved it."""

    user: UserBrief
    state: Literal["unreviewed", "approved"]


class ApprovalStateView(View):
    """Approval rules; always empty."""

    approval_rules_overwritten: bool
    rules: list[Any]


def approvals_view(
    db: Connection, merge_request: MergeRequest, approvers: Sequence[int], user_id: int, base: str, *, may: bool
) -> ApprovalsView:
    """Build the view of the approvals; ``may`` is whether the caller may approve."""
    users = users_by_ids(db, approvers) if approvers else {}
    return ApprovalsView(
        id=merge_request.id,
        iid=merge_request.iid,
        project_id=merge_request.target_project_id,
        title=merge_request.title,
        description=merge_request.description,
        state=merge_request.state,
        created_at=merge_request.created_at,
        updated_at=merge_request.updated_at,
        approved=bool(approvers),
        approvals_required=0,
        approvals_left=0,
        approved_by=[ApproverView(user_brief(users[approver_id], base)) for approver_id in approvers],
        suggested_approvers=[],
        approvers=[],
        approver_groups=[],
        user_has_approved=user_id in approvers,
        user_can_approve=may and user_id not in approvers and merge_request.state == "opened",
    )


def reviewer_views(db: Connection, reviewers: Sequence[int], approvers: Sequence[int], base: str) -> list[ReviewerView]:
    """Build the views of the reviewers."""
    users = users_by_ids(db, reviewers) if reviewers else {}
    return [
        ReviewerView(user_brief(users[user_id], base), "approved" if user_id in approvers else "unreviewed")
        for user_id in reviewers
    ]
