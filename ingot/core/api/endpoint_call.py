"""A call of an endpoint, from whichever door it comes: what is known of it, and how it is run."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.rules import require
from ingot.core.api.paging import read_page
from ingot.core.api.routes import Call, Endpoint, PrepareContext, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.http.request import Origin
from ingot.settings import Settings

SubjectCache = dict[Any, Any]
"""What finders found already, for who asks several endpoints about the same within one read."""


class EndpointCall(msgspec.Struct):
    """What is known of a call, from the moment on when it is."""

    endpoint: Endpoint
    path: dict[str, str]
    origin: Origin
    sent: dict[str, Any] = {}
    actor: Actor = ANONYMOUS
    params: Any = None
    prepared: tuple[Any, ...] = ()
    """What the work ahead of the transaction gave, where there is some."""
    undo: list[Callable[[], object]] = []
    """What to do where the transaction then refuses the call."""
    known: SubjectCache | None = None

    def read_params(self) -> None:
        """Take the parameters from what was sent, where the endpoint has some."""
        reader = self.endpoint.reader_for(self.path)
        if reader is not None:
            self.params = reader.read(self.sent)


class EndpointRunner:
    """Hands an endpoint the subject that its path names, once its rule allows it, and what was asked."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    def prepare(self, endpoint_call: EndpointCall) -> None:
        """Do what the endpoint does ahead of its transaction."""
        if endpoint_call.endpoint.prepare is not None:
            ahead = PrepareContext(
                self._database,
                self._settings,
                endpoint_call.actor,
                endpoint_call.path,
                endpoint_call.origin.ip,
                endpoint_call.undo,
            )
            endpoint_call.prepared = (endpoint_call.endpoint.prepare(ahead, endpoint_call.params),)

    def run(self, endpoint_call: EndpointCall, db: Connection) -> Any:
        """What the handler gives within a unit of work."""
        endpoint = endpoint_call.endpoint
        if endpoint.locks is not None:
            db.lock(endpoint.locks)
        call = self._call(endpoint_call, db)
        return endpoint.handler(
            call, *_authorized_subject(endpoint_call, call), *_arguments(endpoint_call), *endpoint_call.prepared
        )

    def stage(self, endpoint_call: EndpointCall) -> Any:
        """What a handler gives that opens units of work itself."""
        endpoint = endpoint_call.endpoint
        subject = self._database.read(lambda db: self.subject(endpoint_call, db), ahead_of_change=endpoint.writes)
        stage = StagedCall(
            self._database, endpoint_call.actor, endpoint_call.path, endpoint_call.origin, self._settings
        )
        return endpoint.handler(stage, *subject, *_arguments(endpoint_call))

    def subject(self, endpoint_call: EndpointCall, db: Connection) -> list[Any]:
        """What the path names, where it names something, and the caller may do this to it."""
        return _authorized_subject(endpoint_call, self._call(endpoint_call, db))

    def _call(self, endpoint_call: EndpointCall, db: Connection) -> Call:
        return Call(db, endpoint_call.actor, endpoint_call.path, endpoint_call.origin, self._settings)


def _authorized_subject(endpoint_call: EndpointCall, call: Call) -> list[Any]:
    endpoint, known = endpoint_call.endpoint, endpoint_call.known
    if endpoint.on is None:
        return []
    if known is None:
        access, subject = endpoint.on(call)
    else:
        key = endpoint.on, *call.path.items()
        if key not in known:
            known[key] = endpoint.on(call)
        access, subject = known[key]
    if not endpoint.checks_caller_only:
        require(endpoint.may(call.actor, access, subject))
    return [subject]


def _arguments(endpoint_call: EndpointCall) -> list[Any]:
    """The parameters and the page, where the endpoint takes them."""
    params = [] if endpoint_call.params is None else [endpoint_call.params]
    return [*params, read_page(endpoint_call.sent)] if endpoint_call.endpoint.paged else params
