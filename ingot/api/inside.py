"""Calls from within: pages ask the API's own endpoints, so that nothing is decided, checked or done in two ways."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

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
        self._settings = settings

    def call(self, caller: Caller, method: str, route: str, path: dict[str, str], sent: dict[str, Any]) -> Any:
        """What the endpoint gives; refusals are raised as its handler raises them."""
        endpoint = self._endpoints[method, route]
        if endpoint.asks_caller_only and not endpoint.may(caller.actor):
            if not caller.actor.known:
                raise Unauthenticated
            require(False)
        reader = endpoint.reader_for(path)
        params = reader.read(sent) if reader else None
        if endpoint.heavy or endpoint.staged:
            expect_a_wait()
        asked = asked_of(endpoint, sent, params)
        if endpoint.staged:
            return _content(self._stage(endpoint, caller, path, asked))
        if not endpoint.writes:
            return _content(self._database.read(partial(self._run, endpoint, caller, path, asked)))
        undo: list[Callable[[], object]] = []
        if endpoint.prepare is not None:
            ahead = Ahead(self._database, self._settings, caller.actor, path, caller.origin.ip, undo)
            asked = [*asked, endpoint.prepare(ahead, params)]
        try:
            fresh = caller._replace(known=None)
            return _content(self._database.write(partial(self._run, endpoint, fresh, path, asked)))
        except Failure:
            for step in undo:
                with suppress(Unavailable):
                    step()
            raise

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
        return self._database.read(lambda db: subject_of(endpoint, self._call(db, caller, path), caller.known))

    def _call(self, db: Connection, caller: Caller, path: dict[str, str]) -> Call:
        return Call(db, caller.actor, path, caller.origin, self._settings)

    def _run(self, endpoint: Endpoint, caller: Caller, path: dict[str, str], asked: list[Any], db: Connection) -> Any:
        if endpoint.locks is not None:
            db.lock(endpoint.locks)
        call = self._call(db, caller, path)
        return endpoint.handler(call, *subject_of(endpoint, call, caller.known), *asked)

    def _stage(self, endpoint: Endpoint, caller: Caller, path: dict[str, str], asked: list[Any]) -> Any:
        subject = self._database.read(
            lambda db: subject_of(endpoint, self._call(db, caller, path)), ahead_of_change=endpoint.writes
        )
        stage = Stage(self._database, caller.actor, path, caller.origin, self._settings)
        return endpoint.handler(stage, *subject, *asked)


def _content(result: Any) -> Any:
    return result.content if type(result) is Instead else result
