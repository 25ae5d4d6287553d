"""Registry of resolvers. A resolver computes one field for all of its parents, so a list costs no statement per row.

Fields without a resolver are the attributes of the parent: ``webUrl`` is ``web_url`` of the REST view.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ingot.core.api.params import MissingParameter
from ingot.core.api.request_fields import BadRequest
from ingot.core.errors import Failure
from ingot.git.core.errors import GitError

if TYPE_CHECKING:
    from ingot.graphql.context import QueryContext

Arguments = Mapping[str, Any]
BatchResolver = Callable[["QueryContext", Sequence[Any], Arguments], Sequence[Any]]
SingleResolver = Callable[["QueryContext", Any, Arguments], Any]
ValueResolver = Callable[["QueryContext", Any], Any]
Mutation = Callable[["QueryContext", dict[str, Any]], dict[str, Any]]
REFUSALS = (Failure, MissingParameter, BadRequest, GitError)
"""Errors that the caller causes. A resolver may return one instead of a value, for one of its parents."""
B = TypeVar("B", bound=BatchResolver)
S = TypeVar("S", bound=SingleResolver)
V = TypeVar("V", bound=ValueResolver)
M = TypeVar("M", bound=Mutation)


class Resolvers:
    """Resolvers by field, such as ``Project.issues``."""

    def __init__(self) -> None:
        self.fields: dict[str, BatchResolver] = {}
        self.attributes: dict[str, str] = {}
        self.calling: dict[str, str] = {}
        """Fields that call an endpoint for each of their parents, with a name for the call; limits count the calls."""
        self.mutations: dict[str, Mutation] = {}
        self.types: dict[type, str] = {}
        """Names of the types by the class of the view, for fields whose type is abstract."""

    def batch(self, *fields: str) -> Callable[[B], B]:
        """Register a resolver that returns the values of all parents."""

        def register(resolver: B) -> B:
            self.fields.update(dict.fromkeys(fields, resolver))
            return resolver

        return register

    def single(self, *fields: str, call: str = "") -> Callable[[S], S]:
        """Register a resolver that calls endpoints for one parent; fields with the same ``call`` share its response."""

        def register(resolver: S) -> S:
            def resolve_all(context: "QueryContext", parents: Sequence[Any], arguments: Arguments) -> Sequence[Any]:
                return [attempt(resolver, context, parent, arguments) for parent in parents]

            self.fields.update(dict.fromkeys(fields, resolve_all))
            self.calling.update({field: call or field for field in fields})
            return resolver

        return register

    def value(self, *fields: str) -> Callable[[V], V]:
        """Register a function of one parent that calls nothing."""

        def register(resolver: V) -> V:
            def resolve_all(context: "QueryContext", parents: Sequence[Any], _: Arguments) -> Sequence[Any]:
                return [resolver(context, parent) for parent in parents]

            self.fields.update(dict.fromkeys(fields, resolve_all))
            return resolver

        return register

    def rename(self, type_name: str, **attributes: str) -> None:
        """Name the attributes of a type's fields, where they differ from the names of the fields."""
        self.attributes.update({f"{type_name}.{field}": attribute for field, attribute in attributes.items()})

    def mutation(self, name: str) -> Callable[[M], M]:
        """Register a mutation, which gets its input and returns the fields of its payload."""

        def register(function: M) -> M:
            self.mutations[name] = function
            return function

        return register

    def merge(self, other: "Resolvers") -> None:
        """Add the resolvers of a family."""
        self.fields |= other.fields
        self.attributes |= other.attributes
        self.calling |= other.calling
        self.mutations |= other.mutations
        self.types |= other.types


def attempt(resolver: SingleResolver, context: "QueryContext", parent: Any, arguments: Arguments) -> Any:
    """Return the value for one parent, or the error that refuses it."""
    try:
        return resolver(context, parent, arguments)
    except REFUSALS as error:
        return error
