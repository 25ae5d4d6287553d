"""Queries of approval rules, approvals, and members of the groups that rules name."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy import bindparam, or_, select

from ingot.collaboration.merge_requests.approval_rules.tables import ApprovalRule, approval_rules
from ingot.collaboration.merge_requests.tables import merge_request_approvals
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import NotFound
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import memberships

_OF_PROJECT = (
    select(approval_rules)
    .where(approval_rules.c.project_id == bindparam("project"), approval_rules.c.merge_request_id.is_(None))
    .order_by(approval_rules.c.id)
)
_OF_MERGE_REQUEST = (
    select(approval_rules)
    .where(approval_rules.c.merge_request_id == bindparam("merge_request"))
    .order_by(approval_rules.c.id)
)
_OF_PAGE = (
    select(approval_rules)
    .where(
        in_list(approval_rules.c.project_id, "projects"),
        or_(approval_rules.c.merge_request_id.is_(None), in_list(approval_rules.c.merge_request_id, "merge_requests")),
    )
    .order_by(approval_rules.c.id)
)
_APPROVERS = (
    select(merge_request_approvals.c.merge_request_id, merge_request_approvals.c.user_id)
    .where(in_list(merge_request_approvals.c.merge_request_id, "merge_requests"))
    .order_by(merge_request_approvals.c.id)
)
_GROUP_MEMBERS = select(memberships.c.source_id, memberships.c.user_id).where(
    memberships.c.source_kind == "group",
    in_list(memberships.c.source_id, "groups"),
    is_unexpired(memberships.c.expires_at),
)


def project_approval_rules(db: Connection, project_id: int) -> list[ApprovalRule]:
    """List the rules of a project."""
    return db.all(ApprovalRule, _OF_PROJECT, project=project_id)


def merge_request_approval_rules(db: Connection, merge_request_id: int) -> list[ApprovalRule]:
    """List the rules of a merge request itself."""
    return db.all(ApprovalRule, _OF_MERGE_REQUEST, merge_request=merge_request_id)


def find_approval_rule(rules: Sequence[ApprovalRule], rule_id: int) -> ApprovalRule:
    """Return the rule with this id among the rules of a project or merge request; raise NotFound otherwise."""
    for rule in rules:
        if rule.id == rule_id:
            return rule
    raise NotFound("Approval Rule")


def rules_of_page(
    db: Connection, project_ids: Collection[int], merge_request_ids: Collection[int]
) -> list[ApprovalRule]:
    """List the rules of projects and of merge requests, in one statement."""
    return db.all(ApprovalRule, _OF_PAGE, projects=sorted(project_ids), merge_requests=sorted(merge_request_ids))


def approvers_by_merge_request(db: Connection, merge_request_ids: Collection[int]) -> dict[int, list[int]]:
    """Return the ids of the approvers of merge requests, in the order of their approvals."""
    approvers: defaultdict[int, list[int]] = defaultdict(list)
    for merge_request_id, user_id in db.rows(_APPROVERS, merge_requests=sorted(merge_request_ids)):
        approvers[merge_request_id].append(user_id)
    return approvers


def members_by_group(db: Connection, group_ids: Collection[int]) -> dict[int, set[int]]:
    """Return the ids of the direct members of groups whose membership has not expired."""
    members: defaultdict[int, set[int]] = defaultdict(set)
    for group_id, user_id in db.rows(_GROUP_MEMBERS, groups=sorted(group_ids), today=db.today):
        members[group_id].add(user_id)
    return members
