"""The lists of merge requests: what can be asked of one."""

from sqlalchemy import ColumnElement, bindparam, func, not_, or_

from ingot.db.expressions import any_of
from ingot.issues.conditions import LEADS, NEVER, Listed, conditions_on, orders_on
from ingot.merge_requests import policy
from ingot.merge_requests.drafts import BEGINNINGS
from ingot.merge_requests.shapes import Shapes
from ingot.merge_requests.tables import (
    merge_request_approvals,
    merge_request_assignees,
    merge_request_closings,
    merge_request_reviewers,
    merge_requests,
)
from ingot.projects.policy import has_code
from ingot.projects.tables import projects

KIND = "merge_request"
_ROWS = merge_requests.c
_LISTED = Listed(
    KIND,
    merge_requests,
    merge_requests.c.target_project_id,
    merge_request_assignees,
    merge_request_assignees.c.merge_request_id,
)
_REVIEWS, _REVIEWER = merge_request_reviewers.c.merge_request_id, merge_request_reviewers.c.user_id
_APPROVALS, _APPROVER = merge_request_approvals.c.merge_request_id, merge_request_approvals.c.user_id
_DRAFT = or_(*(_ROWS.title_key.startswith(word, autoescape=True) for word in BEGINNINGS))
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    **conditions_on(_LISTED),
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
    "reviewed_by_me": _LISTED.named_in(_REVIEWS, bindparam("me") == _REVIEWER),
    "reviewers": _LISTED.named_in(_REVIEWS, any_of(_REVIEWER, "reviewers")),
    "any_reviewer": _LISTED.named_in(_REVIEWS),
    "no_reviewer": not_(_LISTED.named_in(_REVIEWS)),
    "not_reviewers": not_(_LISTED.named_in(_REVIEWS, any_of(_REVIEWER, "not_reviewers"))),
    "approved_by": _LISTED.named_in(_APPROVALS, any_of(_APPROVER, "approved_by")),
    "any_approval": _LISTED.named_in(_APPROVALS),
    "no_approval": not_(_LISTED.named_in(_APPROVALS)),
    "merged_by": _ROWS.merged_by_id == bindparam("merged_by"),
    "closing": _LISTED.named_in(
        merge_request_closings.c.merge_request_id, merge_request_closings.c.issue_id == bindparam("issue")
    ),
    # Only what gets into the default branch closes anything; the projects must be joined.
    "into_default": _ROWS.target_branch == projects.c.default_branch,
    "numbers": any_of(_ROWS.id, "chosen"),
    "of_milestone": _ROWS.milestone_id == bindparam("of_milestone"),
}
_ORDERS = {**orders_on(_LISTED), "merged_at": (func.coalesce(_ROWS.merged_at, NEVER),)}
SHAPES = Shapes(
    _LISTED,
    _CONDITIONS,
    _ORDERS,
    LEADS | {"source_branch", "reviewed_by_me", "reviewers", "closing", "numbers", "of_milestone"},
)
