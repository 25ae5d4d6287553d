"""Version of the server, and the complexity of a query."""

from typing import Any

from ingot.graphql.context import QueryContext
from ingot.graphql.limits import max_complexity
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()


@resolvers.single("Query.metadata")
def find_metadata(context: QueryContext, _: Any, __: Arguments) -> Any:
    """Return the version of the server."""
    return context.call("GET /metadata")


@resolvers.single("Metadata.featureFlags")
def list_feature_flags(_: QueryContext, __: Any, arguments: Arguments) -> list[dict[str, Any]]:
    """Return the named flags; this server has none of GitLab's flags, so all are disabled."""
    return [{"name": name, "enabled": False} for name in arguments["names"][:100]]


@resolvers.value("Query.queryComplexity")
def find_complexity(context: QueryContext, _: Any) -> dict[str, Any]:
    """Return the complexity of the query and its limit."""
    return {"limit": max_complexity(context.actor), "score": context.complexity}


@resolvers.single("Query.echo")
def echo(_: QueryContext, __: Any, arguments: Arguments) -> str:
    """Return the given text."""
    return str(arguments["text"])
