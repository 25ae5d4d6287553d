"""A call of an endpoint, from whichever door it comes: what is known of it, and how it is run."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.access.actor import NOBODY, Actor
from ingot.access.rules import require
from ingot.api.paging import read_page
from ingot.api.routes import Ahead, Call, Endpoint, Stage
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.http.request import Origin
from ingot.settings import Settings

Finds = dict[Any, Any]
"""What finders found already, for who asks several endpoints about the same within one read."""


class Asked(msgspec.Struct):
    """What is known of a call, from the moment on when it is."""

    endpoint: Endpoint
    path: dict[str, str]
    origin: Origin
    sent: dict[str, Any] = {}
    actor: Actor = NOBODY
    params: Any = None
    prepared: tuple[Any, ...] = ()
    """What the work ahead of the transaction gave, where there is some."""
    undo: list[Callable[[], object]] = []
    """What to do where the transaction then refuses the call."""
    known: Finds | None = None

    def read_params(self) -> None:
        """Take the parameters from what was sent, where the endpoint has some."""
        reader = self.endpoint.reader_for(self.path)
        if reader is not None:
            self.params = reader.read(self.sent)


class Runner:
    """Hands an endpoint the subject that its path names, once its rule allows it, and what was asked."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    def prepare(self, asked: Asked) -> None:
        """Do what the endpoint does ahead of its transaction."""
        if asked.endpoint.prepare is not None:
            ahead = Ahead(self._database, self._settings, asked.actor, asked.path, asked.origin.ip, asked.undo)
            asked.prepared = (asked.endpoint.prepare(ahead, asked.params),)

    def run(self, asked: Asked, db: Connection) -> Any:
        """What the handler gives within a unit of work."""
        endpoint = asked.endpoint
        if endpoint.locks is not None:
            db.lock(endpoint.locks)
        call = self._call(asked, db)
        return endpoint.handler(call, *_subject(asked, call), *_arguments(asked), *asked.prepared)

    def stage(self, asked: Asked) -> Any:
        """What a handler gives that opens units of work itself."""
        endpoint = asked.endpoint
        subject = self._database.read(lambda db: self.subject(asked, db), ahead_of_change=endpoint.writes)
        stage = Stage(self._database, asked.actor, asked.path, asked.origin, self._settings)
        return endpoint.handler(stage, *subject, *_arguments(asked))

    def subject(self, asked: Asked, db: Connection) -> list[Any]:
        """What the path names, where it names something, and the caller may do this to it."""
        return _subject(asked, self._call(asked, db))

    def _call(self, asked: Asked, db: Connection) -> Call:
        return Call(db, asked.actor, asked.path, asked.origin, self._settings)


def _subject(asked: Asked, call: Call) -> list[Any]:
    endpoint, known = asked.endpoint, asked.known
    if endpoint.on is None:
        return []
    if known is None:
        here, subject = endpoint.on(call)
    else:
        key = endpoint.on, *call.path.items()
        if key not in known:
            known[key] = endpoint.on(call)
        here, subject = known[key]
    if not endpoint.asks_caller_only:
        require(endpoint.may(call.actor, here, subject))
    return [subject]


def _arguments(asked: Asked) -> list[Any]:
    """The parameters and the page, where the endpoint takes them."""
    params = [] if asked.params is None else [asked.params]
    return [*params, read_page(asked.sent)] if asked.endpoint.paged else params
