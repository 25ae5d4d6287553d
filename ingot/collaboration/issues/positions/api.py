"""Endpoint of the manual order of issues."""

from ingot.collaboration.issues import policy
from ingot.collaboration.issues.api import issue_in_path
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.positions import queries, service
from ingot.collaboration.issues.positions.params import ReorderIssue
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.views import IssueView, issue_views
from ingot.core.api.params import MissingParameter
from ingot.core.api.routes import Call, Routes
from ingot.core.errors import Invalid

routes = Routes("issues")


@routes.put("/projects/:id/issues/:issue_iid/reorder", on=issue_in_path, may=policy.may_edit_issue, returns=IssueView)
def reorder_issue(call: Call, lookup: IssueLookup, params: ReorderIssue) -> IssueView:
    """Move an issue between two others of its project."""
    if params.move_after_id is None and params.move_before_id is None:
        raise MissingParameter("move_after_id")
    before = _neighbor(call, lookup, "move_before_id", params.move_before_id)
    after = _neighbor(call, lookup, "move_after_id", params.move_after_id)
    service.reorder_issue(call.db, lookup.issue, before, after)
    return issue_views(call.db, call.actor, [issue_by_id(call.db, lookup.issue.id)], call.origin.base)[0]


def _neighbor(call: Call, moved: IssueLookup, name: str, issue_id: int | None) -> Issue | None:
    if issue_id is None:
        return None
    neighbor = queries.neighbor_or_none(call.db, call.actor, moved, issue_id)
    if neighbor is None:
        raise Invalid(**{name: ["is invalid"]})
    return neighbor
