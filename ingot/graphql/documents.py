"""Parsed and validated documents, cached by their text."""

from functools import lru_cache
from typing import Any, NamedTuple

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    OperationDefinitionNode,
    SelectionSetNode,
    StringValueNode,
    execute_sync,
    parse,
    validate,
)
from graphql.language import Visitor, visit

from ingot.graphql.plan import INTROSPECTION_FIELDS
from ingot.graphql.schema_loader import load_schema

MAX_LENGTH = 10_000
"""Characters of a query."""
MAX_FIELDS = 600
"""Fields in the text of a query; the validation compares fields with each other."""
NUL_ERROR = "Texts cannot contain the character NUL"


class Document(NamedTuple):
    """A valid document."""

    node: DocumentNode
    operations: dict[str, OperationDefinitionNode]
    fragments: dict[str, FragmentDefinitionNode]


class InvalidDocument(Exception):
    """The text is not a valid query; ``errors`` are those of the response."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__(errors[0]["message"])
        self.errors = errors


class _FieldCounter(Visitor):
    """Counts the fields of a document, and finds NUL in texts."""

    def __init__(self) -> None:
        super().__init__()
        self.fields = 0
        self.has_nul = False

    def enter_string_value(self, node: StringValueNode, *_: Any) -> None:
        self.has_nul |= "\0" in node.value

    def enter_field(self, *_: Any) -> None:
        self.fields += 1


def find_document(text: str) -> Document:
    """Return the document of a text; raise ``InvalidDocument`` with the errors of its validation."""
    if len(text) > MAX_LENGTH:
        raise _invalid(f"Query has {len(text)} characters, which exceeds the maximum of {MAX_LENGTH}")
    return _cached_document(text)


@lru_cache(128)
def _cached_document(text: str) -> Document:
    try:
        node = parse(text)
    except GraphQLError as error:
        raise InvalidDocument([dict(error.formatted)]) from error
    except RecursionError as error:
        raise _invalid("Query is nested too deep") from error
    counter = _FieldCounter()
    visit(node, counter)
    if counter.has_nul:
        raise _invalid(NUL_ERROR)
    if counter.fields > MAX_FIELDS:
        raise _invalid(f"Query has {counter.fields} fields, which exceeds the maximum of {MAX_FIELDS}")
    errors = validate(load_schema().schema, node, max_errors=20)
    if errors:
        raise InvalidDocument([dict(error.formatted) for error in errors])
    operations, fragments = {}, {}
    for definition in node.definitions:
        if isinstance(definition, OperationDefinitionNode):
            operations[definition.name.value if definition.name else ""] = definition
        elif isinstance(definition, FragmentDefinitionNode):
            fragments[definition.name.value] = definition
    return Document(node, operations, fragments)


def _invalid(message: str) -> InvalidDocument:
    return InvalidDocument([{"message": message}])


def introspection_fields(operation: OperationDefinitionNode) -> tuple[FieldNode, ...]:
    """Return the fields of an operation that describe the schema."""
    return tuple(
        node
        for node in operation.selection_set.selections
        if isinstance(node, FieldNode) and node.name.value in INTROSPECTION_FIELDS
    )


def introspect(document: Document, operation: OperationDefinitionNode, variables: dict[str, Any]) -> dict[str, Any]:
    """Return the values of ``__schema`` and ``__type``; the library executes these fields."""
    selections = introspection_fields(operation)
    if not selections:
        return {}
    only = OperationDefinitionNode(
        operation=operation.operation,
        variable_definitions=operation.variable_definitions,
        directives=(),
        selection_set=SelectionSetNode(selections=selections),
    )
    part = DocumentNode(definitions=(only, *document.fragments.values()))
    result: ExecutionResult = execute_sync(load_schema().schema, part, variable_values=variables)
    if result.errors:
        raise InvalidDocument([dict(error.formatted) for error in result.errors])
    return result.data or {}
