"""Pages of a project's issues by priority, put together from parts that are each in order.

To sort them all takes as long as there are issues. But those whose milestone ends come first, as it ends; then those
whose best label has the first priority, the second, and so on; then all others. Only the parts that a page shows are
looked at, and those before it are counted.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Select, bindparam, func, select

from ingot.collaboration.issues.filters import (
    HAS_DATED_MILESTONE,
    KIND,
    MAX_LOOKED_UP,
    IssueListStatements,
    dated_list_statements,
    list_statements,
)
from ingot.collaboration.issues.tables import issues
from ingot.collaboration.labels.tables import label_links, label_priorities
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, without_index

PRIORITY_ORDERS = frozenset({"priority", "label_priority", "milestone_due"})
_MAX_PRIORITIES = 50
_PRIORITIES = (
    select(label_priorities.c.priority, label_priorities.c.label_id)
    .where(label_priorities.c.project_id == bindparam("project"))
    .order_by(label_priorities.c.priority, label_priorities.c.label_id)
)
_LABELLED_COUNT = select(func.count()).where(
    label_links.c.subject_kind == KIND,
    without_index(label_links.c.project_id) == bindparam("project"),
    in_list(label_links.c.label_id, "label_0"),
)


class IssueSelection(NamedTuple):
    """What is asked of a list, and what that is bound to."""

    filters: frozenset[str]
    values: dict[str, Any]
    labels: int
    excluded_labels: int
    order_by: str
    sort: str

    @property
    def lists(self) -> IssueListStatements:
        """Its statements."""
        return list_statements(self.filters, self.order_by, self.sort, self.labels, self.excluded_labels)


class _Part(Protocol):
    def ids(self, db: Connection, offset: int, size: int) -> list[int]:
        """Some of them."""

    def count(self, db: Connection) -> int:
        """How many there are."""


class _ScannedPart(NamedTuple):
    """Those that an engine finds along their order."""

    page: Select[Any]
    total: Select[Any]
    values: dict[str, Any]

    def ids(self, db: Connection, offset: int, size: int) -> list[int]:
        rows = db.rows(self.page, **self.values, page_size=size, page_offset=offset)
        return [row[0] for row in rows]

    def count(self, db: Connection) -> int:
        total: int = db.value(self.total, **self.values)
        return total


class _ListedPart(NamedTuple):
    """Few, which are at hand."""

    found: list[int]

    def ids(self, db: Connection, offset: int, size: int) -> list[int]:  # noqa: ARG002 - All parts are asked alike.
        return self.found[offset : offset + size]

    def count(self, db: Connection) -> int:  # noqa: ARG002 - All parts are asked alike.
        return len(self.found)


def priority_ordered_ids(db: Connection, selection: IssueSelection, offset: int, size: int) -> list[int] | None:
    """The ids of a page, in order; nothing where a project has more priorities than anybody tells apart."""
    priorities = _priorities(db, selection) if selection.order_by != "milestone_due" else []
    if len(priorities) > _MAX_PRIORITIES:
        return None
    found: list[int] = []
    for part in _parts(db, selection, priorities):
        here = part.ids(db, offset, size - len(found))
        found += here
        if len(found) == size:
            break
        offset = 0 if here or not offset else max(0, offset - part.count(db))
    return found


def _priorities(db: Connection, selection: IssueSelection) -> list[list[int]]:
    """The labels of each priority, the first one first."""
    ranked: dict[int, list[int]] = {}
    for priority, label_id in db.rows(_PRIORITIES, project=selection.values["project"]):
        ranked.setdefault(priority, []).append(label_id)
    return list(ranked.values())


def _parts(db: Connection, selection: IssueSelection, priorities: list[list[int]]) -> Iterator[_Part]:
    """The parts in the order of the list; each is only looked for when it is its turn."""
    project = selection.values["project"]
    dated = selection.order_by != "label_priority" and db.value(HAS_DATED_MILESTONE, project=project) is not None
    rest = selection._replace(filters=selection.filters | ({"undated"} if dated else set()), order_by="id")
    places = range(len(priorities) + 1)
    if selection.sort == "asc":
        if dated:
            yield _dated_part(selection)
        yield from (_of_priority(db, rest, priorities, place) for place in places)
    else:
        yield from (_of_priority(db, rest, priorities, place) for place in reversed(places))
        if dated:
            yield _dated_part(selection)


def _dated_part(selection: IssueSelection) -> _Part:
    by_label = selection.order_by == "priority"
    page, total = dated_list_statements(
        selection.filters, by_label, selection.sort, selection.labels, selection.excluded_labels
    )
    return _ScannedPart(page, total, selection.values)


def _of_priority(db: Connection, rest: IssueSelection, priorities: list[list[int]], place: int) -> _Part:
    """Those that carry a label of this priority and of no better one; at the last place, of none at all."""
    better = [label_id for labels in priorities[:place] for label_id in labels]
    if better:
        name = f"not_label_{rest.excluded_labels}"
        rest = rest._replace(excluded_labels=rest.excluded_labels + 1, values={**rest.values, name: better})
    if place == len(priorities):
        return _scanned_part(rest)
    carried = {f"label_{number + 1}": rest.values[f"label_{number}"] for number in range(rest.labels)}
    values = {**rest.values, **carried, "label_0": priorities[place]}
    rest = rest._replace(labels=rest.labels + 1, values=values)
    if db.value(_LABELLED_COUNT, project=values["project"], label_0=priorities[place]) > MAX_LOOKED_UP:
        return _scanned_part(rest)
    return _ListedPart([row[0] for row in db.rows(rest.lists.by_lookup, **values)])


def _scanned_part(rest: IssueSelection) -> _Part:
    query = rest.lists.by_scan
    return _ScannedPart(query.by_number.with_only_columns(issues.c.id), query.total, rest.values)
