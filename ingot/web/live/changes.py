"""Topics that any process has announced, passed on to the streams of this web worker."""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from contextlib import closing
from time import time

from ingot.core.db.announcements import EVERYTHING
from ingot.core.db.database import Database
from ingot.core.db.monitor_thread import MonitorThread

_WAIT_SECONDS = 60.0
_REMEMBERED_SECONDS = 30.0
_MAX_REMEMBERED = 10_000
_SKEW_SECONDS = 0.5
"""Time between the first query of a page and its rendering, and difference between the clocks of two machines."""


class ChangeMonitor(MonitorThread):
    """Thread that listens for topics; it starts with the first stream."""

    thread_name = "change monitor"

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._changed_at: OrderedDict[str, float] = OrderedDict()
        self._complete_since = float("inf")
        """Time since which all changes are known."""

    def add(self, topics: Iterable[str], event: asyncio.Event) -> None:
        """Set the event whenever one of the topics is announced; called on the event loop."""
        for topic in topics:
            self._waiting[topic].add(event)

    def discard(self, topics: Iterable[str], event: asyncio.Event) -> None:
        """Set the event no more."""
        for topic in topics:
            events = self._waiting[topic]
            events.discard(event)
            if not events:
                del self._waiting[topic]

    def count_viewers(self, topics: Iterable[str]) -> int:
        """Return the number of streams that a change of all of these topics reaches, at most."""
        return max((len(self._waiting.get(topic, ())) for topic in topics), default=0)

    def wake_all(self) -> None:
        """Set the events of all streams."""
        for events in self._waiting.values():
            for event in events:
                event.set()

    def may_have_changed(self, topics: Iterable[str], since: float) -> bool:
        """Return whether one of the topics was announced after a time, as far as this is known."""
        since -= _SKEW_SECONDS
        return since < self._complete_since or any(self._changed_at.get(topic, 0.0) >= since for topic in topics)

    def _run(self) -> None:
        with closing(self._database.engine.listen()) as listener:
            self._call_on_loop(self._note_start)
            while not self._is_stopped():
                topics = listener.wait(_WAIT_SECONDS, [self._stop])
                if topics:
                    self._call_on_loop(self._publish, topics)

    def _note_start(self) -> None:
        self._complete_since = time()

    def _publish(self, topics: list[str]) -> None:
        now = time()
        if EVERYTHING in topics:
            self._complete_since = now
            self.wake_all()
            return
        for topic in topics:
            for event in self._waiting.get(topic, ()):
                event.set()
            self._changed_at[topic] = now
            self._changed_at.move_to_end(topic)
        self._forget_old(now)

    def _forget_old(self, now: float) -> None:
        while self._changed_at:
            topic, changed_at = next(iter(self._changed_at.items()))
            if changed_at > now - _REMEMBERED_SECONDS and len(self._changed_at) <= _MAX_REMEMBERED:
                return
            del self._changed_at[topic]
            self._complete_since = max(self._complete_since, changed_at)
