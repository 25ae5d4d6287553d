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
    exists,
    func,
    literal_column,
    not_,
    or_,
    select,
)

from ingot.db.expressions import any_of, contains, unindexed
from ingot.db.paging import ListQuery, list_query
from ingot.db.search import holding
from ingot.emoji.queries import rewarded
from ingot.groups.namespaces.tables import namespace_tree
from ingot.issues import policy
from ingot.issues.tables import STANDING, issue_assignees, issues
from ingot.labels.tables import label_links, label_priorities
from ingot.milestones.tables import milestones
from ingot.projects.tables import projects

KIND = "issue"
_CARRIED = select(label_links.c.subject_id).where(label_links.c.subject_kind == KIND)
_BELOW = select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("group"))
_SEARCHED = (issues.c.title_key, issues.c.description_key)


def _assigned(
    who: ColumnElement[bool] | None = None, issue_id: ColumnElement[int] = issues.c.id
) -> ColumnElement[bool]:
    found = select(issue_assignees.c.issue_id)
    return issue_id.in_((found if who is None else found.where(who)).scalar_subquery())


def _carries(place: int, prefix: str = "label") -> ColumnElement[bool]:
    """One of the labels bound to a name is on the issue at hand."""
    link = label_links.alias()
    of_issue = and_(link.c.subject_kind == KIND, link.c.subject_id == issues.c.id)
    return exists().where(of_issue, any_of(link.c.label_id, f"{prefix}_{place}"))


def _among_carrying(place: int) -> ColumnElement[bool]:
    """The same for who looks up the issues by their labels."""
    return issues.c.id.in_(_CARRIED.where(any_of(label_links.c.label_id, f"label_{place}")).scalar_subquery())


def _with_milestone(name: str, of: ColumnElement[int] = issues.c.milestone_id) -> ColumnElement[bool]:
    titled = select(milestones.c.id).where(milestones.c.title == bindparam(name))
    return of.in_(titled.scalar_subquery())


def _in_milestone(
    *conditions: ColumnElement[bool], of: ColumnElement[int] = issues.c.milestone_id
) -> ColumnElement[bool]:
    running = select(milestones.c.id).where(milestones.c.state == "active", *conditions)
    return of.in_(running.scalar_subquery())


def _is_next_due() -> ColumnElement[bool]:
    """Of the milestones of one project or group that are due after ``today``, the first."""
    sooner = milestones.alias()
    same = or_(sooner.c.project_id == milestones.c.project_id, sooner.c.group_id == milestones.c.group_id)
    running = and_(sooner.c.state == "active", sooner.c.due_date > bindparam("today"))
    return and_(
        milestones.c.due_date > bindparam("today"),
        not_(exists().where(same, running, sooner.c.due_date < milestones.c.due_date)),
    )


def _label_priority() -> ColumnElement[int]:
    """The highest priority that its project gives to a label that it carries; none is the lowest."""
    carried = (
        select(func.min(label_priorities.c.priority))
        .join(label_links, label_links.c.label_id == label_priorities.c.label_id)
        .where(
            label_links.c.subject_kind == KIND,
            label_links.c.subject_id == issues.c.id,
            label_priorities.c.project_id == issues.c.project_id,
        )
        .scalar_subquery()
    )
    return func.coalesce(carried, _LAST)


def _milestone_due() -> ColumnElement[str]:
    due = select(milestones.c.due_date).where(milestones.c.id == issues.c.milestone_id).scalar_subquery()
    return func.coalesce(due, _NEVER)


_NEVER = "9999-99-99"
_LAST = 2**62
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
    "in_project": issues.c.project_id == bindparam("project"),
    "in_group": projects.c.namespace_id.in_(_BELOW.scalar_subquery()),
    "in_this_project": IN_THIS_PROJECT,
    "undated": or_(
        issues.c.milestone_id.is_(None),
        unindexed(issues.c.milestone_id).not_in(select(milestones.c.id).where(_DATED).scalar_subquery()),
    ),
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
    "started_milestone": _in_milestone(milestones.c.start_date <= bindparam("today")),
    "upcoming_milestone": _in_milestone(_is_next_due()),
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
    "reaction": issues.c.id.in_(rewarded(KIND, "reaction").scalar_subquery()),
    "any_reaction": issues.c.id.in_(rewarded(KIND).scalar_subquery()),
    "no_reaction": not_(issues.c.id.in_(rewarded(KIND).scalar_subquery())),
    "not_reaction": not_(issues.c.id.in_(rewarded(KIND, "not_reaction").scalar_subquery())),
    "not_search": not_(or_(*(contains(column, "not_pattern") for column in _SEARCHED))),
}
_ORDERS: dict[str, tuple[ColumnElement[Any], ...]] = {
    "id": (),
    "created_at": (issues.c.created_at,),
    "updated_at": (issues.c.updated_at,),
    "due_date": (func.coalesce(issues.c.due_date, _NEVER),),
    "title": (issues.c.title_key,),
    "priority": (_milestone_due(), _label_priority()),
    "label_priority": (_label_priority(),),
    "milestone_due": (_milestone_due(),),
    "popularity": (issues.c.upvotes,),
    "relative_position": (STANDING,),
}
# Who sees how much is a question to the project around an issue.
_NEEDS_PROJECT = {"in_group", "visible", "visible_to_external", "with_issues"}
ACROSS_PROJECTS = _NEEDS_PROJECT
# What leaves few, of a project or of all: those are looked up by it.
_LEADS = {
    "milestone",
    "started_milestone",
    "upcoming_milestone",
    "author",
    "written_by_me",
    "assigned_to_me",
    "assignees",
    "search",
    "reaction",
}
FEW = _LEADS | {"iids"}
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
_ALONG_THE_WAY: dict[str, ColumnElement[bool]] = {
    **CONDITIONS,
    "in_group": unindexed(projects.c.namespace_id).in_(_BELOW.scalar_subquery()),
    "milestone": _with_milestone("milestone", unindexed(issues.c.milestone_id)),
    "started_milestone": _in_milestone(
        milestones.c.start_date <= bindparam("today"), of=unindexed(issues.c.milestone_id)
    ),
    "upcoming_milestone": _in_milestone(_is_next_due(), of=unindexed(issues.c.milestone_id)),
    "assigned_to_me": _assigned(issue_assignees.c.user_id == bindparam("me"), unindexed(issues.c.id)),
    "assignees": _assigned(any_of(issue_assignees.c.user_id, "assignees"), unindexed(issues.c.id)),
    "search": holding(unindexed(issues.c.id), "needle", *_SEARCHED),
    "reaction": unindexed(issues.c.id).in_(rewarded(KIND, "reaction").scalar_subquery()),
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
    by_label = looked_up and with_labels > 0 and not filters & _LEADS
    known = CONDITIONS if looked_up else _ALONG_THE_WAY
    conditions = [known[name] for name in sorted(filters)]
    if "in_project" in filters and looked_up and (by_label or filters & _LEADS):
        # By its project an engine would find all of them, and only then ask for the rest.
        conditions = [known[name] for name in sorted(filters - {"in_project"})]
        conditions.append(IN_THIS_PROJECT)
    conditions += [_among_carrying(0)] if by_label else []
    conditions += [_carries(place) for place in range(1 if by_label else 0, with_labels)]
    conditions += [not_(_carries(place, "not_label")) for place in range(without_labels)]
    source: FromClause = issues
    if dated:
        source = source.join(milestones, unindexed(milestones.c.id) == issues.c.milestone_id)
        conditions.append(_DATED)
    if filters & _NEEDS_PROJECT:
        # Who walks through issues, or looks them up, then asks for their project; else the projects lead to them.
        led = not looked_up or by_label or filters & FEW
        found = projects.c.id == unindexed(issues.c.project_id)
        source = source.join(projects, found if led else unindexed(projects.c.id) == issues.c.project_id)
    return select(issues).select_from(source).where(issues.c.deleted_at.is_(None), and_(*conditions))


@lru_cache(maxsize=64)
def dated_lists_of(
    filters: frozenset[str], by_label: bool, sort: str, with_labels: int, without_labels: int
) -> tuple[Select[Any], Select[Any]]:
    """The ids of a page of a project's issues that have a milestone with an end, by this; and how many there are.

    An engine goes through the milestones as they end, and sorts only the issues of those that end on one day.
    """
    filters = (filters - {"in_project"}) | {"in_this_project"}
    matching = _matching(filters, with_labels, without_labels, dated=True)
    columns = (milestones.c.due_date, *((_label_priority(),) if by_label else ()), issues.c.id)
    query = list_query(matching.with_only_columns(issues.c.id), issues.c.id, *_sorted(columns, sort))
    return query.by_number, query.total
