"""``emit`` and ``Subscriptions``; ``app.py`` collects the subscribers of each event once at startup."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from ingot.core.db.connection import Connection, Subscribers


class Event(msgspec.Struct, frozen=True):
    """Base class of events: facts, named in the past tense."""


E = TypeVar("E", bound=Event)


def emit(db: Connection, event: Event) -> None:
    """Call every subscriber of an event in the current transaction; an exception of one rolls it back."""
    for subscriber in db.subscribers.get(type(event), ()):
        subscriber(db, event)


class Subscriptions:
    """The subscriptions of one package."""

    def __init__(self) -> None:
        self.entries: list[tuple[type[Event], Callable[[Connection, Any], None]]] = []

    def on(self, event: type[E]) -> Callable[[Callable[[Connection, E], None]], Callable[[Connection, E], None]]:
        """Register a function as subscriber of an event; it must be idempotent."""

        def subscribe(function: Callable[[Connection, E], None]) -> Callable[[Connection, E], None]:
            self.entries.append((event, function))
            return function

        return subscribe


def collect_subscribers(subscriptions: Iterable[Subscriptions]) -> Subscribers:
    """Group the subscriptions of all packages by event, preserving their order."""
    subscribers: defaultdict[type, list[Callable[[Connection, Any], None]]] = defaultdict(list)
    for package in subscriptions:
        for event, function in package.entries:
            subscribers[event].append(function)
    return dict(subscribers)
