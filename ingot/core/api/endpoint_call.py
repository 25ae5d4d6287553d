"""One call of an endpoint, from HTTP or from a page: its state, and the steps that run it."""

from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from typing import Any

import msgspec

from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.rules import require
from ingot.core.api.paging import read_page
from ingot.core.api.ports import ClosedItems
from ingot.core.api.routes import Call, Endpoint, PartialLock, PrepareContext, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.http.request import Origin
from ingot.core.settings import Settings

SubjectCache = dict[Any, Any]
"""Subjects that finders have already returned, for several calls about one subject within one read."""


class EndpointCall(msgspec.Struct):
    """State of one call of an endpoint; each field is set by the step that determines it."""

    endpoint: Endpoint
    path: dict[str, str]
    origin: Origin
    sent: dict[str, Any] = {}
    actor: Actor = ANONYMOUS
    params: Any = None
    prepared: tuple[Any, ...] = ()
    """Result of the preparation before the transaction, if the endpoint has one."""
    undo: list[Callable[[], object]] = []
    """Undo of the preparation, called if the transaction fails."""
    known: SubjectCache | None = None
    ignored: list[str] = []
    """Names of sent parameters that have no meaning on this server."""

    def read_params(self) -> None:
        """Read the parameters of the request, if the endpoint has any."""
        reader = self.endpoint.reader_for(self.path)
        if reader is not None:
            self.params = reader.read(self.sent)
            if reader.struct.absent or reader.struct.names_unknown:
                self.ignored = reader.ignored(self.sent, _shown_fields(self.endpoint.returns))


@lru_cache(64)
def _shown_fields(returns: Any) -> frozenset[str]:
    """Return the names of the fields of a response."""
    if not (isinstance(returns, type) and issubclass(returns, msgspec.Struct)):
        return frozenset()
    return frozenset(field.encode_name for field in msgspec.structs.fields(returns))


class EndpointRunner:
    """Runs the steps of an endpoint: parameters, preparation, subject, permission, handler."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self.settings = settings

    def prepare(self, endpoint_call: EndpointCall) -> None:
        """Run the preparation of the endpoint before its transaction."""
        if endpoint_call.endpoint.prepare is not None:
            ahead = PrepareContext(
                self._database,
                self.settings,
                endpoint_call.actor,
                endpoint_call.path,
                endpoint_call.origin.ip,
                endpoint_call.undo,
            )
            endpoint_call.prepared = (endpoint_call.endpoint.prepare(ahead, endpoint_call.params),)

    def run(self, endpoint_call: EndpointCall, db: Connection) -> Any:
        """Run the handler within a unit of work and return its result."""
        endpoint = endpoint_call.endpoint
        call = self._call(endpoint_call, db)
        if endpoint.locks is not None:
            _lock(call, endpoint.locks, endpoint_call.params)
        result = endpoint.handler(
            call, *_authorized_subject(endpoint_call, call), *_arguments(endpoint_call), *endpoint_call.prepared
        )
        return db.ports[ClosedItems].omit(db, call.actor, result) if call.actor.closed_groups else result

    def stage(self, endpoint_call: EndpointCall) -> Any:
        """Run a staged handler, which opens its own units of work, and return its result."""
        endpoint = endpoint_call.endpoint
        subject = self._database.read(lambda db: self.subject(endpoint_call, db), ahead_of_change=endpoint.writes)
        stage = StagedCall(self._database, endpoint_call.actor, endpoint_call.path, endpoint_call.origin, self.settings)
        return endpoint.handler(stage, *subject, *_arguments(endpoint_call), *endpoint_call.prepared)

    def subject(self, endpoint_call: EndpointCall, db: Connection) -> list[Any]:
        """Find the subject of the path and check the permission; return a list with it, empty without a subject."""
        return _authorized_subject(endpoint_call, self._call(endpoint_call, db))

    def state(self, endpoint_call: EndpointCall, db: Connection) -> Hashable:
        """Return the state of the repository that the result depends on; None if it depends on none."""
        endpoint = endpoint_call.endpoint
        if endpoint.state is None:
            return None
        if endpoint_call.known is None:
            endpoint_call.known = {}  # The handler gets the same subject.
        (subject,) = self.subject(endpoint_call, db)
        return endpoint.state(self.settings, subject)

    def _call(self, endpoint_call: EndpointCall, db: Connection) -> Call:
        changes = endpoint_call.endpoint.writes and not endpoint_call.endpoint.on_scheduled
        return Call(db, endpoint_call.actor, endpoint_call.path, endpoint_call.origin, self.settings, changes=changes)


def known_subject(endpoint: Endpoint, path: dict[str, str], known: SubjectCache | None) -> tuple[Any, Any] | None:
    """Return the access and the subject that the endpoint's finder has returned for a path; None if it has not."""
    if not known or endpoint.on is None:
        return None
    found: tuple[Any, Any] | None = known.get(_subject_key(endpoint, path))
    return found


def _subject_key(endpoint: Endpoint, path: dict[str, str]) -> tuple[Any, ...]:
    return endpoint.on, *path.items()


def _authorized_subject(endpoint_call: EndpointCall, call: Call) -> list[Any]:
    endpoint, known = endpoint_call.endpoint, endpoint_call.known
    if endpoint.on is None:
        return []
    if known is None:
        access, subject = endpoint.on(call)
    else:
        key = _subject_key(endpoint, call.path)
        if key not in known:
            known[key] = endpoint.on(call)
        access, subject = known[key]
    call.access = access
    if not endpoint.checks_caller_only:
        require(endpoint.may(call.actor, access, subject))
    return [subject]


def _lock(call: Call, lock: str | PartialLock, params: Any) -> None:
    if isinstance(lock, str):
        call.db.lock(lock)
    elif lock.needs_all is not None and lock.needs_all(params):
        call.db.lock(lock.name)
    else:
        call.db.lock_parts(lock.name, partial(lock.parts, call, params))


def _arguments(endpoint_call: EndpointCall) -> list[Any]:
    """The parameters and the page, where the endpoint takes them."""
    params = [] if endpoint_call.params is None else [endpoint_call.params]
    return [*params, read_page(endpoint_call.sent)] if endpoint_call.endpoint.paged else params
