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

from ingot.db.expressions import any_of, unindexed
from ingot.db.paging import ListQuery, list_query
from ingot.emoji.queries import rewarded
from ingot.groups.namespaces.tables import namespace_tree
from ingot.issues import policy
from ingot.issues.conditions import BELOW, LEADS, NEVER, Listed, conditions_on, is_next_due, orders_on
from ingot.issues.tables import ISSUE, STANDING, issue_assignees, issues
from ingot.labels.tables import label_links
from ingot.milestones.tables import milestones
from ingot.projects.tables import projects

KIND = "issue"
_LISTED = Listed(KIND, issues, issues.c.project_id, issue_assignees, issue_assignees.c.issue_id)
_AROUND = (
    select(namespace_tree.c.ancestor_id)
    .join(projects, projects.c.namespace_id == namespace_tree.c.descendant_id)
    .where(projects.c.id == bindparam("project"))
)
# Milestones of a project, or of a group around it, that have an end; indexed by this alone.
_DATED = and_(
    milestones.c.due_date.is_not(None),
    or_(
        unindexed(milestones.c.project_id) == bindparam("project"),
        unindexed(milestones.c.group_id).in_(_AROUND.scalar_subquery()),
    ),
)
HAS_DATED = select(milestones.c.id).where(_DATED).limit(literal_column("1"))
IN_THIS_PROJECT = unindexed(issues.c.project_id) == bindparam("project")
CONDITIONS: dict[str, ColumnElement[bool]] = {
    **conditions_on(_LISTED),
    "in_this_project": IN_THIS_PROJECT,
    "undated": or_(
        issues.c.milestone_id.is_(None),
        unindexed(issues.c.milestone_id).not_in(select(milestones.c.id).where(_DATED).scalar_subquery()),
    ),
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
_ORDERS: dict[str, tuple[ColumnElement[Any], ...]] = {
    **orders_on(_LISTED),
    "due_date": (func.coalesce(issues.c.due_date, NEVER),),
    "relative_position": (STANDING,),
}
# Who sees how much is a question to the project around an issue.
ACROSS_PROJECTS = {"in_group", "not_archived", "visible", "visible_to_external", "with_feature"}
FEW = LEADS | {"iids"}
_LABEL_LINKS = select(func.count(label_links.c.subject_id.distinct())).where(
    label_links.c.subject_kind == KIND,
    unindexed(label_links.c.project_id) == bindparam("project"),
    any_of(label_links.c.label_id, "label_0"),
)
# How many carry one label, by what is kept of them beside it.
LABEL_COUNT: dict[frozenset[str], Select[Any]] = {
    frozenset({"in_project"}): _LABEL_LINKS,
    frozenset({"in_project", "state"}): _LABEL_LINKS.where(label_links.c.state == bindparam("state")),
}


# The same for those who walk along an order: nothing that leaves few leads them off it.
_HERE, _IN, _PERSON = unindexed(issues.c.id), unindexed(issues.c.milestone_id), issue_assignees.c.user_id
_ALONG_THE_WAY: dict[str, ColumnElement[bool]] = {
    **CONDITIONS,
    "in_group": unindexed(projects.c.namespace_id).in_(BELOW.scalar_subquery()),
    "milestone": _LISTED.with_milestone("milestone", _IN),
    "started_milestone": _LISTED.in_milestone(milestones.c.start_date <= bindparam("today"), of=_IN),
    "upcoming_milestone": _LISTED.in_milestone(is_next_due(), of=_IN),
    "assigned_to_me": _LISTED.assigned(bindparam("me") == _PERSON, _HERE),
    "assignees": _LISTED.assigned(any_of(_PERSON, "assignees"), _HERE),
    **_LISTED.holding(_HERE),
    "reaction": _HERE.in_(rewarded(KIND, "reaction").scalar_subquery()),
}
# In these orders an index leads through the rows, so they are read as they come; else only what is shown is read.
_INDEXED = ("id", "created_at", "updated_at")
MOST_LOOKED_UP = 2_000
"""Up to here all that match are looked at once for a page and its total; beyond, a page walks in its order."""
MOST_COUNTED = 10_000
"""Of more nobody is told how many there are, unless that is kept."""


class Lists(NamedTuple):
    """The statements of one list."""

    walking: ListQuery
    """Goes along the order until a page is full."""
    whole: bool
    """Whether that gives rows; else their ids."""
    looked_up: Select[Any]
    """Finds all ids, then sorts them; of more than ``MOST_LOOKED_UP`` it finds one more than that."""
    counted: Select[Any]
    """How many there are, up to one more than is told."""


@lru_cache(maxsize=512)
def lists_of(filters: frozenset[str], order_by: str, sort: str, with_labels: int, without_labels: int) -> Lists:
    """The statements of a list; labels count by how many are asked for."""
    columns = (*_ORDERS[order_by], issues.c.id)
    order = _sorted(columns, sort)
    walking = _matching(filters, with_labels, without_labels)
    few = _matching(filters, with_labels, without_labels, looked_up=True)
    query = list_query(walking, issues.c.id, *order)
    if order_by not in _INDEXED:
        query = query._replace(by_number=query.by_number.with_only_columns(issues.c.id))
    some = few.with_only_columns(issues.c.id).limit(literal_column(str(MOST_COUNTED + 1)))
    sorted_by = [column.label(f"by_{place}") for place, column in enumerate(columns)]
    found = few.with_only_columns(*sorted_by).limit(literal_column(str(MOST_LOOKED_UP + 1))).subquery()
    # The id is what they are sorted by at last.
    looked_up = select(tuple(found.c)[-1]).order_by(*_sorted(tuple(found.c), sort))
    return Lists(query, order_by in _INDEXED, looked_up, select(func.count()).select_from(some.subquery()))


def _sorted(columns: Sequence[ColumnElement[Any]], sort: str) -> list[ColumnElement[Any]]:
    return [column.asc() if sort == "asc" else column.desc() for column in columns]


@lru_cache(maxsize=512)
def counts_of(filters: frozenset[str], with_labels: int, without_labels: int) -> Select[Any]:
    """How many a list has, by state."""
    matching = _matching(filters, with_labels, without_labels, looked_up=bool(with_labels or filters & FEW))
    return matching.with_only_columns(issues.c.state, func.count()).group_by(issues.c.state)


def _matching(
    filters: frozenset[str], with_labels: int, without_labels: int, *, looked_up: bool = False, dated: bool = False
) -> Select[Any]:
    by_label = looked_up and with_labels > 0 and not filters & LEADS
    known = CONDITIONS if looked_up else _ALONG_THE_WAY
    conditions = [known[name] for name in sorted(filters)]
    if "in_project" in filters and looked_up and (by_label or filters & LEADS):
        # By its project an engine would find all of them, and only then ask for the rest.
        conditions = [known[name] for name in sorted(filters - {"in_project"})]
        conditions.append(IN_THIS_PROJECT)
    conditions += [_LISTED.among_carrying(0)] if by_label else []
    conditions += [_LISTED.carries(place) for place in range(1 if by_label else 0, with_labels)]
    conditions += [not_(_LISTED.carries(place, "not_label")) for place in range(without_labels)]
    source: FromClause = issues
    if dated:
        source = source.join(milestones, unindexed(milestones.c.id) == issues.c.milestone_id)
        conditions.append(_DATED)
    if filters & ACROSS_PROJECTS:
        # Who walks through issues, or looks them up, then asks for their project; else the projects lead to them.
        led = not looked_up or by_label or filters & FEW
        found = projects.c.id == unindexed(issues.c.project_id)
        source = source.join(projects, found if led else unindexed(projects.c.id) == issues.c.project_id)
    return select(*ISSUE).select_from(source).where(issues.c.deleted_at.is_(None), and_(*conditions))


@lru_cache(maxsize=64)
def dated_lists_of(
    filters: frozenset[str], by_label: bool, sort: str, with_labels: int, without_labels: int
) -> tuple[Select[Any], Select[Any]]:
    """The ids of a page of a project's issues that have a milestone with an end, by this; and how many there are.

    An engine goes through the milestones as they end, and sorts only the issues of those that end on one day.
    """
    filters = (filters - {"in_project"}) | {"in_this_project"}
    matching = _matching(filters, with_labels, without_labels, dated=True)
    columns = (milestones.c.due_date, *((_LISTED.label_priority(),) if by_label else ()), issues.c.id)
    query = list_query(matching.with_only_columns(issues.c.id), issues.c.id, *_sorted(columns, sort))
    return query.by_number, query.total
