"""Table and record of approval rules."""

import json

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, flag, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

# A rule of a project, or of one merge request. Users, groups and protected branches are lists of ids as JSON: ids are
# never used again, so those of deleted rows have no effect.
approval_rules = Table(
    "approval_rules",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("merge_request_id", "merge_requests.id", nullable=True),
    text("name"),
    text("rule_type"),
    number("approvals_required"),
    text("user_ids"),
    text("group_ids"),
    text("protected_branch_ids"),
    flag("applies_to_all_protected_branches"),
    text("created_at"),
    Index("ix_approval_rules_merge_request_id", "merge_request_id", "name", unique=True),
    Index("ix_approval_rules_project_id", "project_id"),
    # Refuses the second of two concurrent requests to create a rule with the same name.
    Index(
        "uq_approval_rules_project_name", "project_id", "name", unique=True, **index_where("merge_request_id IS NULL")
    ),
    sqlite_autoincrement=True,
)


class ApprovalRule(Record, frozen=True):
    """Approvals that must exist before a merge; the type ``any_approver`` names no users and counts all."""

    id: int
    project_id: int
    merge_request_id: int | None
    name: str
    rule_type: str
    approvals_required: int
    user_ids: str
    group_ids: str
    protected_branch_ids: str
    applies_to_all_protected_branches: bool
    created_at: Timestamp

    @property
    def users(self) -> list[int]:
        """Ids of the users who may approve."""
        ids: list[int] = json.loads(self.user_ids)
        return ids

    @property
    def groups(self) -> list[int]:
        """Ids of the groups whose members may approve."""
        ids: list[int] = json.loads(self.group_ids)
        return ids

    @property
    def protected_branches(self) -> list[int]:
        """Ids of the rules for the protected branches that it applies to; empty for all branches."""
        ids: list[int] = json.loads(self.protected_branch_ids)
        return ids

    @property
    def counts_everyone(self) -> bool:
        """Whether the approvals of all users count."""
        return not self.users and not self.groups
