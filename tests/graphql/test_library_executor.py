"""Comparison of our executor, which works level by level, with that of graphql-core, on all types of the schema."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from graphql import (
    FragmentDefinitionNode,
    GraphQLEnumType,
    GraphQLField,
    GraphQLObjectType,
    OperationDefinitionNode,
    execute,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
    is_required_argument,
    parse,
    validate,
)
from graphql.execution.values import get_variable_values
from msgspec import UNSET

from ingot.accounts.users.actors import active_actor
from ingot.core.errors import Denied, NotFound, Unauthenticated
from ingot.core.http.request import Origin
from ingot.graphql.context import EndpointTable, QueryContext
from ingot.graphql.executor import Execution, attributes
from ingot.graphql.plan import PlanBuilder, serializer
from ingot.graphql.schema_loader import load_schema
from tests.client import Api, User
from tests.conftest import Instance
from tests.factories import Project
from tests.graphql.test_agreement import owner, project

__all__ = ["owner", "project"]
ARGUMENTS = {
    "Project.environment": 'name: "review/one"',
    "Project.release": 'tagName: "v1"',
    "Query.project": 'fullPath: "{path}"',
    "Query.group": 'fullPath: "{group}"',
    "Query.namespace": 'fullPath: "{group}"',
    "Project.issue": 'iid: "1"',
    "Project.mergeRequest": 'iid: "1"',
    "Project.label": 'title: "bug"',
    "Query.ciConfig": 'projectPath: "{path}", content: "build: {{script: [make]}}"',
    "Metadata.featureFlags": 'names: ["one"]',
    "Project.ciConfigVariables": 'ref: "master"',
    "Repository.blobs": 'paths: ["README.md", "folder/a.txt"]',
    "Repository.commit": 'ref: "master"',
}
"""Arguments of fields that lead to the objects of the project; fields with other required arguments are left out."""
OF_MUTATIONS = {
    *("Mutation", "Branch", "QuickActionsStatus", "Tag"),
    *("TimelineEventType", "TimelineEventTypeConnection", "TimelineEventTypeEdge"),
    *("TimelineEventTagTypeConnection", "TimelineEventTagTypeEdge"),
}
"""Types that only mutations return, or queries with the id of an incident; they are executed in the same way."""
FRAGMENTS = {
    "C": 'on Project { issue(iid: "1") { iid ...A } }',
    "A": "on Issue { author { username } labels { nodes { title } } }",
    "B": "on Issue { author { name ...U } labels { nodes { color } } }",
    "U": "on User { webUrl }",
}
"""Fragments by name; those that others use come after them."""


class _QueryWriter:
    """Writes a query with each field of each type, where the type is reached on the shortest way."""

    def __init__(self, project: Project) -> None:
        self._schema = load_schema().schema
        self._values = {"path": project.path, "group": project.path.rpartition("/")[0]}
        self._aliases = 0
        self.places: dict[str, tuple[str, str]] = {"Query": ("", "")}
        """Type and field by which each type is first reached."""
        waiting = [self._schema.type_map["Query"]]
        for kind in waiting:
            for name, field in self._fields_of(kind):
                for inner in self._object_types(get_named_type(field.type)):
                    if inner.name not in self.places:
                        self.places[inner.name] = kind.name, name
                        waiting.append(inner)

    def selection(self, kind: Any, place: tuple[str, str] = ("", ""), *, expanded: bool = True) -> str:
        """Return the selection of a type that is reached by a field, with the types that are first reached there."""
        if is_abstract_type(kind):
            parts = (self.selection(each, place, expanded=expanded) for each in self._object_types(kind))
            typed = zip(self._object_types(kind), parts, strict=True)
            return "{ __typename " + " ".join(f"... on {each.name} {part}" for each, part in typed) + " }"
        expanded = expanded and place == self.places[kind.name]
        fields = []
        for name, field in self._fields_of(kind):
            inner, call = get_named_type(field.type), f"{self._alias(name)}: {name}{self._arguments(kind.name, name)}"
            if is_leaf_type(inner):
                fields.append(call)
            elif expanded or kind.name.endswith(("Connection", "Edge")):
                fields.append(f"{call} {self.selection(inner, (kind.name, name), expanded=expanded)}")
        return "{ __typename " + " ".join(fields) + " }"

    def _fields_of(self, kind: Any) -> Iterator[tuple[str, GraphQLField]]:
        """Yield the fields of a type whose required arguments are known."""
        for name, field in kind.fields.items():
            required = any(map(is_required_argument, field.args.values()))
            if not required or f"{kind.name}.{name}" in ARGUMENTS:
                yield name, field

    def _object_types(self, kind: Any) -> Sequence[GraphQLObjectType]:
        if is_abstract_type(kind):
            return self._schema.get_possible_types(kind)
        return [kind] if isinstance(kind, GraphQLObjectType) else []

    def _arguments(self, kind: str, name: str) -> str:
        given = ARGUMENTS.get(f"{kind}.{name}")
        return "" if given is None else "(" + given.format(**self._values) + ")"

    def _alias(self, name: str) -> str:
        """Return another name for each field, because objects of an abstract type have different types there."""
        self._aliases += 1
        return f"{name}{self._aliases}"


def _by_library(context: QueryContext, text: str) -> Any:
    """Execute a query by the library: each resolver gets one parent at a time."""
    resolved = load_schema()

    def resolve(parent: Any, info: Any, **arguments: Any) -> Any:
        name = f"{info.parent_type.name}.{info.field_name}"
        resolver = resolved.resolvers.fields.get(name)
        if resolver is None:
            (value,) = attributes([parent], resolved.attribute(name))
        else:
            (value,) = resolver(context, [parent], arguments)
        if isinstance(value, NotFound | Denied | Unauthenticated) or value is UNSET:
            return None
        if isinstance(value, Exception):
            raise value
        kind = get_named_type(info.return_type)
        if isinstance(kind, GraphQLEnumType) or kind.name == "BigInt":
            # The library knows neither our scalar nor other spellings of the values of an enumeration.
            convert = serializer(kind)
            assert convert is not None
            return list(convert(value)) if isinstance(value, list | tuple) else convert([value])[0]
        return value

    return execute(
        resolved.schema,
        parse(text),
        context,
        context,
        field_resolver=resolve,
        type_resolver=lambda value, *_: resolved.type_name(value),
    )


def _by_levels(context: QueryContext, text: str) -> tuple[Any, list[dict[str, Any]]]:
    resolved = load_schema()
    operation, *others = parse(text).definitions
    assert isinstance(operation, OperationDefinitionNode)
    assert resolved.schema.query_type is not None
    fragments = {each.name.value: each for each in others if isinstance(each, FragmentDefinitionNode)}
    variables = get_variable_values(resolved.schema, (), {})
    assert not isinstance(variables, list)
    plans = PlanBuilder(resolved, fragments, variables)
    fields = plans.selected(resolved.schema.query_type, [operation.selection_set])
    execution = Execution(context, plans, resolved.type_name)
    return execution.run(fields, "Query", [context], [None])[0], execution.errors


def _differences(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the path of each value that differs, with both values."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from _differences(one[key], other[key], f"{path} {key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (value, expected) in enumerate(zip(one, other, strict=True)):
            yield from _differences(value, expected, f"{path} {index}")
    elif one != other:
        yield path, one, other


def _compare(instance: Instance, user: User, text: str) -> Any:
    """Execute a query both ways and return the data, which must be the same."""
    assert validate(load_schema().schema, parse(text)) == []
    app = instance.app
    actor = app.database.read(lambda db: active_actor(db, user.id))
    assert actor is not None

    def context() -> QueryContext:
        table, origin = EndpointTable(app._client), Origin(instance.url, instance.url, "127.0.0.1", "")
        return QueryContext(table, app.database, actor, origin, app.settings)

    library = app.database.read(lambda _: _by_library(context(), text))
    data, errors = app.database.read(lambda _: _by_levels(context(), text))
    assert list(_differences(data, library.data)) == []
    paths = [error.get("path") for error in errors], [error.path for error in library.errors or ()]
    assert sorted(map(str, paths[0])) == sorted(map(str, paths[1]))
    return data


def test_every_field_of_the_schema(instance: Instance, api: Api, owner: User, project: Project) -> None:
    # The mergeability is stored when it is first read.
    assert api.get(f"{project.url}/merge_requests/1", owner).status_code == 200
    writer = _QueryWriter(project)
    _compare(instance, owner, writer.selection(load_schema().schema.query_type))
    types = (each for each in load_schema().schema.type_map.values() if isinstance(each, GraphQLObjectType))
    names = {each.name for each in types if not each.name.startswith("__") and not each.name.endswith("Payload")}
    assert names - {*writer.places} == OF_MUTATIONS


@pytest.mark.parametrize(
    "fields",
    [
        'id issue(iid: "1") { title ...A ...B } ...C',
        'issue(iid: "999") { title author { id } } mergeRequest(iid: "7") { id }',
        "issues { nodes { ...A @skip(if: true) iid @include(if: false) ...B @include(if: true) } }",
        "id id: id issues(first: 1) { nodes { iid } } issues(first: 1) { pageInfo { hasNextPage } nodes { title } }",
        "... on Project { name ... on Project { name path } } ... { name }",
    ],
)
def test_fragments_directives_and_missing_objects(
    instance: Instance, owner: User, project: Project, fields: str
) -> None:
    text = f'{{ project(fullPath: "{project.path}") {{ {fields} }} }}'
    for name, fragment in FRAGMENTS.items():
        if f"...{name}" in text:
            text += f" fragment {name} {fragment}"
    assert _compare(instance, owner, text)["project"] is not None
