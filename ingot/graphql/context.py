"""Context of one query: the caller, the REST endpoints, and objects that were already loaded."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

from ingot.core.access.actor import Actor
from ingot.core.api.internal_client import InternalCaller, InternalClient, Target
from ingot.core.api.routes import AlternateResponse, Endpoint
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict
from ingot.core.http.request import Origin
from ingot.core.markup.render_budget import RenderBudget
from ingot.core.settings import Settings

T = TypeVar("T")
V = TypeVar("V")


class RefusedCall(Conflict):
    """Refusal that an endpoint returns instead of its response, with a status of its own."""


class EndpointTable:
    """Endpoints of the REST API by method and path, such as ``GET /projects/:id``."""

    def __init__(self, client: InternalClient) -> None:
        self.client = client

    def find(self, route: str) -> Endpoint:
        """Return the endpoint of a route; raise LookupError if there is none."""
        method, path = route.split()
        return self.client.table.declared_as(method, path)


class QueryContext:
    """Caller of a query and everything that its resolvers use."""

    def __init__(
        self, table: EndpointTable, database: Database, actor: Actor, origin: Origin, settings: Settings
    ) -> None:
        self._table = table
        self.database = database
        self.actor = actor
        self.origin = origin
        self.settings = settings
        self.complexity = 0
        """Complexity of the operation."""
        self.render_budget = RenderBudget()
        self._caller = InternalCaller(actor, origin, {})
        self._loaded: dict[str, dict[Any, Any]] = {}

    def call(self, route: str, params: Mapping[str, Any] | None = None, /, **path: object) -> Any:
        """Call an endpoint, such as ``GET /projects/:id``, as the caller of the query, and return its response.

        Raises RefusedCall if the endpoint responds that it refuses the call.
        """
        endpoint = self._table.find(route)
        target = Target({name: str(value) for name, value in path.items()}, endpoint.path.split("/")[1])
        response = self._table.client.call(self._caller, endpoint.handler, target, dict(params or {}))
        if isinstance(response, AlternateResponse) and response.status >= 400:
            raise RefusedCall(_refusal_message(response.content))
        return response

    def allows(self, route: str, /, **path: object) -> bool:
        """Return whether the caller may call an endpoint."""
        endpoint = self._table.find(route)
        target = Target({name: str(value) for name, value in path.items()}, endpoint.path.split("/")[1])
        return self._table.client.allows(self._caller, endpoint.handler, target)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run a query on the connection of the request."""
        return self.database.read(work)

    def load(
        self, kind: str, keys: Iterable[Any], fetch: Callable[[Collection[Any]], Mapping[Any, V]]
    ) -> dict[Any, V | None]:
        """Return objects by key; those that this query has not loaded yet are fetched together."""
        loaded = self._loaded.setdefault(kind, {})
        wanted = set(keys)
        missing = wanted - loaded.keys()
        if missing:
            loaded.update(dict.fromkeys(missing))
            loaded.update(fetch(missing))
        return {key: loaded[key] for key in wanted}

    def forget(self) -> None:
        """Forget all loaded objects, because a mutation has changed some of them."""
        self._loaded.clear()
        self._caller = self._caller._replace(known={})


def _refusal_message(content: Any) -> str:
    message = content["message"] if isinstance(content, dict) else getattr(content, "message", "The call was refused")
    return ", ".join(message) if isinstance(message, list) else str(message)
