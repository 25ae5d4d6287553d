"""SQL statements of lists of merge requests, built once for each combination of filters, order and number of labels."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, not_, select

from ingot.collaboration.labels.tables import label_links
from ingot.collaboration.merge_requests.tables import MERGE_REQUEST_COLUMNS
from ingot.collaboration.planning.conditions import MAX_SHAPES, IssuableTable
from ingot.core.db.expressions import in_list, packed_columns, without_index
from ingot.core.db.paging import ListQuery, list_query
from ingot.projects.projects.tables import projects

# Filters whose condition needs the project of a merge request.
_NEEDS_PROJECT = frozenset({"in_group", "visible", "visible_to_external", "with_feature", "not_archived"})


class MergeRequestListStatements(NamedTuple):
    """The statements of one list: one reads along its order, the other looks up all ids."""

    walking: ListQuery
    looked_up: Select[Any]


class ListStatementFactory:
    """Factory of the statements of all lists; each is built when it is first needed."""

    def __init__(
        self,
        table: IssuableTable,
        conditions: Mapping[str, ColumnElement[bool]],
        orders: Mapping[str, tuple[ColumnElement[Any], ...]],
        selective: frozenset[str],
    ) -> None:
        self.listed = table
        self.by_ids = (
            select(packed_columns(MERGE_REQUEST_COLUMNS))
            .select_from(table.rows)
            .where(in_list(table.rows.c.id, "page_ids"))
        )
        self.few = selective | {"iids"}
        self._conditions = conditions
        self._orders = orders
        self._leads = selective
        self.lists_of = lru_cache(MAX_SHAPES)(self._lists_of)
        self.counts_of = lru_cache(MAX_SHAPES)(self._counts_of)
        of_label = select(func.count(label_links.c.subject_id.distinct())).where(
            label_links.c.subject_kind == table.kind,
            without_index(label_links.c.project_id) == bindparam("project"),
            in_list(label_links.c.label_id, "label_0"),
        )
        in_state = of_label.where(label_links.c.state == bindparam("state"))
        # Number of merge requests with one label, by the other filters of the list.
        self.label_count: dict[frozenset[str], Select[Any]] = {
            frozenset({"in_project"}): of_label,
            frozenset({"in_project", "state"}): in_state,
            frozenset({"in_project", "opened"}): in_state,
        }

    def _lists_of(
        self, filters: frozenset[str], order_by: str, sort: str, with_labels: int, without_labels: int
    ) -> MergeRequestListStatements:
        """Return the statements of a list; they depend only on the number of labels."""
        ascending, key = sort == "asc", self.listed.rows.c.id
        order = [column.asc() if ascending else column.desc() for column in (*self._orders[order_by], key)]
        looked_up = self._matching(filters, with_labels, without_labels, looked_up=True)
        return MergeRequestListStatements(
            list_query(self._matching(filters, with_labels, without_labels), key, *order),
            looked_up.with_only_columns(key).order_by(*order),
        )

    def _counts_of(self, filters: frozenset[str], with_labels: int, without_labels: int) -> Select[Any]:
        """Return the statement that counts the merge requests of a list by state."""
        state = self.listed.rows.c.state
        by_few = bool(with_labels or filters & self.few)
        matching = self._matching(filters, with_labels, without_labels, looked_up=by_few)
        return matching.with_only_columns(state, func.count()).group_by(state)

    def _matching(
        self, filters: frozenset[str], with_labels: int, without_labels: int, *, looked_up: bool = False
    ) -> Select[Any]:
        listed = self.listed
        by_label = looked_up and with_labels > 0 and not filters & self._leads
        conditions = [self._conditions[name] for name in sorted(filters)]
        if "in_project" in filters and looked_up and (by_label or filters & self._leads):
            # With an index on the project the database would read all its rows, and apply the selective filter last.
            conditions = [self._conditions[name] for name in sorted(filters - {"in_project"})]
            conditions.append(without_index(listed.project_id) == bindparam("project"))
        conditions += [listed.is_labelled(0)] if by_label else []
        conditions += [listed.has_label(index) for index in range(1 if by_label else 0, with_labels)]
        conditions += [not_(listed.has_label(index, "not_label")) for index in range(without_labels)]
        matching = select(packed_columns(MERGE_REQUEST_COLUMNS)).select_from(listed.rows)
        if filters & _NEEDS_PROJECT:
            matching = matching.join(projects, projects.c.id == listed.project_id)
        return matching.where(listed.rows.c.deleted_at.is_(None), and_(*conditions))
