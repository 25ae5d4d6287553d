"""Detection of stacks from the branches of open merge requests, in one statement for a whole page."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, CompoundSelect, Select, and_, exists, func, literal_column, select, union

from ingot.collaboration.merge_requests.tables import MergeRequest, merge_request_restacks, merge_requests
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.projects.projects.tables import projects

MAX_LAYERS = 50
"""Number of merge requests in a row that form a stack; those above it belong to none."""
_TRAIN = "train"
_MAX_ROWS = 5_000
"""Bounds the work for a page if someone has built thousands of layers."""


class Layer(NamedTuple):
    """The branches of an open merge request."""

    id: int
    project_id: int
    source_branch: str
    target_branch: str
    carries: int
    """Whether others are stacked on it; a merge request from a fork or from the default branch is always at the top."""


class StackPosition(NamedTuple):
    """The place of a merge request in its stack."""

    bottom_id: int
    """Id of the merge request at the bottom."""
    position: int
    """Number of merge requests from the bottom up to this one; those beside each other in a tree have the same."""
    size: int
    base: str
    """The target branch of the merge request at the bottom."""
    layers: tuple[int, ...]
    """Ids of all merge requests of the stack: each before those above it."""
    below: tuple[int, ...]
    """Ids of the merge requests from the bottom up to this one."""


def _is_open(table: Any) -> ColumnElement[bool]:
    # Literals, so that the partial indexes of open merge requests apply.
    opened: ColumnElement[bool] = (table.c.state == literal_column("'opened'")) & table.c.deleted_at.is_(None)
    return opened


def _has_branch_of_layer(table: Any) -> ColumnElement[bool]:
    """Return the condition that others may be stacked on a merge request: it is not from a fork or the default branch.

    Everything targets the default branch, and a release of it is not the bottom of a stack of all merge requests.
    """
    default = select(projects.c.default_branch).where(projects.c.id == table.c.target_project_id).scalar_subquery()
    own_branch: ColumnElement[bool] = table.c.source_project_id == table.c.target_project_id
    return and_(own_branch, table.c.source_branch != default)


def _layers_statement() -> CompoundSelect[Any]:
    """Build the statement: the branches below the page, then those above them, then their merge requests."""
    own, lower, upper = (merge_requests.alias(name) for name in ("own", "lower", "upper"))
    start = select(
        own.c.target_project_id.label("project_id"), own.c.target_branch.label("branch"), literal_column("1").label("n")
    ).where(in_list(own.c.id, "ids"), _is_open(own))
    below = start.cte("below", recursive=True)
    below = below.union(
        select(lower.c.target_project_id, lower.c.target_branch, below.c.n + 1).where(
            lower.c.source_project_id == below.c.project_id,
            lower.c.source_branch == below.c.branch,
            below.c.n < MAX_LAYERS + 1,
            _is_open(lower),
            _has_branch_of_layer(lower),
        )
    )
    page, found = merge_requests.alias("page"), merge_requests.alias("found")
    seeds = union(
        select(page.c.target_project_id.label("project_id"), page.c.source_branch.label("branch")).where(
            in_list(page.c.id, "ids"), _is_open(page), _has_branch_of_layer(page)
        ),
        select(found.c.target_project_id, found.c.source_branch)
        .select_from(below)
        .join(found, (found.c.source_project_id == below.c.project_id) & (found.c.source_branch == below.c.branch))
        .where(_is_open(found), _has_branch_of_layer(found)),
    ).cte("seeds")
    above = select(seeds.c.project_id, seeds.c.branch, literal_column("1").label("n")).cte("above", recursive=True)
    above = above.union(
        select(upper.c.target_project_id, upper.c.source_branch, above.c.n + 1).where(
            upper.c.target_project_id == above.c.project_id,
            upper.c.target_branch == above.c.branch,
            above.c.n < MAX_LAYERS + 1,
            _is_open(upper),
            _has_branch_of_layer(upper),
        )
    )
    branches = select(above.c.project_id, above.c.branch).distinct().cte("branches")
    inner, outer, next_layer = (merge_requests.alias(name) for name in ("inner_layer", "outer_layer", "next_layer"))
    names = ("id", "target_project_id", "source_branch", "target_branch")
    # Only those on which others are stacked, so that nothing is read for a page without stacks.
    carries = (
        exists()
        .where(
            next_layer.c.target_project_id == inner.c.target_project_id,
            next_layer.c.target_branch == inner.c.source_branch,
            next_layer.c.id != inner.c.id,
            _is_open(next_layer),
        )
        .correlate(inner)
    )
    return union(
        select(*(inner.c[name] for name in names), literal_column("1"))
        .select_from(branches)
        .join(
            inner, (inner.c.source_project_id == branches.c.project_id) & (inner.c.source_branch == branches.c.branch)
        )
        .where(_is_open(inner), _has_branch_of_layer(inner), carries),
        select(*(outer.c[name] for name in names), literal_column("0"))
        .select_from(branches)
        .join(
            outer, (outer.c.target_project_id == branches.c.project_id) & (outer.c.target_branch == branches.c.branch)
        )
        .where(_is_open(outer)),
    ).limit(_MAX_ROWS)


def _in_train_statement() -> Select[Any]:
    """Build the statement of the layers in a train that belong together, with the branch below each as its target."""
    rows, more = (merge_request_restacks.alias(name) for name in ("rows", "more"))
    start = select(rows.c.merge_request_id.label("upper_id"), rows.c.lower_id, literal_column("1").label("n"))
    links = start.where(
        rows.c.state == _TRAIN, in_list(rows.c.merge_request_id, "ids") | in_list(rows.c.lower_id, "ids")
    ).cte("links", recursive=True)
    # One recursive part in both directions: PostgreSQL allows no second one.
    links = links.union(
        select(more.c.merge_request_id, more.c.lower_id, links.c.n + 1).where(
            (more.c.merge_request_id == links.c.lower_id) | (more.c.lower_id == links.c.upper_id),
            more.c.state == _TRAIN,
            links.c.n < MAX_LAYERS + 1,
        )
    )
    ids = union(select(links.c.upper_id.label("id")), select(links.c.lower_id.label("id"))).subquery("linked")
    own, below, row = (
        merge_requests.alias("own"),
        merge_requests.alias("below_one"),
        merge_request_restacks.alias("row"),
    )
    target = func.coalesce(below.c.source_branch, own.c.target_branch)
    return (
        select(own.c.id, own.c.target_project_id, own.c.source_branch, target, literal_column("1"))
        .select_from(ids)
        .join(own, own.c.id == ids.c.id)
        .outerjoin(row, (row.c.merge_request_id == own.c.id) & (row.c.state == _TRAIN))
        .outerjoin(below, (below.c.id == row.c.lower_id) & _is_open(below))
        .where(_is_open(own))
        .limit(_MAX_ROWS)
    )


_LAYERS = _layers_statement()
_IN_TRAIN = _in_train_statement()


def stack_positions(db: Connection, page: Sequence[MergeRequest]) -> dict[int, StackPosition]:
    """Return the places of those merge requests of a page that belong to a stack.

    That is one statement, and up to two more if some of them are in a merge train or belong to a stack: the layers in a
    train all have the same target, and those below them are known from other rows.
    """
    ids = [one.id for one in page if one.state == "opened" and one.deleted_at is None]
    layers = [Layer(*row) for row in db.rows(_LAYERS, ids=ids)] if ids else []
    if layers or any(one.merge_when_pipeline_succeeds for one in page):
        linked = {row[0]: Layer(*row) for row in db.rows(_IN_TRAIN, ids=sorted({*ids, *(one.id for one in layers)}))}
        if linked:
            found = [Layer(*row) for row in db.rows(_LAYERS, ids=sorted({*ids, *linked}))]
            layers = [each for each in found if each.id not in linked] + list(linked.values())
    return positions_in(layers, ids) if layers else {}


def positions_in(layers: Iterable[Layer], wanted: Iterable[int]) -> dict[int, StackPosition]:
    """Return the places of the wanted merge requests among these layers."""
    forest = _Forest(layers)
    positions: dict[int, StackPosition] = {}
    for layer_id in wanted:
        found = forest.position(layer_id)
        if found is not None:
            positions[layer_id] = found
    return positions


class _Forest:
    """Trees of layers."""

    def __init__(self, layers: Iterable[Layer]) -> None:
        self._layers = {layer.id: layer for layer in sorted(layers, key=lambda layer: (layer.id, layer.carries))}
        self._by_branch: dict[tuple[int, str], int] = {}
        # Of several merge requests from one branch the oldest carries those above it.
        for layer in sorted(self._layers.values(), reverse=True):
            if layer.carries:
                self._by_branch[layer.project_id, layer.source_branch] = layer.id
        self._above: dict[int, list[int]] = {}
        for layer_id in sorted(self._layers):
            lower_id = self._lower(layer_id)
            if lower_id is not None:
                self._above.setdefault(lower_id, []).append(layer_id)
        self._trees: dict[int, dict[int, int]] = {}

    def _lower(self, layer_id: int) -> int | None:
        layer = self._layers[layer_id]
        lower_id = self._by_branch.get((layer.project_id, layer.target_branch))
        return None if lower_id == layer_id else lower_id

    def _bottom(self, layer_id: int) -> int | None:
        """Return the bottom of a stack, in a cycle its oldest merge request; None if it is too far below."""
        path = [layer_id]
        while (lower_id := self._lower(path[-1])) is not None:
            if lower_id in path:
                return min(path[path.index(lower_id) :])
            if len(path) == MAX_LAYERS:
                return None
            path.append(lower_id)
        return path[-1]

    def _tree(self, bottom_id: int) -> dict[int, int]:
        """Return the positions in a tree by id, depth first."""
        if bottom_id not in self._trees:
            positions: dict[int, int] = {}
            waiting = [(bottom_id, 1)]
            while waiting:
                layer_id, position = waiting.pop()
                if layer_id in positions or position > MAX_LAYERS:
                    continue
                positions[layer_id] = position
                waiting.extend((above_id, position + 1) for above_id in reversed(self._above.get(layer_id, ())))
            self._trees[bottom_id] = positions
        return self._trees[bottom_id]

    def position(self, layer_id: int) -> StackPosition | None:
        """Return the place of a merge request; None if it is alone."""
        bottom_id = self._bottom(layer_id) if layer_id in self._layers else None
        tree = self._tree(bottom_id) if bottom_id is not None else {}
        if bottom_id is None or len(tree) < 2 or layer_id not in tree:
            return None
        base = self._layers[bottom_id].target_branch
        below = [layer_id]
        while below[-1] != bottom_id and (lower_id := self._lower(below[-1])) is not None:
            below.append(lower_id)
        return StackPosition(bottom_id, tree[layer_id], len(tree), base, tuple(tree), tuple(reversed(below)))
