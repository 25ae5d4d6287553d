"""The schema: the files in ``schema``, completed with connections, page arguments and the types of mutations."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.resources import files
from threading import Lock
from typing import Any

from graphql import (
    DefinitionNode,
    DocumentNode,
    FieldDefinitionNode,
    GraphQLSchema,
    InterfaceTypeDefinitionNode,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
    ObjectTypeDefinitionNode,
    StringValueNode,
    TypeNode,
    build_ast_schema,
    parse,
    print_ast,
)

from ingot.graphql.connections import connection_resolvers
from ingot.graphql.resolvers import Resolvers

FAMILIES = (
    "boards",
    "branch_rules",
    "catalog",
    "ci",
    "ci_config",
    "environments",
    "groups",
    "incidents",
    "issues",
    "labels",
    "members",
    "merge_request_users",
    "merge_requests",
    "merge_trains",
    "metadata",
    "milestones",
    "notes",
    "packages",
    "projects",
    "releases",
    "repository",
    "snippets",
    "terraform",
    "timelogs",
    "todos",
    "users",
    "work_item_widgets",
    "work_items",
)
MUTATIONS = (
    "boards",
    "catalog",
    "ci",
    "incidents",
    "issues",
    "merge_requests",
    "merge_trains",
    "notes",
    "projects",
    "releases",
    "snippets",
    "terraform",
    "timelogs",
    "work_items",
)
_PAGE_ARGUMENTS = "type Page { page(after: String, before: String, first: Int, last: Int): Int }"
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_BUILDING = Lock()
"""Held while the schema is built: each of several concurrent first queries would build its own, of 7 MB."""


class ResolvedSchema:
    """The schema and the resolvers of its fields."""

    def __init__(self, schema: GraphQLSchema, resolvers: Resolvers) -> None:
        self.schema = schema
        self.resolvers = resolvers
        self._attributes: dict[str, str] = dict(resolvers.attributes)

    def attribute(self, field: str) -> str:
        """Return the attribute of a field such as ``Issue.webUrl``: unless renamed, ``web_url``."""
        attribute = self._attributes.get(field)
        if attribute is None:
            attribute = self._attributes[field] = snake_case(field.rpartition(".")[2])
        return attribute

    def type_name(self, value: Any) -> str:
        """Return the name of the object type of a value whose field has an abstract type."""
        for kind in type(value).__mro__:
            name = self.resolvers.types.get(kind)
            if name is not None:
                return name
        raise TypeError(f"{type(value).__name__} has no object type")


def snake_case(name: str) -> str:
    """Return ``web_url`` for ``webUrl``."""
    return _CAPITAL.sub("_", name).lower()


def load_schema() -> ResolvedSchema:
    """Return the schema; building it takes about a tenth of a second and happens at the first query of a process."""
    if _build_schema.cache_info().currsize == 0:
        with _BUILDING:
            return _build_schema()
    return _build_schema()


@cache
def _build_schema() -> ResolvedSchema:
    folder = files("ingot.graphql").joinpath("schema")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".graphql"))
    # The tokens of a text refer to each other, so that only garbage collection frees them; those of a file soon.
    documents = [parse(folder.joinpath(name).read_text("utf-8"), no_location=True) for name in names]
    definitions = list(_completed([node for document in documents for node in document.definitions]))
    resolvers = Resolvers()
    modules = [*(f"families.{name}" for name in FAMILIES), *(f"mutations.{name}" for name in MUTATIONS)]
    for name in modules:
        resolvers.merge(import_module(f"ingot.graphql.{name}").resolvers)
    connections = [
        node.name.value
        for node in definitions
        if isinstance(node, ObjectTypeDefinitionNode) and node.name.value.endswith("Connection")
    ]
    shared = connection_resolvers(connections)
    # A family may resolve a field of a connection in another way.
    shared.merge(resolvers)
    schema = build_ast_schema(DocumentNode(definitions=tuple(definitions)), assume_valid=True)
    return ResolvedSchema(schema, shared)


def _completed(definitions: Sequence[DefinitionNode]) -> Iterator[DefinitionNode]:
    """Add what the files leave out because it follows from the names."""
    page = parse(_PAGE_ARGUMENTS, no_location=True).definitions[0]
    page_arguments = page.fields[0].arguments  # type: ignore[attr-defined] # It is an object type.
    connections: dict[str, None] = {}
    defined = {node.name.value for node in definitions}  # type: ignore[attr-defined] # All have names.
    for definition in definitions:
        if isinstance(definition, ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode):
            if isinstance(definition, ObjectTypeDefinitionNode) and definition.name.value == "Mutation":
                yield from _mutation_types(definition)
                continue
            fields = []
            for field in definition.fields or ():
                name = named_type(field.type)
                is_connection = name.endswith("Connection")
                connections |= {name: None} if is_connection else {}
                arguments = (*(field.arguments or ()), *(page_arguments if is_connection else ()))
                fields.append(replace(field, arguments=arguments))
            yield replace(definition, fields=tuple(fields))
            continue
        yield definition
    for name in connections:
        if name not in defined:
            yield from _connection_types(name.removesuffix("Connection"))


def named_type(node: TypeNode) -> str:
    """Return the name within lists and non-null types."""
    while isinstance(node, NonNullTypeNode | ListTypeNode):
        node = node.type
    if not isinstance(node, NamedTypeNode):
        raise TypeError(node)
    return node.name.value


def _connection_types(node: str) -> tuple[DefinitionNode, ...]:
    return parse(
        f"""
        type {node}Connection {{ count: Int! edges: [{node}Edge] nodes: [{node}] pageInfo: PageInfo! }}
        type {node}Edge {{ cursor: String! node: {node} }}
        """,
        no_location=True,
    ).definitions


def _mutation_types(mutations: ObjectTypeDefinitionNode) -> tuple[DefinitionNode, ...]:
    """Turn ``createNote(body: String!): Note`` into a field with an input and a payload, and return all types.

    The payload has one more field than those of every payload, named after its type unless ``@payload`` names it;
    further fields are written as a text in ``more``.
    """
    types, fields = [], []
    for mutation in mutations.fields or ():
        name = mutation.name.value
        title = name[0].upper() + name[1:]
        inputs = " ".join(map(print_ast, mutation.arguments or ()))
        result = _payload_field(mutation)
        types.append(f"input {title}Input {{ clientMutationId: String {inputs} }}")
        types.append(f"type {title}Payload {{ clientMutationId: String errors: [String!]! {result} }}")
        fields.append(f"{name}(input: {title}Input!): {title}Payload")
    return parse("\n".join((*types, "type Mutation {", *fields, "}")), no_location=True).definitions


def _payload_field(mutation: FieldDefinitionNode) -> str:
    kind = named_type(mutation.type)
    given = {
        argument.name.value: argument.value.value
        for directive in mutation.directives or ()
        for argument in directive.arguments or ()
        if isinstance(argument.value, StringValueNode)
    }
    name = given.get("field", kind[0].lower() + kind[1:])
    return " ".join((f"{name}: {print_ast(mutation.type)}" if name else "", given.get("more", "")))
