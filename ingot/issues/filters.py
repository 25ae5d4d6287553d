"""The lists of issues as statements: what can be asked of one, compiled once for each shape."""

from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, func, not_, or_, select

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


def _assigned(who: ColumnElement[bool] | None = None) -> ColumnElement[bool]:
    found = select(issue_assignees.c.issue_id)
    return issues.c.id.in_((found if who is None else found.where(who)).scalar_subquery())


def _carries(place: int, prefix: str = "label") -> ColumnElement[bool]:
    """One of the labels bound to a name is on the issue at hand."""
    link = label_links.alias()
    of_issue = and_(link.c.subject_kind == KIND, link.c.subject_id == issues.c.id)
    return exists().where(of_issue, any_of(link.c.label_id, f"{prefix}_{place}"))


def _among_carrying(place: int) -> ColumnElement[bool]:
    """The same for who looks up the issues by their labels."""
    return issues.c.id.in_(_CARRIED.where(any_of(label_links.c.label_id, f"label_{place}")).scalar_subquery())


def _with_milestone(name: str) -> ColumnElement[bool]:
    titled = select(milestones.c.id).where(milestones.c.title == bindparam(name))
    return issues.c.milestone_id.in_(titled.scalar_subquery())


def _in_milestone(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    running = select(milestones.c.id).where(milestones.c.state == "active", *conditions)
    return issues.c.milestone_id.in_(running.scalar_subquery())


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


class Lists(NamedTuple):
    """The statements of one list: those that walk in its order, and the one that looks all of them up first."""

    walking: ListQuery
    looked_up: Select[Any]


@lru_cache(maxsize=512)
def lists_of(filters: frozenset[str], order_by: str, sort: str, with_labels: int, without_labels: int) -> Lists:
    """The statements of a list; labels count by how many are asked for."""
    ascending = sort == "asc"
    order = [column.asc() if ascending else column.desc() for column in (*_ORDERS[order_by], issues.c.id)]
    looked_up = _matching(filters, with_labels, without_labels, looked_up=True)
    return Lists(
        list_query(_matching(filters, with_labels, without_labels), issues.c.id, *order),
        looked_up.with_only_columns(issues.c.id).order_by(*order),
    )


@lru_cache(maxsize=512)
def counts_of(filters: frozenset[str], with_labels: int, without_labels: int) -> Select[Any]:
    """How many a list has, by state."""
    matching = _matching(filters, with_labels, without_labels, looked_up=bool(with_labels or filters & FEW))
    return matching.with_only_columns(issues.c.state, func.count()).group_by(issues.c.state)


def _matching(
    filters: frozenset[str], with_labels: int, without_labels: int, *, looked_up: bool = False
) -> Select[Any]:
    by_label = looked_up and with_labels > 0 and not filters & _LEADS
    conditions = [CONDITIONS[name] for name in sorted(filters)]
    if "in_project" in filters and looked_up and (by_label or filters & _LEADS):
        # By its project an engine would find all of them, and only then ask for the rest.
        conditions = [CONDITIONS[name] for name in sorted(filters - {"in_project"})]
        conditions.append(unindexed(issues.c.project_id) == bindparam("project"))
    conditions += [_among_carrying(0)] if by_label else []
    conditions += [_carries(place) for place in range(1 if by_label else 0, with_labels)]
    conditions += [not_(_carries(place, "not_label")) for place in range(without_labels)]
    matching = select(issues)
    if filters & _NEEDS_PROJECT:
        matching = matching.join(projects, projects.c.id == issues.c.project_id)
    return matching.where(issues.c.deleted_at.is_(None), and_(*conditions))
