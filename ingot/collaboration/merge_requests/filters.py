"""Conditions and orders of lists of merge requests, by the name of the filter."""

from sqlalchemy import ColumnElement, bindparam, func, not_, or_

from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.draft_titles import DRAFT_PREFIXES
from ingot.collaboration.merge_requests.list_statements import ListStatementFactory
from ingot.collaboration.merge_requests.tables import (
    merge_request_approvals,
    merge_request_assignees,
    merge_request_closings,
    merge_request_reviewers,
    merge_requests,
)
from ingot.collaboration.planning.conditions import NEVER, SELECTIVE, IssuableTable, list_conditions, list_orders
from ingot.core.db.expressions import in_list
from ingot.projects.projects.policy import has_code
from ingot.projects.projects.tables import projects

KIND = "merge_request"
_ROWS = merge_requests.c
_MERGE_REQUESTS = IssuableTable(
    KIND,
    merge_requests,
    merge_requests.c.target_project_id,
    merge_request_assignees,
    merge_request_assignees.c.merge_request_id,
)
_REVIEWS, _REVIEWER = merge_request_reviewers.c.merge_request_id, merge_request_reviewers.c.user_id
_APPROVALS, _APPROVER = merge_request_approvals.c.merge_request_id, merge_request_approvals.c.user_id
_DRAFT = or_(*(_ROWS.title_key.startswith(word, autoescape=True) for word in DRAFT_PREFIXES))
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    **list_conditions(_MERGE_REQUESTS),
    "opened": _ROWS.state == "opened",
    "visible": policy.visible_merge_requests(external=False),
    "visible_to_external": policy.visible_merge_requests(external=True),
    "with_feature": projects.c.merge_requests_enabled.is_(True) & projects.c.namespace_id.is_not(None) & has_code(),
    "source_branch": _ROWS.source_branch == bindparam("source_branch"),
    "target_branch": _ROWS.target_branch == bindparam("target_branch"),
    "source_project": _ROWS.source_project_id == bindparam("source_project"),
    "not_source_branch": _ROWS.source_branch != bindparam("not_source_branch"),
    "not_target_branch": _ROWS.target_branch != bindparam("not_target_branch"),
    "draft": _DRAFT,
    "not_draft": not_(_DRAFT),
    "reviewed_by_me": _MERGE_REQUESTS.named_in(_REVIEWS, bindparam("me") == _REVIEWER),
    "reviewers": _MERGE_REQUESTS.named_in(_REVIEWS, in_list(_REVIEWER, "reviewers")),
    "any_reviewer": _MERGE_REQUESTS.named_in(_REVIEWS),
    "no_reviewer": not_(_MERGE_REQUESTS.named_in(_REVIEWS)),
    "not_reviewers": not_(_MERGE_REQUESTS.named_in(_REVIEWS, in_list(_REVIEWER, "not_reviewers"))),
    "approved_by": _MERGE_REQUESTS.named_in(_APPROVALS, in_list(_APPROVER, "approved_by")),
    "any_approval": _MERGE_REQUESTS.named_in(_APPROVALS),
    "no_approval": not_(_MERGE_REQUESTS.named_in(_APPROVALS)),
    "merged_by": _ROWS.merged_by_id == bindparam("merged_by"),
    "closing": _MERGE_REQUESTS.named_in(
        merge_request_closings.c.merge_request_id, merge_request_closings.c.issue_id == bindparam("issue")
    ),
    # Only merges into the default branch close issues; the statement joins the projects.
    "into_default": _ROWS.target_branch == projects.c.default_branch,
    "ids": in_list(_ROWS.id, "ids"),
    "of_milestone": _ROWS.milestone_id == bindparam("of_milestone"),
}
_ORDERS = {**list_orders(_MERGE_REQUESTS), "merged_at": (func.coalesce(_ROWS.merged_at, NEVER),)}
LIST_STATEMENTS = ListStatementFactory(
    _MERGE_REQUESTS,
    _CONDITIONS,
    _ORDERS,
    SELECTIVE | {"source_branch", "reviewed_by_me", "reviewers", "closing", "ids", "of_milestone"},
)
