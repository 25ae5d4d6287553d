"""Request parameters of approval rules and approval settings."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.audience import Affected
from ingot.core.api.declared_fields import effect
from ingot.core.api.params import Params

_Count = Annotated[int, Meta(ge=0, le=100)]
_Name = Annotated[str, Meta(min_length=1, max_length=255)]


class CreateApprovalRule(Params):
    """A new rule of a merge request."""

    name: _Name
    approvals_required: _Count
    rule_type: Literal["regular", "any_approver"] = "regular"
    user_ids: list[int] | None = None
    usernames: list[str] | None = None
    group_ids: list[int] | None = None
    approval_project_rule_id: int | None = None
    """Rule of the project whose users and groups are copied."""


class CreateProjectApprovalRule(CreateApprovalRule):
    """A new rule of a project."""

    protected_branch_ids: list[int] | None = None
    applies_to_all_protected_branches: bool = False


class EditApprovalRule(Params):
    """Changes of a rule of a merge request."""

    name: _Name | UnsetType = UNSET
    approvals_required: _Count | UnsetType = UNSET
    user_ids: list[int] | UnsetType | None = UNSET
    usernames: list[str] | UnsetType | None = UNSET
    group_ids: list[int] | UnsetType | None = UNSET
    remove_hidden_groups: bool = False


class EditProjectApprovalRule(EditApprovalRule):
    """Changes of a rule of a project."""

    protected_branch_ids: list[int] | UnsetType | None = UNSET
    applies_to_all_protected_branches: bool | UnsetType = UNSET


class EditApprovalSettings(Params):
    """Changes of the approval settings of a project."""

    fixed_values: ClassVar[Mapping[str, Any]] = {"selective_code_owner_removals": False}  # There are no code owners.
    approvals_before_merge: (
        Annotated[_Count, effect("Approvals that each merge request requires from any users.", 0), Affected.MERGES]
        | UnsetType
    ) = UNSET
    reset_approvals_on_push: (
        Annotated[
            bool, effect("A push to a merge request removes the approvals of all users.", False), Affected.APPROVALS
        ]
        | UnsetType
    ) = UNSET
    disable_overriding_approvers_per_merge_request: (
        Annotated[
            bool,
            effect("Users cannot change the approval rules of their merge requests.", False),
            Affected.MERGE_REQUESTS,
        ]
        | UnsetType
    ) = UNSET
    merge_requests_author_approval: (
        Annotated[
            bool,
            effect(
                "Authors can approve their own merge requests; until this is chosen, only if none are required.",
                False,
            ),
            Affected.APPROVALS,
        ]
        | UnsetType
    ) = UNSET
    merge_requests_disable_committers_approval: (
        Annotated[
            bool, effect("Users whose commits a merge request contains cannot approve it.", False), Affected.APPROVALS
        ]
        | UnsetType
    ) = UNSET
    require_password_to_approve: (
        Annotated[bool, effect("Users enter their password with each approval.", False), Affected.APPROVALS] | UnsetType
    ) = UNSET
    selective_code_owner_removals: bool | UnsetType = UNSET


class SetRequiredApprovals(Params):
    """Number of approvals that a merge request requires from any users."""

    approvals_required: _Count
