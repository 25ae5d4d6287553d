"""Calls from within: pages ask the API's own endpoints, so that nothing is decided, checked or done in two ways."""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.api.endpoint_call import EndpointCall, EndpointRunner, SubjectCache
from ingot.core.api.routes import AlternateResponse, Endpoint
from ingot.core.db.database import Database
from ingot.core.http.request import Origin
from ingot.errors import Denied, Failure, NotFound, Unauthenticated, Unavailable
from ingot.offload import require_blocking_allowed
from ingot.settings import Settings


class InternalCaller(NamedTuple):
    """Who calls from within."""

    actor: Actor
    origin: Origin
    known: SubjectCache | None = None
    """What finders have found already in one reading, which does not change meanwhile."""


class InternalClient:
    """The endpoints by method and path as they are declared; what one answers is a view, a listing or a file.

    An endpoint may ask for credentials where its rule does not: pages show public projects to everybody.
    """

    def __init__(self, endpoints: Iterable[Endpoint], database: Database, settings: Settings) -> None:
        self._endpoints = {(endpoint.method, endpoint.path): endpoint for endpoint in endpoints}
        self._database = database
        self._runner = EndpointRunner(database, settings)

    def call(self, caller: InternalCaller, method: str, route: str, path: dict[str, str], sent: dict[str, Any]) -> Any:
        """What the endpoint gives; refusals are raised as its handler raises them."""
        endpoint = self._endpoints[method, route]
        if endpoint.checks_caller_only and not endpoint.may(caller.actor):
            if not caller.actor.known:
                raise Unauthenticated
            require(False)
        asked = EndpointCall(endpoint, path, caller.origin, sent, caller.actor)
        asked.read_params()
        if endpoint.heavy or endpoint.staged:
            require_blocking_allowed()
        result = self._run(asked, caller)
        return result.content if type(result) is AlternateResponse else result

    def find(self, caller: InternalCaller, method: str, route: str, path: dict[str, str]) -> Any:
        """What the path of an endpoint names, as its room finds it for the caller."""
        return self._subject(self._endpoints[method, route], caller, path)[0]

    def allows(self, caller: InternalCaller, method: str, route: str, path: dict[str, str]) -> bool:
        """Whether the endpoint's rule lets the caller do this to what the path names, so that a page may offer it."""
        endpoint = self._endpoints[method, route]
        if not caller.actor.known and endpoint.writes:
            return False
        try:
            self._subject(endpoint, caller, path)
        except (NotFound, Denied):
            return False
        return not endpoint.checks_caller_only or endpoint.may(caller.actor)

    def _subject(self, endpoint: Endpoint, caller: InternalCaller, path: dict[str, str]) -> list[Any]:
        asked = EndpointCall(endpoint, path, caller.origin, actor=caller.actor, known=caller.known)
        return self._database.read(partial(self._runner.subject, asked))

    def _run(self, endpoint_call: EndpointCall, caller: InternalCaller) -> Any:
        if endpoint_call.endpoint.staged:
            return self._runner.stage(endpoint_call)
        if not endpoint_call.endpoint.writes:
            endpoint_call.known = caller.known
            return self._database.read(partial(self._runner.run, endpoint_call))
        self._runner.prepare(endpoint_call)
        try:
            return self._database.write(partial(self._runner.run, endpoint_call))
        except Failure:
            for step in endpoint_call.undo:
                with suppress(Unavailable):
                    step()
            raise
