"""The lists of issues as statements: what can be asked of one, compiled once for each shape."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    and_,
    bindparam,
    func,
    literal_column,
    not_,
    or_,
    select,
)

from ingot.collaboration.emoji.queries import has_award_from
from ingot.collaboration.issues import policy
from ingot.collaboration.issues.conditions import (
    DESCENDANT_GROUP_IDS,
    FAR_FUTURE,
    SELECTIVE_FILTERS,
    IssuableTable,
    conditions_for,
    is_next_due_milestone,
    orders_for,
)
from ingot.collaboration.issues.tables import EFFECTIVE_POSITION, ISSUE_COLUMNS, issue_assignees, issues
from ingot.collaboration.labels.tables import label_links
from ingot.collaboration.milestones.tables import milestones
from ingot.core.db.expressions import in_list, without_index
from ingot.core.db.paging import ListQuery, list_query
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.tables import projects

KIND = "issue"
_ISSUES = IssuableTable(KIND, issues, issues.c.project_id, issue_assignees, issue_assignees.c.issue_id)
_ANCESTOR_GROUPS = (
    select(namespace_tree.c.ancestor_id)
    .join(projects, projects.c.namespace_id == namespace_tree.c.descendant_id)
    .where(projects.c.id == bindparam("project"))
)
# Milestones of a project, or of a group around it, that have an end; indexed by this alone.
_IS_DATED_MILESTONE = and_(
    milestones.c.due_date.is_not(None),
    or_(
        without_index(milestones.c.project_id) == bindparam("project"),
        without_index(milestones.c.group_id).in_(_ANCESTOR_GROUPS.scalar_subquery()),
    ),
)
HAS_DATED_MILESTONE = select(milestones.c.id).where(_IS_DATED_MILESTONE).limit(literal_column("1"))
IN_THIS_PROJECT = without_index(issues.c.project_id) == bindparam("project")
CONDITIONS: dict[str, ColumnElement[bool]] = {
    **conditions_for(_ISSUES),
    "in_this_project": IN_THIS_PROJECT,
    "undated": or_(
        issues.c.milestone_id.is_(None),
        without_index(issues.c.milestone_id).not_in(
            select(milestones.c.id).where(_IS_DATED_MILESTONE).scalar_subquery()
        ),
    ),
    "not_hidden": policy.visible_below_reporter(),
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
_ORDERS: dict[str, tuple[ColumnElement[Any], ...]] = {
    **orders_for(_ISSUES),
    "due_date": (func.coalesce(issues.c.due_date, FAR_FUTURE),),
    "relative_position": (EFFECTIVE_POSITION,),
}
# Who sees how much is a question to the project around an issue.
ACROSS_PROJECTS = {"in_group", "not_archived", "visible", "visible_to_external", "with_feature"}
LOOKUP_FILTERS = SELECTIVE_FILTERS | {"iids"}
_LABEL_LINKS = select(func.count(label_links.c.subject_id.distinct())).where(
    label_links.c.subject_kind == KIND,
    without_index(label_links.c.project_id) == bindparam("project"),
    in_list(label_links.c.label_id, "label_0"),
)
# How many carry one label, by what is kept of them beside it.
LABEL_COUNT: dict[frozenset[str], Select[Any]] = {
    frozenset({"in_project"}): _LABEL_LINKS,
    frozenset({"in_project", "state"}): _LABEL_LINKS.where(label_links.c.state == bindparam("state")),
}


# The same for those who walk along an order: nothing that leaves few leads them off it.
_UNINDEXED_ID, _UNINDEXED_MILESTONE_ID, _ASSIGNEE_ID = (
    without_index(issues.c.id),
    without_index(issues.c.milestone_id),
    issue_assignees.c.user_id,
)
_SCAN_CONDITIONS: dict[str, ColumnElement[bool]] = {
    **CONDITIONS,
    "in_group": without_index(projects.c.namespace_id).in_(DESCENDANT_GROUP_IDS.scalar_subquery()),
    "milestone": _ISSUES.with_milestone("milestone", _UNINDEXED_MILESTONE_ID),
    "started_milestone": _ISSUES.in_milestone(
        milestones.c.start_date <= bindparam("today"), of=_UNINDEXED_MILESTONE_ID
    ),
    "upcoming_milestone": _ISSUES.in_milestone(is_next_due_milestone(), of=_UNINDEXED_MILESTONE_ID),
    "assigned_to_me": _ISSUES.assigned(bindparam("me") == _ASSIGNEE_ID, _UNINDEXED_ID),
    "assignees": _ISSUES.assigned(in_list(_ASSIGNEE_ID, "assignees"), _UNINDEXED_ID),
    **_ISSUES.holding(_UNINDEXED_ID),
    "reaction": _UNINDEXED_ID.in_(has_award_from(KIND, "reaction").scalar_subquery()),
}
# In these orders an index leads through the rows, so they are read as they come; else only what is shown is read.
_INDEXED = ("id", "created_at", "updated_at")
MAX_LOOKED_UP = 2_000
"""Up to here all that match are looked at once for a page and its total; beyond, a page walks in its order."""
MAX_COUNTED = 10_000
"""Of more nobody is told how many there are, unless that is kept."""


class IssueListStatements(NamedTuple):
    """The statements of one list."""

    by_scan: ListQuery
    """Goes along the order until a page is full."""
    whole: bool
    """Whether that gives rows; else their ids."""
    by_lookup: Select[Any]
    """Finds all ids, then sorts them; of more than ``MOST_LOOKED_UP`` it finds one more than that."""
    counted: Select[Any]
    """How many there are, up to one more than is told."""


@lru_cache(maxsize=512)
def list_statements(
    filters: frozenset[str], order_by: str, sort: str, with_labels: int, without_labels: int
) -> IssueListStatements:
    """The statements of a list; labels count by how many are asked for."""
    columns = (*_ORDERS[order_by], issues.c.id)
    order = _sorted(columns, sort)
    walking = _matching(filters, with_labels, without_labels)
    few = _matching(filters, with_labels, without_labels, looked_up=True)
    query = list_query(walking, issues.c.id, *order)
    if order_by not in _INDEXED:
        query = query._replace(by_number=query.by_number.with_only_columns(issues.c.id))
    some = few.with_only_columns(issues.c.id).limit(literal_column(str(MAX_COUNTED + 1)))
    sorted_by = [column.label(f"by_{place}") for place, column in enumerate(columns)]
    found = few.with_only_columns(*sorted_by).limit(literal_column(str(MAX_LOOKED_UP + 1))).subquery()
    # The id is what they are sorted by at last.
    looked_up = select(tuple(found.c)[-1]).order_by(*_sorted(tuple(found.c), sort))
    return IssueListStatements(
        query, order_by in _INDEXED, looked_up, select(func.count()).select_from(some.subquery())
    )


def _sorted(columns: Sequence[ColumnElement[Any]], sort: str) -> list[ColumnElement[Any]]:
    return [column.asc() if sort == "asc" else column.desc() for column in columns]


@lru_cache(maxsize=512)
def count_statement(filters: frozenset[str], with_labels: int, without_labels: int) -> Select[Any]:
    """How many a list has, by state."""
    matching = _matching(filters, with_labels, without_labels, looked_up=bool(with_labels or filters & LOOKUP_FILTERS))
    return matching.with_only_columns(issues.c.state, func.count()).group_by(issues.c.state)


def _matching(
    filters: frozenset[str], with_labels: int, without_labels: int, *, looked_up: bool = False, dated: bool = False
) -> Select[Any]:
    by_label = looked_up and with_labels > 0 and not filters & SELECTIVE_FILTERS
    known = CONDITIONS if looked_up else _SCAN_CONDITIONS
    conditions = [known[name] for name in sorted(filters)]
    if "in_project" in filters and looked_up and (by_label or filters & SELECTIVE_FILTERS):
        # By its project an engine would find all of them, and only then ask for the rest.
        conditions = [known[name] for name in sorted(filters - {"in_project"})]
        conditions.append(IN_THIS_PROJECT)
    conditions += [_ISSUES.is_labelled(0)] if by_label else []
    conditions += [_ISSUES.has_label(place) for place in range(1 if by_label else 0, with_labels)]
    conditions += [not_(_ISSUES.has_label(place, "not_label")) for place in range(without_labels)]
    source: FromClause = issues
    if dated:
        source = source.join(milestones, without_index(milestones.c.id) == issues.c.milestone_id)
        conditions.append(_IS_DATED_MILESTONE)
    if filters & ACROSS_PROJECTS:
        # Who walks through issues, or looks them up, then asks for their project; else the projects lead to them.
        led = not looked_up or by_label or filters & LOOKUP_FILTERS
        found = projects.c.id == without_index(issues.c.project_id)
        source = source.join(projects, found if led else without_index(projects.c.id) == issues.c.project_id)
    return select(*ISSUE_COLUMNS).select_from(source).where(issues.c.deleted_at.is_(None), and_(*conditions))


@lru_cache(maxsize=64)
def dated_list_statements(
    filters: frozenset[str], by_label: bool, sort: str, with_labels: int, without_labels: int
) -> tuple[Select[Any], Select[Any]]:
    """The ids of a page of a project's issues that have a milestone with an end, by this; and how many there are.

    An engine goes through the milestones as they end, and sorts only the issues of those that end on one day.
    """
    filters = (filters - {"in_project"}) | {"in_this_project"}
    matching = _matching(filters, with_labels, without_labels, dated=True)
    columns = (milestones.c.due_date, *((_ISSUES.label_priority(),) if by_label else ()), issues.c.id)
    query = list_query(matching.with_only_columns(issues.c.id), issues.c.id, *_sorted(columns, sort))
    return query.by_number, query.total
