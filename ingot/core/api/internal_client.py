"""Internal client: pages call the API's endpoints in process, by their handlers, so that each rule is written once."""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.api.cached_responses import cached_views
from ingot.core.api.call_log import CallLog, WritingCall, owner_in_path
from ingot.core.api.endpoint_call import EndpointCall, EndpointRunner, SubjectCache, known_subject
from ingot.core.api.granular_permissions import within_permission
from ingot.core.api.rate_limits import LimitedRequest, RateLimits
from ingot.core.api.route_table import RouteTable
from ingot.core.api.routes import AlternateResponse, Endpoint, Handler
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Denied, Failure, NotFound, StorageFull, Unauthenticated, Unavailable
from ingot.core.http.request import Origin
from ingot.core.http.transfer_slots import caller_of
from ingot.core.offload import require_blocking_allowed
from ingot.core.settings import Settings

V = TypeVar("V")
S = TypeVar("S")
P = ParamSpec("P")
WorksOn = Callable[Concatenate[Any, S, P], Any]
"""A handler whose endpoint finds the subject ``S`` by its path."""
_PARAMETER = re.compile(r":(\w+)")


class InternalCaller(NamedTuple):
    """The actor of an internal call, and where the request came from."""

    actor: Actor
    origin: Origin
    known: SubjectCache | None = None
    """Subjects that finders have found within one read, which does not change meanwhile."""
    reads_count: bool = False
    """Whether the limits of routes count reads too, because a program makes the calls."""


class Target(NamedTuple):
    """The path of an internal call."""

    path: dict[str, str]
    """Values of its parameters by name."""
    under: str = ""
    """Its first word: needed where a handler serves projects and groups, whose paths have the same parameters."""


class EndpointIndex:
    """Endpoints by handler and, where one handler serves several paths, by the names of the path's parameters."""

    def __init__(self, table: RouteTable[Endpoint]) -> None:
        self._table = table
        self._indexed: set[str] = set()
        self._lock = Lock()
        self._endpoints: dict[tuple[Handler, str, frozenset[str]], list[Endpoint]] = {}
        self._found: dict[tuple[Handler, str, tuple[str, ...]], Endpoint] = {}
        """Results by the names in the order of the caller: a page makes 20 calls, and a set takes longer to compare."""

    def find(self, handler: Handler, target: Target) -> Endpoint:
        """Return the endpoint that the handler serves at this path; raise LookupError unless there is exactly one."""
        names = handler, target.under, tuple(target.path)
        found = self._found.get(names)
        if found is None:
            found = self._found[names] = self._find(handler, target)
        return found

    def _find(self, handler: Handler, target: Target) -> Endpoint:
        key = handler, target.under, frozenset(target.path)
        served = self._endpoints.get(key)
        if served is None:
            self._index_modules()
            served = self._endpoints.get(key, [])
        if len(served) != 1:
            name, parameters = f"{handler.__module__}.{handler.__qualname__}", ", ".join(sorted(target.path))
            raise LookupError(f"{len(served)} paths of {name} have the parameters ({parameters}) under /{target.under}")
        return served[0]

    def _index_modules(self) -> None:
        """Add the endpoints of the modules that have been imported, among which is that of any handler."""
        with self._lock:
            for module in self._table.imported_modules() - self._indexed:
                self._indexed.add(module)
                for endpoint in self._table.declared_by(module):
                    names = frozenset(_PARAMETER.findall(endpoint.path))
                    for under in ("", endpoint.path.split("/")[1]):
                        self._endpoints.setdefault((endpoint.handler, under, names), []).append(endpoint)


class InternalClient:
    """Calls endpoints by their handlers; returns views, listings and files without encoding them.

    Credentials that an endpoint demands beyond its permission are not required: pages show public projects to everyone.
    """

    def __init__(
        self,
        table: RouteTable[Endpoint],
        database: Database,
        settings: Settings,
        limits: RateLimits | None = None,
        call_log: CallLog | None = None,
    ) -> None:
        self.table = table
        self._limits = limits
        self._call_log = call_log
        self._index = EndpointIndex(table)
        self._database = database
        self._runner = EndpointRunner(database, settings)

    def call(self, caller: InternalCaller, handler: Callable[..., V], target: Target, params: dict[str, Any]) -> V:
        """Call the endpoint and return its response; raise the errors that its handler raises."""
        endpoint = self._index.find(handler, target)
        if caller.actor.restrictions.granular_scopes is not None:
            caller = caller._replace(actor=within_permission(caller.actor, endpoint))
        if endpoint.checks_caller_only and not endpoint.may(caller.actor):
            if not caller.actor.known:
                raise Unauthenticated
            require(False)
        if any("\0" in value for value in target.path.values()):
            raise NotFound(message="404 Not Found")  # As the router answers; PostgreSQL has no such text.
        call = EndpointCall(endpoint, target.path, caller.origin, params, caller.actor)
        call.read_params()
        if endpoint.heavy or endpoint.staged:
            require_blocking_allowed()
        if self._limits is not None and (endpoint.writes or caller.reads_count):
            transfers = caller_of(caller.actor, caller.origin.ip)
            limited = LimitedRequest(caller.actor, transfers, endpoint.path, target.path)
            self._limits.take_inside(endpoint.method, endpoint.path, limited)
        response: V = self._run(call, caller)
        if endpoint.writes and self._call_log is not None:
            status = response.status if isinstance(response, AlternateResponse) else endpoint.status
            if status < 400:
                owner = owner_in_path(endpoint.path, target.path)
                ip = caller.origin.ip
                self._call_log(WritingCall(caller.actor, endpoint.method, endpoint.path, owner, status, ip))
        return response

    def find(self, caller: InternalCaller, handler: WorksOn[S, P], target: Target) -> S:
        """Return the subject that the endpoint finds by its path; raise NotFound or Denied as a call would."""
        subject: S = self._subject(self._index.find(handler, target), caller, target)[0]
        return subject

    def allows(self, caller: InternalCaller, handler: Handler, target: Target) -> bool:
        """Return whether the endpoint's permission allows the call, so that a page may offer it."""
        endpoint = self._index.find(handler, target)
        if not caller.actor.known and endpoint.writes:
            return False
        if endpoint.checks_caller_only and not endpoint.may(caller.actor):
            return False
        try:
            known = known_subject(endpoint, target.path, caller.known)
            if known is not None:
                return endpoint.checks_caller_only or endpoint.may(caller.actor, *known)
            self._subject(endpoint, caller, target)
        except (NotFound, Denied):
            return False
        return True

    def _subject(self, endpoint: Endpoint, caller: InternalCaller, target: Target) -> list[Any]:
        call = EndpointCall(endpoint, target.path, caller.origin, actor=caller.actor, known=caller.known)
        return self._database.read(partial(self._runner.subject, call))

    def _run(self, endpoint_call: EndpointCall, caller: InternalCaller) -> Any:
        if endpoint_call.endpoint.staged:
            return self._runner.stage(endpoint_call)
        if not endpoint_call.endpoint.writes:
            endpoint_call.known = caller.known
            return self._database.read(partial(self._read, endpoint_call))
        self._runner.prepare(endpoint_call)
        try:
            return self._database.write(partial(self._runner.run, endpoint_call))
        except (Failure, StorageFull):
            for step in endpoint_call.undo:
                with suppress(Unavailable):
                    step()
            raise

    def _read(self, endpoint_call: EndpointCall, db: Connection) -> Any:
        read = partial(self._runner.run, endpoint_call, db)
        if not endpoint_call.endpoint.cached:
            return read()
        return cached_views(db, endpoint_call, self._runner.state(endpoint_call, db), read)
