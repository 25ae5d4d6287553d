"""Calls from within: pages ask the API's own endpoints, so that nothing is decided, checked or done in two ways."""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from ingot.access.actor import Actor
from ingot.access.rules import require
from ingot.api.routes import Endpoint, Instead
from ingot.api.running import Asked, Finds, Runner
from ingot.db.database import Database
from ingot.errors import Denied, Failure, NotFound, Unauthenticated, Unavailable
from ingot.http.request import Origin
from ingot.inline import expect_a_wait
from ingot.settings import Settings


class Caller(NamedTuple):
    """Who calls from within."""

    actor: Actor
    origin: Origin
    known: Finds | None = None
    """What finders have found already in one reading, which does not change meanwhile."""


class Inside:
    """The endpoints by method and path as they are declared; what one answers is a view, a listing or a file.

    An endpoint may ask for credentials where its rule does not: pages show public projects to everybody.
    """

    def __init__(self, endpoints: Iterable[Endpoint], database: Database, settings: Settings) -> None:
        self._endpoints = {(endpoint.method, endpoint.path): endpoint for endpoint in endpoints}
        self._database = database
        self._runner = Runner(database, settings)

    def call(self, caller: Caller, method: str, route: str, path: dict[str, str], sent: dict[str, Any]) -> Any:
        """What the endpoint gives; refusals are raised as its handler raises them."""
        endpoint = self._endpoints[method, route]
        if endpoint.asks_caller_only and not endpoint.may(caller.actor):
            if not caller.actor.known:
                raise Unauthenticated
            require(False)
        asked = Asked(endpoint, path, caller.origin, sent, caller.actor)
        asked.read_params()
        if endpoint.heavy or endpoint.staged:
            expect_a_wait()
        result = self._run(asked, caller)
        return result.content if type(result) is Instead else result

    def find(self, caller: Caller, method: str, route: str, path: dict[str, str]) -> Any:
        """What the path of an endpoint names, as its room finds it for the caller."""
        return self._subject(self._endpoints[method, route], caller, path)[0]

    def allows(self, caller: Caller, method: str, route: str, path: dict[str, str]) -> bool:
        """Whether the endpoint's rule lets the caller do this to what the path names, so that a page may offer it."""
        endpoint = self._endpoints[method, route]
        if not caller.actor.known and endpoint.writes:
            return False
        try:
            self._subject(endpoint, caller, path)
        except (NotFound, Denied):
            return False
        return not endpoint.asks_caller_only or endpoint.may(caller.actor)

    def _subject(self, endpoint: Endpoint, caller: Caller, path: dict[str, str]) -> list[Any]:
        asked = Asked(endpoint, path, caller.origin, actor=caller.actor, known=caller.known)
        return self._database.read(partial(self._runner.subject, asked))

    def _run(self, asked: Asked, caller: Caller) -> Any:
        if asked.endpoint.staged:
            return self._runner.stage(asked)
        if not asked.endpoint.writes:
            asked.known = caller.known
            return self._database.read(partial(self._runner.run, asked))
        self._runner.prepare(asked)
        try:
            return self._database.write(partial(self._runner.run, asked))
        except Failure:
            for step in asked.undo:
                with suppress(Unavailable):
                    step()
            raise
