"""Table in which the modules of this package list their kinds of jobs, and their recurring jobs."""

from collections.abc import Callable
from typing import NamedTuple

from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.schedule import RecurringWork
from ingot.core.settings import Settings
from ingot.server.job_kinds.job_context import JobContext

MINUTELY, FREQUENTLY, HOURLY, DAILY = 60, 600, 3600, 86_400
"""Intervals in seconds."""
HandlerImport = Callable[[JobContext], JobHandler]
"""Function that imports a handler and returns it; its name is the kind, which the enqueuing module has as constant."""
WorkImport = Callable[[Settings], RecurringWork]
"""Function that imports what a recurring job does; its name identifies the recurring job to all workers."""


class RecurringEntry(NamedTuple):
    """Row of a recurring job."""

    every_seconds: int
    load: WorkImport
    is_needed: Callable[[Settings], bool]


class JobTable:
    """The kinds of jobs and the recurring jobs of one package."""

    def __init__(self) -> None:
        self.kinds: dict[str, HandlerImport] = {}
        self.seldom: set[str] = set()
        """Kinds that run seldom, and need modules that the others do not need."""
        self.recurring: list[RecurringEntry] = []

    def kind(self, function: HandlerImport) -> HandlerImport:
        """Register a kind of jobs."""
        self.kinds[function.__name__] = function
        return function

    def seldom_kind(self, function: HandlerImport) -> HandlerImport:
        """Register a kind of jobs that runs in a maintenance process."""
        self.seldom.add(function.__name__)
        return self.kind(function)

    def every(
        self, seconds: int, is_needed: Callable[[Settings], bool] = lambda _: True
    ) -> Callable[[WorkImport], WorkImport]:
        """Register a recurring job, which some settings make unnecessary."""

        def register(function: WorkImport) -> WorkImport:
            self.recurring.append(RecurringEntry(seconds, function, is_needed))
            return function

        return register
