"""Execution of an operation, level by level: each field is resolved once, for all objects of its level.

The library executes a query object by object, and its cost per field is a multiple of that of a REST response. Here a
resolver gets the list of all parents, so batching needs no further means, and plain attributes cost little.
"""

from collections.abc import Callable, Sequence
from typing import Any

from graphql import (
    FieldNode,
    GraphQLError,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    is_leaf_type,
)
from msgspec import UNSET

from ingot.core.errors import Denied, NotFound, Unauthenticated
from ingot.graphql.context import QueryContext
from ingot.graphql.error_messages import error_messages
from ingot.graphql.plan import INTROSPECTION_FIELDS, TYPENAME, FieldPlan, PlanBuilder, serializer
from ingot.graphql.resolvers import REFUSALS

MAX_OBJECTS = 50_000
"""Objects in a response; the limits before the execution cannot know how long lists are."""
Path = tuple[Any, Any] | None
"""Path of an object as a chain of the path of its parent and a key."""


class TooManyObjects(Exception):
    """The response exceeds ``MAX_OBJECTS``."""


class Execution:
    """Execution of one operation."""

    def __init__(self, context: QueryContext, plans: PlanBuilder, type_of: Callable[[Any], str]) -> None:
        self._context = context
        self._plans = plans
        self._type_of = type_of
        self._objects = 0
        self.errors: list[dict[str, Any]] = []

    def run(
        self,
        fields: Sequence[FieldPlan],
        type_name: str,
        parents: Sequence[Any],
        paths: Sequence[Path],
    ) -> list[dict[str, Any] | None]:
        """Return the response objects of the parents; None where a field that must not be null is null."""
        self._objects += len(parents)
        if self._objects > MAX_OBJECTS:
            raise TooManyObjects
        results: list[dict[str, Any] | None] = [{} for _ in parents]
        for field in fields:
            key = field.key
            if field.name == TYPENAME:
                values: Sequence[Any] = [type_name] * len(parents)
            elif field.name in INTROSPECTION_FIELDS:
                continue
            else:
                values = self._field(field, parents, paths)
            if field.non_null:
                for index, value in enumerate(values):
                    if value is None:
                        results[index] = None
            for result, value in zip(results, values, strict=True):
                if result is not None:
                    result[key] = value
        return results

    def _field(self, field: FieldPlan, parents: Sequence[Any], paths: Sequence[Path]) -> Sequence[Any]:
        if field.resolver is None:
            values = attributes(parents, field.attribute)
        else:
            try:
                values = field.resolver(self._context, parents, field.arguments)
            except REFUSALS as error:
                values = [error] * len(parents)
            values = self._without_errors(field, values, paths)
        if field.serialize is not None:
            completed = field.serialize(values)
            if field.non_null and None in completed:
                self._report_nulls(field, completed, paths)
            return completed
        child_paths: list[Path] = [(path, field.key) for path in paths]
        return self._complete(field, field.type, values, child_paths)

    def _without_errors(self, field: FieldPlan, values: Sequence[Any], paths: Sequence[Path]) -> Sequence[Any]:
        """Replace errors by null; only those that are no refusal of access are reported."""
        if not any(isinstance(value, Exception) for value in values):
            return values
        for value, path in zip(values, paths, strict=True):
            if isinstance(value, Exception) and not isinstance(value, NotFound | Denied | Unauthenticated):
                for message in error_messages(value):
                    self.report(message, field.nodes[0], (path, field.key))
        return [None if isinstance(value, Exception) else value for value in values]

    def _complete(
        self, field: FieldPlan, kind: GraphQLOutputType, values: Sequence[Any], paths: Sequence[Path]
    ) -> Sequence[Any]:
        if isinstance(kind, GraphQLNonNull):
            completed = self._complete(field, kind.of_type, values, paths)
            for value, path in zip(completed, paths, strict=True):
                if value is None and not self._has_error_below(path):
                    self.report(f"Cannot return null for non-nullable field {field.name}", field.nodes[0], path)
            return completed
        if isinstance(kind, GraphQLList):
            return self._complete_lists(field, kind.of_type, values, paths)
        if is_leaf_type(kind):
            serialize = serializer(kind)
            return values if serialize is None else serialize(values)
        return self._complete_objects(field, kind, values, paths)

    def _complete_lists(
        self, field: FieldPlan, kind: GraphQLOutputType, values: Sequence[Any], paths: Sequence[Path]
    ) -> list[Any]:
        items: list[Any] = []
        item_paths: list[Path] = []
        for value, path in zip(values, paths, strict=True):
            if value is not None and value is not UNSET:
                items.extend(value)
                item_paths.extend((path, index) for index in range(len(value)))
        completed = self._complete(field, kind, items, item_paths)
        required = isinstance(kind, GraphQLNonNull)
        results: list[Any] = []
        start = 0
        for value in values:
            if value is None or value is UNSET:
                results.append(None)
                continue
            part = list(completed[start : start + len(value)])
            start += len(value)
            results.append(None if required and None in part else part)
        return results

    def _complete_objects(self, field: FieldPlan, kind: Any, values: Sequence[Any], paths: Sequence[Path]) -> list[Any]:
        results: list[Any] = [None] * len(values)
        groups: dict[str, list[int]] = {}
        if isinstance(kind, GraphQLObjectType):
            groups[kind.name] = [
                index for index, value in enumerate(values) if value is not None and value is not UNSET
            ]
        else:
            for index, value in enumerate(values):
                if value is not None and value is not UNSET:
                    groups.setdefault(self._type_of(value), []).append(index)
        for name, indexes in groups.items():
            if indexes:
                plan = self._plans.fields(self._plans.object_type(name), field.nodes)
                objects = self.run(plan, name, [values[i] for i in indexes], [paths[i] for i in indexes])
                for index, result in zip(indexes, objects, strict=True):
                    results[index] = result
        return results

    def _report_nulls(self, field: FieldPlan, values: Sequence[Any], paths: Sequence[Path]) -> None:
        for value, path in zip(values, paths, strict=True):
            if value is None and not self._has_error_below((path, field.key)):
                self.report(
                    f"Cannot return null for non-nullable field {field.name}", field.nodes[0], (path, field.key)
                )

    def _has_error_below(self, path: Path) -> bool:
        keys = path_keys(path)
        return any(error["path"][: len(keys)] == keys for error in self.errors if "path" in error)

    def report(self, message: str, node: FieldNode, path: Path) -> None:
        """Add an error to the response."""
        formatted = GraphQLError(message, [node], path=path_keys(path)).formatted
        self.errors.append({key: value for key, value in formatted.items() if value is not None})


def attributes(parents: Sequence[Any], name: str) -> Sequence[Any]:
    """Return an attribute of each parent; a parent may also be a mapping."""
    values = [parent.get(name) if type(parent) is dict else getattr(parent, name, None) for parent in parents]
    return [None if value is UNSET else value for value in values] if UNSET in values else values


def path_keys(path: Path) -> list[Any]:
    """Return the keys of a path from the root."""
    keys = []
    while path is not None:
        path, key = path
        keys.append(key)
    return keys[::-1]
