"""Mutations of the CI/CD catalog."""

from typing import Any

from ingot.graphql.context import QueryContext
from ingot.graphql.mutations.inputs import Input
from ingot.graphql.resolvers import Resolvers

resolvers = Resolvers()


@resolvers.mutation("catalogResourcesCreate")
def create_resource(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Make a project a resource of the catalog."""
    context.call("POST /projects/:id/catalog", id=sent["projectPath"])
    return {}


@resolvers.mutation("catalogResourcesDestroy")
def delete_resource(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Remove a project from the catalog."""
    context.call("DELETE /projects/:id/catalog", id=sent["projectPath"])
    return {}
