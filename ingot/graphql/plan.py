"""Plan of an operation: the fields to resolve for each type, with their arguments, collected from fragments."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLAbstractType,
    GraphQLEnumType,
    GraphQLField,
    GraphQLIncludeDirective,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    GraphQLSkipDirective,
    InlineFragmentNode,
    SelectionSetNode,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
)
from graphql.execution.values import VariableValues, get_argument_values, get_directive_values

from ingot.graphql.resolvers import Arguments, BatchResolver
from ingot.graphql.schema_loader import ResolvedSchema

TYPENAME = "__typename"
INTROSPECTION_FIELDS = ("__schema", "__type")


class FieldPlan(NamedTuple):
    """One field of a response object."""

    key: str
    """Name in the response: its alias or its name."""
    nodes: tuple[FieldNode, ...]
    """Occurrences in the query; their selections are merged."""
    name: str
    """Name with its type, such as ``Project.issues``."""
    type: GraphQLOutputType
    attribute: str
    """Attribute of the parent, if there is no resolver."""
    resolver: BatchResolver | None
    arguments: Arguments
    serialize: Callable[[Sequence[Any]], Sequence[Any]] | None
    """Converts the values of a scalar or enumeration; None for objects and lists."""

    @property
    def non_null(self) -> bool:
        """Whether null is not allowed."""
        return isinstance(self.type, GraphQLNonNull)


class PlanBuilder:
    """Builds the plans of one operation with its variables."""

    def __init__(
        self,
        resolved: ResolvedSchema,
        fragments: Mapping[str, FragmentDefinitionNode],
        variables: VariableValues,
    ) -> None:
        self._resolved = resolved
        self._schema: GraphQLSchema = resolved.schema
        self._fragments = fragments
        self._variables = variables
        self._plans: dict[tuple[str, tuple[int, ...]], list[FieldPlan]] = {}

    def fields(self, parent: GraphQLObjectType, nodes: Sequence[FieldNode]) -> list[FieldPlan]:
        """Return the fields that the selections of ``nodes`` request of an object type."""
        key = (parent.name, tuple(map(id, nodes)))
        plan = self._plans.get(key)
        if plan is None:
            sets = [node.selection_set for node in nodes if node.selection_set]
            plan = self._plans[key] = self.selected(parent, sets)
        return plan

    def selected(self, parent: GraphQLObjectType, sets: Sequence[SelectionSetNode]) -> list[FieldPlan]:
        """Return the fields that selection sets request of an object type."""
        grouped: dict[str, list[FieldNode]] = {}
        visited: set[str] = set()
        for selection_set in sets:
            self._collect(parent, selection_set, grouped, visited)
        return [self._plan(parent, key, nodes) for key, nodes in grouped.items()]

    def possible_types(self, abstract: GraphQLAbstractType) -> Sequence[GraphQLObjectType]:
        """Return the object types of an interface or union."""
        return self._schema.get_possible_types(abstract)

    def object_type(self, name: str) -> GraphQLObjectType:
        """Return an object type by its name."""
        found = self._schema.type_map[name]
        if not isinstance(found, GraphQLObjectType):
            raise TypeError(f"{name} is not an object type")
        return found

    def _collect(
        self,
        parent: GraphQLObjectType,
        selection_set: SelectionSetNode,
        grouped: dict[str, list[FieldNode]],
        visited: set[str],
    ) -> None:
        for selection in selection_set.selections:
            if selection.directives and not self._is_included(selection):
                continue
            if isinstance(selection, FieldNode):
                key = selection.alias.value if selection.alias else selection.name.value
                grouped.setdefault(key, []).append(selection)
                continue
            condition, nested = None, None
            if isinstance(selection, InlineFragmentNode):
                condition, nested = selection.type_condition, selection.selection_set
            elif isinstance(selection, FragmentSpreadNode) and selection.name.value not in visited:
                visited.add(selection.name.value)
                fragment = self._fragments[selection.name.value]
                condition, nested = fragment.type_condition, fragment.selection_set
            if nested is not None and (condition is None or self._applies(parent, condition.name.value)):
                self._collect(parent, nested, grouped, visited)

    def _applies(self, parent: GraphQLObjectType, condition: str) -> bool:
        if condition == parent.name:
            return True
        kind = self._schema.type_map[condition]
        return is_abstract_type(kind) and self._schema.is_sub_type(kind, parent)

    def _is_included(self, selection: Any) -> bool:
        skip = get_directive_values(GraphQLSkipDirective, selection, self._variables)
        if skip and skip["if"] is True:
            return False
        include = get_directive_values(GraphQLIncludeDirective, selection, self._variables)
        return not include or include["if"] is not False

    def _plan(self, parent: GraphQLObjectType, key: str, nodes: list[FieldNode]) -> FieldPlan:
        name = nodes[0].name.value
        if name == TYPENAME:
            return FieldPlan(key, tuple(nodes), TYPENAME, parent, parent.name, None, {}, None)
        if name in INTROSPECTION_FIELDS:
            return FieldPlan(key, tuple(nodes), name, parent, name, None, {}, None)
        definition: GraphQLField = parent.fields[name]
        full_name = f"{parent.name}.{name}"
        arguments = get_argument_values(definition, nodes[0], self._variables) if definition.args else {}
        return FieldPlan(
            key,
            tuple(nodes),
            full_name,
            definition.type,
            self._resolved.attribute(full_name),
            self._resolved.resolvers.fields.get(full_name),
            arguments,
            serializer(definition.type),
        )


def serializer(kind: GraphQLOutputType) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
    """Return the function that converts the values of a scalar or enumeration; None for other types."""
    inner = kind.of_type if isinstance(kind, GraphQLNonNull) else kind
    if not is_leaf_type(inner):
        return None
    return _leaf_serializer(get_named_type(inner))


def _leaf_serializer(kind: GraphQLNamedType) -> Callable[[Sequence[Any]], Sequence[Any]]:
    if isinstance(kind, GraphQLEnumType):
        names = kind.values

        def to_name(value: Any) -> Any:
            text = str(value)
            return text if text in names else text.upper() if text.upper() in names else None

        return lambda values: [None if value is None else to_name(value) for value in values]
    if kind.name == "String" or kind.name == "ID" or kind.name == "BigInt":
        return lambda values: [value if value is None or type(value) is str else _text(value) for value in values]
    if kind.name == "Float":
        return lambda values: [None if value is None else float(value) for value in values]
    return list


def _text(value: Any) -> str:
    return str(value).lower() if type(value) is bool else str(value)
