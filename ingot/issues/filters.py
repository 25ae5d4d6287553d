"""The lists of issues: what can be asked of one."""

from sqlalchemy import ColumnElement, bindparam, func

from ingot.issues import policy
from ingot.issues.conditions import NEVER, Listed, Shapes, conditions_on, orders_on
from ingot.issues.tables import STANDING, issue_assignees, issues
from ingot.projects.tables import projects

KIND = "issue"
_LISTED = Listed(KIND, issues, issues.c.project_id, issue_assignees, issue_assignees.c.issue_id)
CONDITIONS: dict[str, ColumnElement[bool]] = {
    **conditions_on(_LISTED),
    "not_hidden": policy.seen_though_confidential(),
    "visible": policy.visible_issues(external=False),
    "visible_to_external": policy.visible_issues(external=True),
    "with_feature": projects.c.issues_enabled.is_(True) & projects.c.namespace_id.is_not(None),
    "confidential": issues.c.confidential.is_(True),
    "not_confidential": issues.c.confidential.is_(False),
    "no_due_date": issues.c.due_date.is_(None),
    "any_due_date": issues.c.due_date.is_not(None),
    "due_after": issues.c.due_date >= bindparam("due_after"),
    "due_before": issues.c.due_date <= bindparam("due_before"),
}
_ORDERS = {
    **orders_on(_LISTED),
    "due_date": (func.coalesce(issues.c.due_date, NEVER),),
    "relative_position": (STANDING,),
}
SHAPES = Shapes(_LISTED, CONDITIONS, _ORDERS)
