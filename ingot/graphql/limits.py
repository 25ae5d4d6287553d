"""Limits that a query must meet before it is executed: depth, complexity and the number of calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLObjectType,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    get_named_type,
    is_abstract_type,
    is_composite_type,
)

from ingot.core.access.actor import Actor
from ingot.graphql.connections import MAX_PAGE_SIZE
from ingot.graphql.documents import Document, introspection_fields
from ingot.graphql.plan import FieldPlan, PlanBuilder
from ingot.graphql.resolvers import Resolvers

MAX_DEPTH, MAX_ANONYMOUS_DEPTH = 20, 15
MAX_COMPLEXITY, MAX_ANONYMOUS_COMPLEXITY, MAX_ADMIN_COMPLEXITY = 250, 200, 300
MAX_CALLS = 500
"""Calls of endpoints; a field that calls one for each of its parents counts as often as it may have parents."""
MAX_INTROSPECTION_VALUES = 100_000
"""Estimated values of all introspections of a request; a tool that reads the whole schema requests 61,000."""
_PAGE_WEIGHT = 0.01
_LIST_LENGTHS = {"__type": 20, "types": 500, "fields": 4, "directives": 5, "ofType": 0.4}
"""Average lengths of lists; ``__type`` has more, because callers choose a large type, and many types wrap no other."""


class LimitExceeded(Exception):
    """The query exceeds a limit; the message says which one."""


def max_complexity(actor: Actor) -> int:
    """Return the complexity that a caller may use."""
    if not actor.known:
        return MAX_ANONYMOUS_COMPLEXITY
    return MAX_ADMIN_COMPLEXITY if actor.admin else MAX_COMPLEXITY


class QueryCost:
    """Cost of the operations of one request."""

    def __init__(self, actor: Actor, resolvers: Resolvers) -> None:
        self.limit = max_complexity(actor)
        self._max_depth = MAX_DEPTH if actor.known else MAX_ANONYMOUS_DEPTH
        self._calling = resolvers.calling
        self.complexity = 0.0
        self._calls = 0
        self._introspection = 0.0
        self._visited = 0

    def add(self, plans: PlanBuilder, fields: Sequence[FieldPlan]) -> float:
        """Add an operation and return its complexity; raise ``LimitExceeded`` beyond a limit."""
        complexity = self._cost(plans, fields, 1, 1)
        self.complexity += complexity
        if self.complexity > self.limit:
            raise LimitExceeded(
                f"Query has complexity of {int(self.complexity)}, which exceeds max complexity of {self.limit}"
            )
        return complexity

    def add_introspection(self, document: Document, operation: OperationDefinitionNode) -> None:
        """Add the introspection of an operation, whose aliases and fragments each repeat a part of the schema."""
        sizes: dict[str, float] = {}
        for field in introspection_fields(operation):
            self._introspection += _introspected_values(field, document.fragments, sizes)
        if self._introspection > MAX_INTROSPECTION_VALUES:
            raise LimitExceeded("The introspection requests too many values")

    def _cost(self, plans: PlanBuilder, fields: Sequence[FieldPlan], depth: int, parents: int) -> float:
        if depth > self._max_depth:
            raise LimitExceeded(f"Query has depth of {depth}, which exceeds max depth of {self._max_depth}")
        self._calls += parents * len({self._calling[field.name] for field in fields if field.name in self._calling})
        if self._calls > MAX_CALLS:
            raise LimitExceeded("Query requests lists within lists that are too long; give `first` to the inner ones")
        return sum(self._field_cost(plans, field, depth, parents) for field in fields)

    def _field_cost(self, plans: PlanBuilder, field: FieldPlan, depth: int, parents: int) -> float:
        self._visited += 1
        if self._visited > 4 * self.limit:
            raise LimitExceeded(f"Query has a complexity that exceeds max complexity of {self.limit}")
        kind = get_named_type(field.type)
        if not is_composite_type(kind) or field.name.startswith("__"):
            return 1
        if kind.name.endswith("Connection"):
            size = _page_size(field.arguments)
            below = self._below(plans, kind, field.nodes, depth, parents * size)
            return 1 + below * (1 + size * _PAGE_WEIGHT)
        return 1 + self._below(plans, kind, field.nodes, depth, parents)

    def _below(self, plans: PlanBuilder, kind: Any, nodes: Sequence[FieldNode], depth: int, parents: int) -> float:
        types: Sequence[GraphQLObjectType] = plans.possible_types(kind) if is_abstract_type(kind) else [kind]
        return max((self._cost(plans, plans.fields(each, nodes), depth + 1, parents) for each in types), default=0)


def _introspected_values(
    node: SelectionNode, fragments: Mapping[str, FragmentDefinitionNode], sizes: dict[str, float]
) -> float:
    """Estimate the values below a selection; ``sizes`` are those of fragments, which a query may use many times."""
    if isinstance(node, FragmentSpreadNode):
        name = node.name.value
        if name not in sizes:
            sizes[name] = _values_below(fragments[name].selection_set, fragments, sizes)
        return sizes[name]
    if not isinstance(node, FieldNode | InlineFragmentNode):
        raise TypeError(node)
    below = _values_below(node.selection_set, fragments, sizes)
    return 1 + below * _LIST_LENGTHS.get(node.name.value, 1) if isinstance(node, FieldNode) else below


def _values_below(
    selected: SelectionSetNode | None, fragments: Mapping[str, FragmentDefinitionNode], sizes: dict[str, float]
) -> float:
    return sum(_introspected_values(each, fragments, sizes) for each in selected.selections) if selected else 0


def _page_size(arguments: Any) -> int:
    sizes = [value for name in ("first", "last") if (value := arguments.get(name)) is not None]
    return max(0, min(*sizes, MAX_PAGE_SIZE)) if sizes else MAX_PAGE_SIZE
