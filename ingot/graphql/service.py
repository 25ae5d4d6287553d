"""Execution of the operations of a request."""

from collections.abc import Sequence
from typing import Any

from graphql import GraphQLError, GraphQLObjectType, OperationDefinitionNode, OperationType
from graphql.execution.values import get_variable_values

from ingot.core.access.scopes import WRITE_SCOPES, has_any_scope
from ingot.core.errors import Denied, NotFound, Unauthenticated
from ingot.graphql.context import QueryContext
from ingot.graphql.documents import NUL_ERROR, Document, InvalidDocument, find_document, introspect
from ingot.graphql.error_messages import error_messages
from ingot.graphql.executor import Execution, TooManyObjects
from ingot.graphql.limits import LimitExceeded, QueryCost
from ingot.graphql.plan import INTROSPECTION_FIELDS, FieldPlan, PlanBuilder
from ingot.graphql.requests import GraphqlRequest
from ingot.graphql.resolvers import REFUSALS
from ingot.graphql.schema_loader import ResolvedSchema, load_schema

_NEEDS_API_SCOPE = 'Mutations require an access token with the scope "api"'
_NEEDS_POST = "Mutations must be sent as POST"


class _Refused(Exception):
    """The operation is not executed."""


class GraphqlService:
    """Executor of requests by one caller."""

    def __init__(self, context: QueryContext, *, may_mutate: bool = True) -> None:
        self._context = context
        self._may_mutate = may_mutate
        self._resolved: ResolvedSchema = load_schema()
        self._cost = QueryCost(context.actor, self._resolved.resolvers)

    def answer(self, request: GraphqlRequest) -> dict[str, Any]:
        """Return the response to one query or mutation."""
        try:
            document = find_document(request.query)
            operation = _operation(document, request.operation_name)
            return self._execute(document, operation, request.variables)
        except InvalidDocument as error:
            return {"errors": error.errors}
        except (_Refused, LimitExceeded) as error:
            return {"errors": [{"message": str(error)}]}
        except GraphQLError as error:
            return {"errors": [dict(error.formatted)]}
        except TooManyObjects:
            return {"errors": [{"message": "The response has too many objects; request shorter lists"}]}

    def _execute(
        self, document: Document, operation: OperationDefinitionNode, values: dict[str, Any]
    ) -> dict[str, Any]:
        schema = self._resolved.schema
        root = schema.get_root_type(operation.operation)
        if root is None or operation.operation is OperationType.SUBSCRIPTION:
            raise _Refused("Subscriptions are not supported")
        if _has_nul(values):
            raise _Refused(NUL_ERROR)
        variables = get_variable_values(schema, operation.variable_definitions or (), values)
        if isinstance(variables, list):
            return {"errors": [dict(error.formatted) for error in variables]}
        plans = PlanBuilder(self._resolved, document.fragments, variables)
        fields = plans.selected(root, [operation.selection_set])
        counted = [field for field in fields if field.name not in INTROSPECTION_FIELDS]
        self._context.complexity = int(self._cost.add(plans, counted))
        self._cost.add_introspection(document, operation)
        execution = Execution(self._context, plans, self._resolved.type_name)
        if operation.operation is OperationType.MUTATION:
            self._require_mutations()
            data: dict[str, Any] | None = self._mutate(execution, plans, fields)
        else:
            data = self._context.read(lambda _: execution.run(fields, root.name, [self._context], [None]))[0]
            if data is not None and any(field.name in INTROSPECTION_FIELDS for field in fields):
                data |= introspect(document, operation, values)
        return {"data": data, "errors": execution.errors} if execution.errors else {"data": data}

    def _require_mutations(self) -> None:
        if not self._may_mutate:
            raise _Refused(_NEEDS_POST)
        if not self._context.actor.known:
            raise _Refused(error_messages(Unauthenticated())[0])
        if not has_any_scope(self._context.actor, WRITE_SCOPES):
            raise _Refused(_NEEDS_API_SCOPE)

    def _mutate(self, execution: Execution, plans: PlanBuilder, fields: Sequence[FieldPlan]) -> dict[str, Any]:
        """Run mutations one after the other; each has its own transaction."""
        data: dict[str, Any] = {}
        for field in fields:
            if field.name == "__typename":
                data[field.key] = "Mutation"
                continue
            payload = self._payload(execution, field)
            self._context.forget()
            if payload is None:
                data[field.key] = None
                continue
            kind = self._resolved.schema.type_map[field.type.name]  # type: ignore[union-attr] # Payloads are objects.
            data[field.key] = self._read_payload(execution, plans, field, kind, payload)
        return data

    def _read_payload(
        self, execution: Execution, plans: PlanBuilder, field: FieldPlan, kind: Any, payload: dict[str, Any]
    ) -> dict[str, Any] | None:
        if not isinstance(kind, GraphQLObjectType):
            raise TypeError(kind)
        selected = plans.fields(kind, field.nodes)
        return self._context.read(lambda _: execution.run(selected, kind.name, [payload], [(None, field.key)]))[0]

    def _payload(self, execution: Execution, field: FieldPlan) -> dict[str, Any] | None:
        """Run a mutation; errors of its input are part of the payload, a missing permission is not."""
        sent: dict[str, Any] = field.arguments["input"]
        mutation = self._resolved.resolvers.mutations[field.name.rpartition(".")[2]]
        known: dict[str, Any] = {"client_mutation_id": sent.get("clientMutationId"), "errors": []}
        try:
            return known | mutation(self._context, sent)
        except (NotFound, Denied, Unauthenticated) as error:
            execution.report(error_messages(error)[0], field.nodes[0], (None, field.key))
            return None
        except REFUSALS as error:
            return known | {"errors": error_messages(error)}


def _has_nul(value: Any) -> bool:
    """Return whether a variable contains NUL, which PostgreSQL refuses, elsewhere than in the content of a file."""
    if isinstance(value, dict):
        return any(_has_nul(each) for name, each in value.items() if name != "content")
    if isinstance(value, list):
        return any(map(_has_nul, value))
    return isinstance(value, str) and "\0" in value


def _operation(document: Document, name: str | None) -> OperationDefinitionNode:
    if name:
        operation = document.operations.get(name)
        if operation is None:
            raise _Refused(f'No operation named "{name[:100]}"')
        return operation
    if len(document.operations) != 1:
        raise _Refused("An operation name is required" if document.operations else "The query has no operation")
    return next(iter(document.operations.values()))
