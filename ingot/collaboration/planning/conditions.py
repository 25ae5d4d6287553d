"""SQL conditions and orders of lists of issuables, by the name of the filter."""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Table, and_, bindparam, exists, func, not_, or_, select

from ingot.collaboration.emoji.queries import has_award_from
from ingot.collaboration.labels.tables import label_links, label_priorities
from ingot.collaboration.milestones.tables import milestones
from ingot.core.db.expressions import contains, in_list
from ingot.core.db.search import text_search
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.tables import projects

NEVER = "9999-99-99"
MAX_SHAPES = 64
"""Most combinations of filters and order whose statements are kept: those of one take 130 KB, and 5 ms to build."""
_LAST = 2**62
SUBGROUP_IDS = select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("group"))
SEARCHES = {
    "search": ("title_key", "description_key"),
    "title_search": ("title_key",),
    "description_search": ("description_key",),
}
"""The columns to search, by the name of the filter."""
# Filters that match few rows. The rows are looked up by these filters instead of read in the order of the list.
SELECTIVE = frozenset(
    {
        "milestone",
        "started_milestone",
        "upcoming_milestone",
        "author",
        "written_by_me",
        "assigned_to_me",
        "assignees",
        *SEARCHES,
        "reaction",
    }
)


class IssuableTable(NamedTuple):
    """A table of issuables and the tables that belong to it."""

    kind: str
    rows: Table
    project_id: ColumnElement[int]
    assignees: Table
    """Table of assignees, with one row for each."""
    assigned_id: ColumnElement[int]
    """The column of ``assignees`` that refers to ``rows``."""

    def holding(self, row: ColumnElement[int]) -> dict[str, ColumnElement[bool]]:
        """Return the conditions for a full-text search by index, by the name of the filter."""
        return {
            name: text_search(row, "needle", *(self.rows.c[column] for column in columns))
            for name, columns in SEARCHES.items()
        }

    def labelled_ids(self) -> Select[Any]:
        """Select the ids of rows that have a label."""
        return select(label_links.c.subject_id).where(label_links.c.subject_kind == self.kind)

    def has_label(self, index: int, prefix: str = "label") -> ColumnElement[bool]:
        """Return the condition that a row has one of the labels bound to a parameter."""
        link = label_links.alias()
        of_row = and_(link.c.subject_kind == self.kind, link.c.subject_id == self.rows.c.id)
        return exists().where(of_row, in_list(link.c.label_id, f"{prefix}_{index}"))

    def is_labelled(self, index: int) -> ColumnElement[bool]:
        """Return the condition that a row has one of the labels, for a lookup that starts from the labels."""
        labelled = self.labelled_ids().where(in_list(label_links.c.label_id, f"label_{index}"))
        return self.rows.c.id.in_(labelled.scalar_subquery())

    def assigned(
        self, condition: ColumnElement[bool] | None = None, of: ColumnElement[int] | None = None
    ) -> ColumnElement[bool]:
        """Return the condition that a row has an assignee.

        ``of`` is the id of the row as an expression without index, or None for the column itself.
        """
        return self.named_in(self.assigned_id, condition, of)

    def is_assigned(self, condition: ColumnElement[bool]) -> ColumnElement[bool]:
        """Return the condition that a row has an assignee that matches, for rows that are read one after the other."""
        return exists().where(self.assigned_id == self.rows.c.id, condition)

    def named_in(
        self,
        column: ColumnElement[int],
        condition: ColumnElement[bool] | None = None,
        of: ColumnElement[int] | None = None,
    ) -> ColumnElement[bool]:
        """Return the condition that a column of another table refers to a row, in rows that match ``condition``."""
        references = select(column)
        row_ids = (references if condition is None else references.where(condition)).scalar_subquery()
        return (self.rows.c.id if of is None else of).in_(row_ids)

    def with_milestone(self, name: str, of: ColumnElement[int] | None = None) -> ColumnElement[bool]:
        """Return the condition that a row has a milestone with the title bound to a parameter."""
        titled = select(milestones.c.id).where(milestones.c.title == bindparam(name))
        return (self.rows.c.milestone_id if of is None else of).in_(titled.scalar_subquery())

    def in_milestone(
        self, *conditions: ColumnElement[bool], of: ColumnElement[int] | None = None
    ) -> ColumnElement[bool]:
        """Return the condition that a row has an active milestone that matches the conditions."""
        running = select(milestones.c.id).where(milestones.c.state == "active", *conditions)
        return (self.rows.c.milestone_id if of is None else of).in_(running.scalar_subquery())

    def label_priority(self) -> ColumnElement[int]:
        """Return the highest priority of the labels of a row in its project; rows without any are last."""
        highest = (
            select(func.min(label_priorities.c.priority))
            .join(label_links, label_links.c.label_id == label_priorities.c.label_id)
            .where(
                label_links.c.subject_kind == self.kind,
                label_links.c.subject_id == self.rows.c.id,
                label_priorities.c.project_id == self.project_id,
            )
            .scalar_subquery()
        )
        return func.coalesce(highest, _LAST)

    def milestone_due(self) -> ColumnElement[str]:
        """Return the due date of the milestone of a row; rows without any are last."""
        due = select(milestones.c.due_date).where(milestones.c.id == self.rows.c.milestone_id).scalar_subquery()
        return func.coalesce(due, NEVER)


def is_next_due() -> ColumnElement[bool]:
    """Return the condition that a milestone is the next one of its project or group that is due after ``today``."""
    sooner = milestones.alias()
    same_parent = or_(sooner.c.project_id == milestones.c.project_id, sooner.c.group_id == milestones.c.group_id)
    running = and_(sooner.c.state == "active", sooner.c.due_date > bindparam("today"))
    return and_(
        milestones.c.due_date > bindparam("today"),
        not_(exists().where(same_parent, running, sooner.c.due_date < milestones.c.due_date)),
    )


def list_conditions(table: IssuableTable) -> dict[str, ColumnElement[bool]]:
    """Return the conditions of every list of issuables, by the name of the filter."""
    rows, assignee = table.rows.c, table.assignees.c.user_id
    awards = (
        has_award_from(table.kind, "reaction"),
        has_award_from(table.kind),
        has_award_from(table.kind, "not_reaction"),
    )
    has_reaction, has_any_reaction, has_excluded_reaction = (
        rows.id.in_(row_ids.scalar_subquery()) for row_ids in awards
    )
    return {
        "in_project": table.project_id == bindparam("project"),
        "in_group": projects.c.namespace_id.in_(SUBGROUP_IDS.scalar_subquery()),
        "not_archived": projects.c.archived.is_(False),
        "state": rows.state == bindparam("state"),
        "iids": in_list(rows.iid, "iids"),
        "without_labels": not_(rows.id.in_(table.labelled_ids().scalar_subquery())),
        "any_label": rows.id.in_(table.labelled_ids().scalar_subquery()),
        "milestone": table.with_milestone("milestone"),
        "without_milestone": rows.milestone_id.is_(None),
        "any_milestone": rows.milestone_id.is_not(None),
        "started_milestone": table.in_milestone(milestones.c.start_date <= bindparam("today")),
        "upcoming_milestone": table.in_milestone(is_next_due()),
        "author": rows.author_id == bindparam("author"),
        "written_by_me": rows.author_id == bindparam("me"),
        "assigned_to_me": table.assigned(assignee == bindparam("me")),
        "assignees": table.assigned(in_list(assignee, "assignees")),
        "any_assignee": table.assigned(),
        "no_assignee": not_(table.assigned()),
        **table.holding(rows.id),
        **{
            f"short_{name}": or_(*(contains(rows[column], "pattern") for column in columns))
            for name, columns in SEARCHES.items()
        },
        "created_after": rows.created_at >= bindparam("created_after"),
        "created_before": rows.created_at <= bindparam("created_before"),
        "updated_after": rows.updated_at >= bindparam("updated_after"),
        "updated_before": rows.updated_at <= bindparam("updated_before"),
        "not_milestone": or_(rows.milestone_id.is_(None), not_(table.with_milestone("not_milestone"))),
        "not_milestones": or_(rows.milestone_id.is_(None), not_(in_list(rows.milestone_id, "not_milestones"))),
        "not_author": rows.author_id != bindparam("not_author"),
        "not_assignees": not_(table.assigned(in_list(assignee, "not_assignees"))),
        "not_iids": not_(in_list(rows.iid, "not_iids")),
        "reaction": has_reaction,
        "any_reaction": has_any_reaction,
        "no_reaction": not_(has_any_reaction),
        "not_reaction": not_(has_excluded_reaction),
        "not_search": not_(or_(*(contains(rows[column], "not_pattern") for column in SEARCHES["search"]))),
    }


def list_orders(table: IssuableTable) -> dict[str, tuple[ColumnElement[Any], ...]]:
    """Return the columns of every order of a list of issuables; rows that are equal are ordered by id."""
    rows = table.rows.c
    return {
        "id": (),
        "created_at": (rows.created_at,),
        "updated_at": (rows.updated_at,),
        "title": (rows.title_key,),
        "priority": (table.milestone_due(), table.label_priority()),
        "label_priority": (table.label_priority(),),
        "milestone_due": (table.milestone_due(),),
        "popularity": (rows.upvotes,),
    }
