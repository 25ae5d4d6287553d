"""``emit`` and ``Subscriptions``; ``server/composition.py`` lists the subscriptions of all packages in their order."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from ingot.core.db.connection import Connection, Subscribers
from ingot.core.late_imports import Late
from ingot.core.offload import require_no_transaction

Subscriber = Callable[[Connection, Any], None]


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
        self.entries: list[tuple[type[Event], Subscriber]] = []

    def on(self, event: type[E]) -> Callable[[Callable[[Connection, E], None]], Callable[[Connection, E], None]]:
        """Register a function as subscriber of an event; it must be idempotent."""

        def subscribe(function: Callable[[Connection, E], None]) -> Callable[[Connection, E], None]:
            self.entries.append((event, function))
            return function

        return subscribe


class LateSubscriptions(Late[Subscriptions]):
    """The subscriptions of one package, whose modules are imported when one of its events is first emitted."""

    def __init__(self, name: str, load: Callable[[], Subscriptions]) -> None:
        super().__init__(load)
        self.name = name
        """The name in the index of subscriptions."""


def event_name(event: type) -> str:
    """Return the name of an event in the index of subscribers."""
    return f"{event.__module__}:{event.__qualname__}"


class DeferredSubscribers(Mapping[type, Sequence[Subscriber]]):
    """Subscribers by event; the modules of those of an event are imported when it is first emitted.

    ``index`` contains the names of the subscriptions to an event, by the event's name. For an event that it does
    not contain, all subscriptions are read.
    """

    def __init__(self, index: Mapping[str, Sequence[str]]) -> None:
        self.subscriptions: Sequence[LateSubscriptions] = ()
        """All subscriptions in their order. Set after construction, because some need the database."""
        self._index = index
        self._subscribers: dict[type, Sequence[Subscriber]] = {}

    def __getitem__(self, event: type) -> Sequence[Subscriber]:
        """Return the subscribers of an event; import their modules if necessary."""
        subscribers = self._subscribers.get(event)
        if subscribers is None:
            require_no_transaction(lambda: self[event])
            subscribers = self._subscribers[event] = self._subscribers_of(event)
        return subscribers

    def __iter__(self) -> Iterator[type]:
        """Iterate over all events that have subscribers."""
        return iter(collect_subscribers(each.value for each in self.subscriptions))

    def __len__(self) -> int:
        """Return the number of events that have subscribers."""
        return len(list(iter(self)))

    def _subscribers_of(self, event: type) -> Sequence[Subscriber]:
        names = self._index.get(event_name(event))
        packages = [each for each in self.subscriptions if names is None or each.name in names]
        return collect_subscribers(package.value for package in packages).get(event, ())


def collect_subscribers(subscriptions: Iterable[Subscriptions]) -> Subscribers:
    """Group the subscriptions of all packages by event, preserving their order."""
    subscribers: defaultdict[type, list[Subscriber]] = defaultdict(list)
    for package in subscriptions:
        for event, function in package.entries:
            subscribers[event].append(function)
    return dict(subscribers)
