"""Imports, waiting and computations within write transactions, for whose locks others wait, and reads on event loops.

Every transaction of the test process is observed. An ``import`` statement of the product that runs in one is a finding,
whether the module was imported before or not, so the order of the tests does not matter. So is a transaction that takes
more than ``MAX_COMPUTATION`` of processor time, without that of the database's driver, of the compilation of statements
and of the garbage collector, which depend on what ran before.

A read on an event loop must be able to move to a thread (``Database.read_async``): a statement that delays the loop is
ended, and the request would fail.
"""

import builtins
import gc
import sys
import threading
from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import Callable, Iterable
from functools import partial, wraps
from time import thread_time
from typing import Any

from ingot.core import late_imports
from ingot.core.api.endpoint_call import EndpointCall
from ingot.core.db.compiled_statements import StatementCache
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.stalls import on_event_loop
from ingot.core.offload import TransactionInterrupted, WouldBlock, require_blocking_allowed
from tests.statements import discount, executed

WAITING_EVENTS = frozenset(
    ["os.fork", "os.posix_spawn", "subprocess.Popen", "socket.connect", "socket.getaddrinfo", "time.sleep"]
)
"""Audit events of Python's library."""
ALLOWED_MODULES = frozenset(["re", "typing", *sys.builtin_module_names])
"""Modules that functions written in C import on each call: ``time`` for ``strftime``, ``typing`` on Python 3.13."""
EXCEPTIONS = {
    "ingot.server.app._database_state.<locals>.<lambda> reads on an event loop": "SQLite answers, or it failed",
}
"""Findings that are right as they are, with the reason."""
MAX_COMPUTATION = 0.05
"""Seconds of processor time on an idle machine."""
MAX_STEPS = 100
"""The same as a number of ``_reference_step``: a transaction that exceeds one limit only ran on a slower machine."""
_DRIVER_CALLS = ("_execute", "_execute_later", "_run_many", "flush")


class _CurrentTransaction(threading.local):
    name: str | None = None
    required: frozenset[str] = frozenset()
    """Modules that the transaction has named in ``require_modules``."""
    began = 0.0
    """Processor time of the thread when the transaction began, later by what does not count."""
    uncounted_since: float | None = None
    """Processor time when something began that does not count."""
    collects_garbage = False

    def start_uncounted(self) -> bool:
        """Stop counting; return whether it was counting."""
        if self.name is None or self.uncounted_since is not None:
            return False
        self.uncounted_since = thread_time()
        return True

    def end_uncounted(self) -> None:
        """Continue to count."""
        if self.uncounted_since is not None:
            self.began += thread_time() - self.uncounted_since
        self.uncounted_since = None


class _ObservedModules(set[str]):
    """Stands in for the set of required modules, in order to observe each ``require_modules``."""

    def __init__(self, names: Iterable[str], current: _CurrentTransaction) -> None:
        super().__init__(names)
        self._current = current

    def issuperset(self, names: Iterable[Any]) -> bool:
        names = frozenset(names)
        self._current.required |= names
        return super().issuperset(names)


class TransactionRecorder:
    """Record of what the transactions of this process do while they hold locks."""

    def __init__(self) -> None:
        self.report: Callable[[str], object] = self._add
        self._findings: set[str] = set()
        self._current = _CurrentTransaction()
        self.browser_loop: AbstractEventLoop | None = None
        """Event loop of Playwright, in whose thread tests run background jobs; it serves no requests."""

    def install(self) -> None:
        """Observe the transactions of all databases from now on."""
        transact, import_module = Database._transact, builtins.__import__
        read = Database.read

        def observed_transaction(database: Database, writer: Any, work: Callable[[Connection], Any]) -> Any:
            before = executed(database)
            try:
                return transact(database, writer, partial(self._observe, work))
            except TransactionInterrupted:
                discount(database, before)
                raise

        def observed_import(name: str, *arguments: Any, **options: Any) -> Any:
            if self._current.name is not None and name not in ALLOWED_MODULES | self._current.required:
                importer = arguments[0]["__name__"] if arguments and arguments[0] else ""
                if importer.startswith("ingot."):
                    self.note(f"imports {name} in {importer}")
            return import_module(name, *arguments, **options)

        def observed_read(database: Database, work: Callable[[Connection], Any], **options: Any) -> Any:
            delays = on_event_loop() and get_running_loop() is not self.browser_loop and not _moves_to_thread()
            if delays and not work_name(work).startswith("tests."):
                self.report(f"{work_name(work)} reads on an event loop")
            return read(database, work, **options)

        Database.read = observed_read  # type: ignore[method-assign,assignment] # Stands in for it.
        Database._transact = observed_transaction  # type: ignore[method-assign,assignment] # Stands in for it.
        builtins.__import__ = observed_import
        late_imports.required_modules = _ObservedModules(late_imports.required_modules, self._current)
        sys.addaudithook(self._audit)
        for name in _DRIVER_CALLS:
            setattr(Connection, name, self._uncounted(getattr(Connection, name)))
        StatementCache._compile = self._uncounted(StatementCache._compile)  # type: ignore[method-assign] # Calls it.
        gc.callbacks.append(self._collect_garbage)

    def note(self, event: str) -> None:
        """Record an event if it happens in a transaction."""
        name = self._current.name
        if name is not None:
            self.report(f"{name} {event}")

    def take_findings(self) -> list[str]:
        """Return what was found since the last call."""
        findings = sorted(self._findings)
        self._findings.clear()
        return findings

    def _add(self, finding: str) -> None:
        if finding not in EXCEPTIONS:
            self._findings.add(finding)

    def _audit(self, event: str, _: tuple[Any, ...]) -> None:
        if event in WAITING_EVENTS:
            self.note(f"calls {event}")

    def _uncounted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Let the processor time of a function not count."""

        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            stopped = self._current.start_uncounted()
            try:
                return function(*arguments, **options)
            finally:
                if stopped:
                    self._current.end_uncounted()

        return call

    def _collect_garbage(self, phase: str, _: dict[str, int]) -> None:
        current = self._current
        if phase == "start":
            current.collects_garbage = current.start_uncounted()
        elif current.collects_garbage:
            current.end_uncounted()

    def _observe(self, work: Callable[[Connection], Any], db: Connection) -> Any:
        current = self._current
        current.name, current.required, current.began = work_name(work), frozenset(), thread_time()
        try:
            result = work(db)
            db.work_before_commit = {name: partial(self._observe, step) for name, step in db.work_before_commit.items()}
            return result
        finally:
            seconds = thread_time() - current.began
            # Functions of tests may compute: they fill the database, for example with random texts.
            is_product = not current.name.startswith("tests.")
            if (
                is_product
                and seconds > MAX_COMPUTATION
                and seconds > MAX_STEPS * max(_reference_step() for _ in range(3))
            ):
                self.note("computes for too long")
            current.name = None


def _moves_to_thread() -> bool:
    """Return whether work that would block this thread is repeated in another one."""
    try:
        require_blocking_allowed()
    except WouldBlock:
        return True
    return False


def _reference_step() -> float:
    """Return the processor time of a computation that takes half a millisecond on the machine that chose the limit."""
    began, total = thread_time(), 0
    for number in range(20_000):
        total += number & 7
    return thread_time() - began


def work_name(work: Any) -> str:
    """Return the route of the work of a transaction, or the name of its function."""
    while isinstance(work, partial):
        for argument in work.args:
            if isinstance(argument, EndpointCall):
                return f"{argument.endpoint.method} {argument.endpoint.path}"
        work = work.func
    return f"{getattr(work, '__module__', '')}.{getattr(work, '__qualname__', type(work).__qualname__)}"


RECORDER = TransactionRecorder()
