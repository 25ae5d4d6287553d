"""SQL statements of lists of issues, built once for each combination of filters, order and number of labels."""

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
from ingot.collaboration.issues.tables import EFFECTIVE_POSITION, ISSUE_COLUMNS, issue_assignees, issues
from ingot.collaboration.labels.tables import label_links
from ingot.collaboration.milestones.tables import milestones
from ingot.collaboration.planning.conditions import (
    MAX_SHAPES,
    NEVER,
    SEARCHES,
    SELECTIVE,
    SUBGROUP_IDS,
    IssuableTable,
    is_next_due,
    list_conditions,
    list_orders,
)
from ingot.core.db.expressions import in_list, without_index
from ingot.core.db.paging import ListQuery, list_query, scan_query, scanned_rows
from ingot.core.db.search import is_hit, text_hits, text_scan
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.tables import projects

KIND = "issue"
_LISTED = IssuableTable(KIND, issues, issues.c.project_id, issue_assignees, issue_assignees.c.issue_id)
_AROUND = (
    select(namespace_tree.c.ancestor_id)
    .join(projects, projects.c.namespace_id == namespace_tree.c.descendant_id)
    .where(projects.c.id == bindparam("project"))
)
# Milestones of a project or of its groups that have a due date; only the due date may be looked up by an index.
_DATED = and_(
    milestones.c.due_date.is_not(None),
    or_(
        without_index(milestones.c.project_id) == bindparam("project"),
        without_index(milestones.c.group_id).in_(_AROUND.scalar_subquery()),
    ),
)
HAS_DATED = select(milestones.c.id).where(_DATED).limit(literal_column("1"))
IN_THIS_PROJECT = without_index(issues.c.project_id) == bindparam("project")
CONDITIONS: dict[str, ColumnElement[bool]] = {
    **list_conditions(_LISTED),
    "in_this_project": IN_THIS_PROJECT,
    "undated": or_(
        issues.c.milestone_id.is_(None),
        without_index(issues.c.milestone_id).not_in(select(milestones.c.id).where(_DATED).scalar_subquery()),
    ),
    "not_hidden": policy.visible_below_reporter(),
    "visible": policy.visible_issues(external=False),
    "visible_to_external": policy.visible_issues(external=True),
    "with_feature": projects.c.issues_enabled.is_(True) & projects.c.namespace_id.is_not(None),
    "confidential": issues.c.confidential.is_(True),
    "not_confidential": issues.c.confidential.is_(False),
    "of_type": issues.c.issue_type == bindparam("issue_type"),
    "no_due_date": issues.c.due_date.is_(None),
    "any_due_date": issues.c.due_date.is_not(None),
    "due_after": issues.c.due_date >= bindparam("due_after"),
    "due_before": issues.c.due_date <= bindparam("due_before"),
}
_ORDERS: dict[str, tuple[ColumnElement[Any], ...]] = {
    **list_orders(_LISTED),
    "due_date": (func.coalesce(issues.c.due_date, NEVER),),
    "relative_position": (EFFECTIVE_POSITION,),
}
# Filters whose condition needs the project of an issue.
ACROSS_PROJECTS = {"in_group", "not_archived", "visible", "visible_to_external", "with_feature"}
FEW = SELECTIVE | {"iids"}
_LABEL_LINKS = select(func.count(label_links.c.subject_id.distinct())).where(
    label_links.c.subject_kind == KIND,
    without_index(label_links.c.project_id) == bindparam("project"),
    in_list(label_links.c.label_id, "label_0"),
)
# Number of issues with one label, by the other filters of the list.
LABEL_COUNT: dict[frozenset[str], Select[Any]] = {
    frozenset({"in_project"}): _LABEL_LINKS,
    frozenset({"in_project", "state"}): _LABEL_LINKS.where(label_links.c.state == bindparam("state")),
}
_OF_ISSUES = (
    *("state", "iids", "without_labels", "any_label", "author", "written_by_me", "assigned_to_me", "assignees"),
    *("any_assignee", "no_assignee", "not_author", "not_assignees", "not_iids", "not_search"),
    *("without_milestone", "any_milestone", "confidential", "not_confidential", "not_hidden"),
    *("no_due_date", "any_due_date", "due_after", "due_before"),
    *SEARCHES,
    *(f"short_{name}" for name in SEARCHES),
)
VERSIONED_IN_PROJECT = frozenset({"in_project", *_OF_ISSUES})
"""Filters whose results depend only on columns of a project's issues that are versioned (see ``totals``)."""
VERSIONED_ANYWHERE = VERSIONED_IN_PROJECT | ACROSS_PROJECTS
"""Filters that depend also on the projects that the caller may see."""


# Conditions for reading along the order. ``without_index`` keeps the planner from using another index.
_HERE, _IN, _PERSON = without_index(issues.c.id), without_index(issues.c.milestone_id), issue_assignees.c.user_id
_ALONG_THE_ORDER: dict[str, ColumnElement[bool]] = {
    **CONDITIONS,
    "in_group": without_index(projects.c.namespace_id).in_(SUBGROUP_IDS.scalar_subquery()),
    "milestone": _LISTED.with_milestone("milestone", _IN),
    "started_milestone": _LISTED.in_milestone(milestones.c.start_date <= bindparam("today"), of=_IN),
    "upcoming_milestone": _LISTED.in_milestone(is_next_due(), of=_IN),
    "assigned_to_me": _LISTED.is_assigned(bindparam("me") == _PERSON),
    "assignees": _LISTED.is_assigned(in_list(_PERSON, "assignees")),
    **_LISTED.holding(_HERE),
    "reaction": _HERE.in_(has_award_from(KIND, "reaction").scalar_subquery()),
}
# Orders with an index: the rows are read along it. In other orders the ids are sorted, and only the page is read.
_INDEXED = ("id", "created_at", "updated_at")
MAX_LOOKED_UP = 2_000
"""Up to this number all matching ids are looked up for a page and its total; beyond, a page is read along its order."""
MAX_COUNTED = 10_000
"""Totals above this number are not counted, and are returned only if a stored count exists."""


class IssueListStatements(NamedTuple):
    """The statements of one list."""

    walking: ListQuery
    """Reads along the order until the page is full."""
    whole: bool
    """Whether ``walking`` returns rows; else it returns ids."""
    looked_up: Select[Any]
    """Finds all ids and sorts them; stops at one more than ``MAX_LOOKED_UP``."""
    counted: Select[Any]
    """Counts the rows; stops at one more than ``MAX_COUNTED``."""
    scanned: Select[Any] | None
    """Finds the ids of a page of a search among the first rows in order; None for other lists."""


@lru_cache(maxsize=MAX_SHAPES)
def lists_of(
    filters: frozenset[str], order_by: str, sort: str, with_labels: int, without_labels: int
) -> IssueListStatements:
    """Return the statements of a list; they depend only on the number of labels."""
    columns = (*_ORDERS[order_by], issues.c.id)
    order = _sorted(columns, sort)
    walking = _matching(filters, with_labels, without_labels)
    few = _matching(filters, with_labels, without_labels, looked_up=True)
    query = list_query(walking, issues.c.id, *order)
    if order_by not in _INDEXED:
        query = query._replace(
            by_number=query.by_number.with_only_columns(issues.c.id),
            by_number_back=query.by_number_back.with_only_columns(issues.c.id),
        )
    limited = few.with_only_columns(issues.c.id).limit(literal_column(str(MAX_COUNTED + 1)))
    sorted_by = [column.label(f"by_{index}") for index, column in enumerate(columns)]
    matching = few.with_only_columns(*sorted_by).limit(literal_column(str(MAX_LOOKED_UP + 1))).subquery()
    # The last column is the id.
    looked_up = select(tuple(matching.c)[-1]).order_by(*_sorted(tuple(matching.c), sort))
    return IssueListStatements(
        query,
        order_by in _INDEXED,
        looked_up,
        select(func.count()).select_from(limited.subquery()),
        _scanned(filters, order_by, sort, with_labels, without_labels),
    )


def _scanned(
    filters: frozenset[str], order_by: str, sort: str, with_labels: int, without_labels: int
) -> Select[Any] | None:
    searches = filters & SEARCHES.keys()
    if not searches or order_by not in _INDEXED:
        return None
    columns = (*_ORDERS[order_by], issues.c.id)
    matching = _matching(filters - searches, with_labels, without_labels)
    searched = matching.with_only_columns(*columns, issues.c.title_key, issues.c.description_key)
    window = scanned_rows(searched, *_sorted(columns, sort))
    conditions = [text_scan("needle", *(window.c[name] for name in SEARCHES[search])) for search in sorted(searches)]
    order = _sorted([window.c[column.name] for column in columns], sort)
    return scan_query(window, and_(*conditions), *order).with_only_columns(window.c.id)


def _sorted(columns: Sequence[ColumnElement[Any]], sort: str) -> list[ColumnElement[Any]]:
    return [column.asc() if sort == "asc" else column.desc() for column in columns]


@lru_cache(maxsize=MAX_SHAPES)
def counts_of(filters: frozenset[str], with_labels: int, without_labels: int) -> Select[Any]:
    """Return the statement that counts the issues of a list by state."""
    matching = _matching(filters, with_labels, without_labels, looked_up=bool(with_labels or filters & FEW))
    return matching.with_only_columns(issues.c.state, func.count()).group_by(issues.c.state)


def _matching(
    filters: frozenset[str], with_labels: int, without_labels: int, *, looked_up: bool = False, dated: bool = False
) -> Select[Any]:
    by_label = looked_up and with_labels > 0 and not filters & SELECTIVE
    available = CONDITIONS if looked_up else _ALONG_THE_ORDER
    # A search that is looked up is joined below.
    joined = filters & SEARCHES.keys() if looked_up and len(filters & SEARCHES.keys()) == 1 else frozenset()
    conditions = [available[name] for name in sorted(filters - joined)]
    if "in_project" in filters and looked_up and (by_label or filters & SELECTIVE):
        # With an index on the project the database would read all its issues, and apply the selective filter last.
        conditions = [available[name] for name in sorted(filters - joined - {"in_project"})]
        conditions.append(IN_THIS_PROJECT)
    conditions += [_LISTED.is_labelled(0)] if by_label else []
    conditions += [_LISTED.has_label(index) for index in range(1 if by_label else 0, with_labels)]
    conditions += [not_(_LISTED.has_label(index, "not_label")) for index in range(without_labels)]
    source: FromClause = issues
    for search in joined:
        columns = [issues.c[column] for column in SEARCHES[search]]
        hits = text_hits("needle", *columns).table_valued("id").alias("hits")
        source = hits.join(issues, is_hit(issues.c.id, hits.c.id, "needle", *columns))
    if dated:
        source = source.join(milestones, without_index(milestones.c.id) == issues.c.milestone_id)
        conditions.append(_DATED)
    if filters & ACROSS_PROJECTS:
        # The issues are found first and their projects joined, unless only the projects restrict the list.
        issues_first = not looked_up or by_label or filters & FEW
        by_issue = projects.c.id == without_index(issues.c.project_id)
        source = source.join(
            projects, by_issue if issues_first else without_index(projects.c.id) == issues.c.project_id
        )
    return select(*ISSUE_COLUMNS).select_from(source).where(issues.c.deleted_at.is_(None), and_(*conditions))


@lru_cache(maxsize=64)
def dated_lists_of(
    filters: frozenset[str], by_label: bool, sort: str, with_labels: int, without_labels: int
) -> tuple[Select[Any], Select[Any]]:
    """Return statements for a page of ids of a project's issues whose milestone has a due date, and for their number.

    The database reads the milestones by due date, and sorts only the issues of milestones that are due on one day.
    """
    filters = (filters - {"in_project"}) | {"in_this_project"}
    matching = _matching(filters, with_labels, without_labels, dated=True)
    columns = (milestones.c.due_date, *((_LISTED.label_priority(),) if by_label else ()), issues.c.id)
    query = list_query(matching.with_only_columns(issues.c.id), issues.c.id, *_sorted(columns, sort))
    return query.by_number, query.total


class IssueListQuery(NamedTuple):
    """The filters and the order of one list, and the values that are bound to its statements."""

    filters: frozenset[str]
    values: dict[str, Any]
    labels: int
    excluded_labels: int
    order_by: str
    sort: str

    @property
    def lists(self) -> IssueListStatements:
        """The statements of the list."""
        return lists_of(self.filters, self.order_by, self.sort, self.labels, self.excluded_labels)
