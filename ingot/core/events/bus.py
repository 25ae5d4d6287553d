"""``emit`` and ``Subscriptions``; which functions hear of an event is decided once, in ``app.py``."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from ingot.core.db.connection import Connection, Subscribers


class Event(msgspec.Struct, frozen=True):
    """Base of the facts that rooms announce, named in the past tense."""


E = TypeVar("E", bound=Event)


def emit(db: Connection, event: Event) -> None:
    """Tell every subscriber, now and in this transaction; an error of theirs undoes it all."""
    for subscriber in db.subscribers.get(type(event), ()):
        subscriber(db, event)


class Subscriptions:
    """What one room does when others act."""

    def __init__(self) -> None:
        self.entries: list[tuple[type[Event], Callable[[Connection, Any], None]]] = []

    def on(self, event: type[E]) -> Callable[[Callable[[Connection, E], None]], Callable[[Connection, E], None]]:
        """Let a function hear of an event; it must be safe to run twice."""

        def subscribe(function: Callable[[Connection, E], None]) -> Callable[[Connection, E], None]:
            self.entries.append((event, function))
            return function

        return subscribe


def collect_subscribers(rooms: Iterable[Subscriptions]) -> Subscribers:
    """All rooms' subscriptions by event, in the order of the rooms."""
    gathered: defaultdict[type, list[Callable[[Connection, Any], None]]] = defaultdict(list)
    for room in rooms:
        for event, function in room.entries:
            gathered[event].append(function)
    return dict(gathered)
