"""The lists of issues as statements: what can be asked of one, compiled once for each shape."""

from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, func, not_, or_, select

from ingot.db.expressions import any_of, contains
from ingot.db.paging import ListQuery, list_query
from ingot.db.search import holding
from ingot.groups.namespaces.tables import namespace_tree
from ingot.issues import policy
from ingot.issues.tables import issue_assignees, issues
from ingot.labels.tables import label_links, labels
from ingot.milestones.tables import milestones
from ingot.projects.tables import projects

KIND = "issue"
_CARRIED = select(label_links.c.subject_id).where(label_links.c.subject_kind == KIND)
_TITLED = _CARRIED.join(labels, labels.c.id == label_links.c.label_id)
_BELOW = select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("group"))
_SEARCHED = (issues.c.title_key, issues.c.description_key)


def _assigned(who: ColumnElement[bool] | None = None) -> ColumnElement[bool]:
    found = select(issue_assignees.c.issue_id)
    return issues.c.id.in_((found if who is None else found.where(who)).scalar_subquery())


def _with_label(place: int, prefix: str = "label") -> ColumnElement[bool]:
    return issues.c.id.in_(_TITLED.where(labels.c.title == bindparam(f"{prefix}_{place}")).scalar_subquery())


def _with_milestone(name: str) -> ColumnElement[bool]:
    titled = select(milestones.c.id).where(milestones.c.title == bindparam(name))
    return issues.c.milestone_id.in_(titled.scalar_subquery())


CONDITIONS: dict[str, ColumnElement[bool]] = {
    "in_project": issues.c.project_id == bindparam("project"),
    "in_group": projects.c.namespace_id.in_(_BELOW.scalar_subquery()),
    "not_hidden": policy.seen_though_confidential(),
    "visible": policy.visible_issues(external=False),
    "visible_to_external": policy.visible_issues(external=True),
    "with_issues": projects.c.issues_enabled.is_(True) & projects.c.namespace_id.is_not(None),
    "state": issues.c.state == bindparam("state"),
    "confidential": issues.c.confidential.is_(True),
    "not_confidential": issues.c.confidential.is_(False),
    "iids": any_of(issues.c.iid, "iids"),
    "without_labels": not_(issues.c.id.in_(_CARRIED.scalar_subquery())),
    "any_label": issues.c.id.in_(_CARRIED.scalar_subquery()),
    "milestone": _with_milestone("milestone"),
    "without_milestone": issues.c.milestone_id.is_(None),
    "any_milestone": issues.c.milestone_id.is_not(None),
    "author": issues.c.author_id == bindparam("author"),
    "written_by_me": issues.c.author_id == bindparam("me"),
    "assigned_to_me": _assigned(issue_assignees.c.user_id == bindparam("me")),
    "assignees": _assigned(any_of(issue_assignees.c.user_id, "assignees")),
    "any_assignee": _assigned(),
    "no_assignee": not_(_assigned()),
    "search": holding(issues.c.id, "needle", *_SEARCHED),
    "short_search": or_(*(contains(column, "pattern") for column in _SEARCHED)),
    "created_after": issues.c.created_at >= bindparam("created_after"),
    "created_before": issues.c.created_at <= bindparam("created_before"),
    "updated_after": issues.c.updated_at >= bindparam("updated_after"),
    "updated_before": issues.c.updated_at <= bindparam("updated_before"),
    "no_due_date": issues.c.due_date.is_(None),
    "any_due_date": issues.c.due_date.is_not(None),
    "due_after": issues.c.due_date >= bindparam("due_after"),
    "due_before": issues.c.due_date <= bindparam("due_before"),
    "not_milestone": or_(issues.c.milestone_id.is_(None), not_(_with_milestone("not_milestone"))),
    "not_author": issues.c.author_id != bindparam("not_author"),
    "not_assignees": not_(_assigned(any_of(issue_assignees.c.user_id, "not_assignees"))),
    "not_iids": not_(any_of(issues.c.iid, "not_iids")),
    "not_search": not_(or_(*(contains(column, "not_pattern") for column in _SEARCHED))),
}
_ORDERS: dict[str, ColumnElement[Any]] = {
    "created_at": issues.c.created_at,
    "updated_at": issues.c.updated_at,
    "due_date": func.coalesce(issues.c.due_date, "9999-99-99"),
    "title": issues.c.title_key,
    "priority": issues.c.due_date,
    "popularity": issues.c.upvotes,
}
# Who sees how much is a question to the project around an issue.
_NEEDS_PROJECT = {"in_group", "visible", "visible_to_external", "with_issues"}


@lru_cache(maxsize=512)
def lists_of(filters: frozenset[str], order_by: str, sort: str, with_labels: int, without_labels: int) -> ListQuery:
    """The statements of a list; labels count by how many are asked for."""
    conditions = [CONDITIONS[name] for name in sorted(filters)]
    conditions += [_with_label(place) for place in range(with_labels)]
    conditions += [not_(_with_label(place, "not_label")) for place in range(without_labels)]
    matching = select(issues)
    if filters & _NEEDS_PROJECT:
        matching = matching.join(projects, projects.c.id == issues.c.project_id)
    matching = matching.where(issues.c.deleted_at.is_(None), and_(*conditions))
    order, number = _ORDERS[order_by], issues.c.id
    ascending = sort == "asc"
    return list_query(
        matching,
        issues.c.id,
        order.asc() if ascending else order.desc(),
        number.asc() if ascending else number.desc(),
    )
