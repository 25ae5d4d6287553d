"""Pages of a project's issues by priority, composed of parts that are each in order.

Sorting all issues would take time in proportion to their number. Instead, the first part are the issues whose milestone
has a due date, by this date; then those whose best label has the first priority, the second, and so on; then the rest.
Only the parts of the page are read, and the parts before it are counted.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Select, bindparam, func, select

from ingot.collaboration.issues.lists.statements import HAS_DATED, KIND, MAX_LOOKED_UP, IssueListQuery, dated_lists_of
from ingot.collaboration.issues.tables import issues
from ingot.collaboration.labels.tables import label_links, label_priorities
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, without_index

RANKED = frozenset({"priority", "label_priority", "milestone_due"})
_MAX_PRIORITIES = 50
_PRIORITIES = (
    select(label_priorities.c.priority, label_priorities.c.label_id)
    .where(label_priorities.c.project_id == bindparam("project"))
    .order_by(label_priorities.c.priority, label_priorities.c.label_id)
)
_LABEL_LINK_COUNT = select(func.count()).where(
    label_links.c.subject_kind == KIND,
    without_index(label_links.c.project_id) == bindparam("project"),
    in_list(label_links.c.label_id, "label_0"),
)


class _Part(Protocol):
    def ids(self, db: Connection, offset: int, size: int) -> list[int]:
        """Return the ids of a page of the part."""

    def count(self, db: Connection) -> int:
        """Return the number of issues in the part."""


class _Walked(NamedTuple):
    """A part that the database reads along its order."""

    page: Select[Any]
    total: Select[Any]
    values: dict[str, Any]

    def ids(self, db: Connection, offset: int, size: int) -> list[int]:
        rows = db.rows(self.page, **self.values, page_size=size, page_offset=offset)
        return [row[0] for row in rows]

    def count(self, db: Connection) -> int:
        total: int = db.value(self.total, **self.values)
        return total


class _Loaded(NamedTuple):
    """A short part whose ids have been read already."""

    issue_ids: list[int]

    def ids(self, db: Connection, offset: int, size: int) -> list[int]:  # noqa: ARG002 - All parts have the same methods.
        return self.issue_ids[offset : offset + size]

    def count(self, db: Connection) -> int:  # noqa: ARG002 - All parts have the same methods.
        return len(self.issue_ids)


def ranked_ids(db: Connection, query: IssueListQuery, offset: int, size: int) -> list[int] | None:
    """Return the ids of a page, in order, or None if the project has too many priorities for this to be faster."""
    priorities = _priorities(db, query) if query.order_by != "milestone_due" else []
    if len(priorities) > _MAX_PRIORITIES:
        return None
    ids: list[int] = []
    for part in _parts(db, query, priorities):
        part_ids = part.ids(db, offset, size - len(ids))
        ids += part_ids
        if len(ids) == size:
            break
        offset = 0 if part_ids or not offset else max(0, offset - part.count(db))
    return ids


def _priorities(db: Connection, query: IssueListQuery) -> list[list[int]]:
    """Return the labels of each priority, the highest first."""
    ranked: dict[int, list[int]] = {}
    for priority, label_id in db.rows(_PRIORITIES, project=query.values["project"]):
        ranked.setdefault(priority, []).append(label_id)
    return list(ranked.values())


def _parts(db: Connection, query: IssueListQuery, priorities: list[list[int]]) -> Iterator[_Part]:
    """Yield the parts in the order of the list; each is prepared only when it is reached."""
    project = query.values["project"]
    dated = query.order_by != "label_priority" and db.value(HAS_DATED, project=project) is not None
    rest = query._replace(filters=query.filters | ({"undated"} if dated else set()), order_by="id")
    ranks = range(len(priorities) + 1)
    if query.sort == "asc":
        if dated:
            yield _dated(query)
        yield from (_of_priority(db, rest, priorities, rank) for rank in ranks)
    else:
        yield from (_of_priority(db, rest, priorities, rank) for rank in reversed(ranks))
        if dated:
            yield _dated(query)


def _dated(query: IssueListQuery) -> _Part:
    by_label = query.order_by == "priority"
    page, total = dated_lists_of(query.filters, by_label, query.sort, query.labels, query.excluded_labels)
    return _Walked(page, total, query.values)


def _of_priority(db: Connection, rest: IssueListQuery, priorities: list[list[int]], rank: int) -> _Part:
    """Return the part of issues whose best label has this priority; at the last place, those without any priority."""
    better = [label_id for labels in priorities[:rank] for label_id in labels]
    if better:
        name = f"not_label_{rest.excluded_labels}"
        rest = rest._replace(excluded_labels=rest.excluded_labels + 1, values={**rest.values, name: better})
    if rank == len(priorities):
        return _walked(rest)
    shifted = {f"label_{number + 1}": rest.values[f"label_{number}"] for number in range(rest.labels)}
    values = {**rest.values, **shifted, "label_0": priorities[rank]}
    rest = rest._replace(labels=rest.labels + 1, values=values)
    if db.value(_LABEL_LINK_COUNT, project=values["project"], label_0=priorities[rank]) > MAX_LOOKED_UP:
        return _walked(rest)
    return _Loaded([row[0] for row in db.rows(rest.lists.looked_up, **values)])


def _walked(rest: IssueListQuery) -> _Part:
    walking = rest.lists.walking
    return _Walked(walking.by_number.with_only_columns(issues.c.id), walking.total, rest.values)
