"""Calls from within: pages ask the API's own endpoints, so that nothing is decided, checked or done in two ways."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from ingot.access.actor import Actor
from ingot.access.rules import require
from ingot.api.routes import Ahead, Call, Endpoint, Instead, Stage
from ingot.api.running import Finds, asked_of, subject_of
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.errors import Denied, Failure, NotFound, Unauthenticated, Unavailable
from ingot.http.request import Origin
from ingot.inline import expect_a_wait
from ingot.settings import Settings


class Inside:
    """The endpoints by method and path as they are declared; what one answers is a view, a listing or a file.

    An endpoint may ask for credentials where its rule does not: pages show public projects to everybody.
    """

    def __init__(self, endpoints: Iterable[Endpoint], database: Database, settings: Settings) -> None:
        self._endpoints = {(endpoint.method, endpoint.path): endpoint for endpoint in endpoints}
        self._database = database
        self._settings = settings

    def call(
        self,
        actor: Actor,
        origin: Origin,
        method: str,
        route: str,
        path: dict[str, str],
        sent: dict[str, Any],
        known: Finds | None = None,
    ) -> Any:
        """What the endpoint gives; refusals are raised as its handler raises them."""
        endpoint = self._endpoints[method, route]
        if endpoint.asks_caller_only and not endpoint.may(actor):
            if not actor.known:
                raise Unauthenticated
            require(False)
        reader = endpoint.reader_for(path)
        params = reader.read(sent) if reader else None
        if endpoint.heavy or endpoint.staged:
            expect_a_wait()
        if endpoint.staged:
            return _content(self._stage(endpoint, actor, origin, path, sent, params))
        known = None if endpoint.writes else known
        work = partial(self._run, endpoint, actor, origin, path, sent, params, known)
        if not endpoint.writes:
            return _content(self._database.read(partial(work, ())))
        undo: list[Callable[[], object]] = []
        prepared: tuple[Any, ...] = ()
        if endpoint.prepare is not None:
            ahead = Ahead(self._database, self._settings, actor, path, origin.ip, undo)
            prepared = (endpoint.prepare(ahead, params),)
        try:
            return _content(self._database.write(partial(work, prepared)))
        except Failure:
            for step in undo:
                with suppress(Unavailable):
                    step()
            raise

    def find(
        self,
        actor: Actor,
        origin: Origin,
        method: str,
        route: str,
        path: dict[str, str],
        known: Finds | None = None,
    ) -> Any:
        """What the path of an endpoint names, as its room finds it for the caller."""
        endpoint = self._endpoints[method, route]
        call = partial(Call, actor=actor, path=path, origin=origin, settings=self._settings)
        return self._database.read(lambda db: subject_of(endpoint, call(db), known))[0]

    def allows(
        self,
        actor: Actor,
        origin: Origin,
        method: str,
        route: str,
        path: dict[str, str],
        known: Finds | None = None,
    ) -> bool:
        """Whether the endpoint's rule lets the caller do this to what the path names, so that a page may offer it."""
        endpoint = self._endpoints[method, route]
        if not actor.known and endpoint.writes:
            return False
        try:
            self._database.read(lambda db: subject_of(endpoint, Call(db, actor, path, origin, self._settings), known))
        except (NotFound, Denied):
            return False
        return not endpoint.asks_caller_only or endpoint.may(actor)

    def _run(
        self,
        endpoint: Endpoint,
        actor: Actor,
        origin: Origin,
        path: dict[str, str],
        sent: dict[str, Any],
        params: Any,
        known: Finds | None,
        prepared: tuple[Any, ...],
        db: Connection,
    ) -> Any:
        if endpoint.locks is not None:
            db.lock(endpoint.locks)
        call = Call(db, actor, path, origin, self._settings)
        return endpoint.handler(call, *subject_of(endpoint, call, known), *asked_of(endpoint, sent, params), *prepared)

    def _stage(
        self,
        endpoint: Endpoint,
        actor: Actor,
        origin: Origin,
        path: dict[str, str],
        sent: dict[str, Any],
        params: Any,
    ) -> Any:
        subject = self._database.read(
            lambda db: subject_of(endpoint, Call(db, actor, path, origin, self._settings)),
            ahead_of_change=endpoint.writes,
        )
        stage = Stage(self._database, actor, path, origin, self._settings)
        return endpoint.handler(stage, *subject, *asked_of(endpoint, sent, params))


def _content(result: Any) -> Any:
    return result.content if type(result) is Instead else result
