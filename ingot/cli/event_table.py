"""The list of events and their subscribers that ``make events`` writes to docs/events.md."""

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ingot.core.events.bus import Event, collect_subscribers
from ingot.core.settings import Settings
from ingot.server.composition import list_subscriptions
from ingot.server.registry import all_endpoints

_OPENING = """# Events and their subscribers

`make events` writes this page from the declarations, and a test compares the two. An event is a fact in the past tense.
The package that owns it emits it in the transaction of the change. Its subscribers run at once, in the order of this
page and in the same transaction; an error in one of them rolls everything back. The order is that of
`list_subscriptions` in `ingot/server/composition.py`.
"""


def event_table() -> str:
    """Return the whole page."""
    all_endpoints()  # Imports the events without subscribers too.
    subscribers = collect_subscribers(each.value for each in list_subscriptions(Settings()))
    events = sorted(_events(Event), key=lambda event: (event.__name__, event.__module__))
    return "\n".join([_OPENING, *(line for event in events for line in _section(event, subscribers.get(event, ())))])


def _events(base: type[Event]) -> Iterator[type[Event]]:
    for event in base.__subclasses__():
        if event.__module__.startswith("ingot."):  # Tests declare events of their own.
            yield event
        yield from _events(event)


def _section(event: type[Event], subscribers: Any) -> Iterator[str]:
    yield f"## {event.__name__}\n"
    yield f"`{event.__module__}`: {_summary(event)}\n"
    for place, subscriber in enumerate(subscribers, 1):
        function = subscriber.func if isinstance(subscriber, partial) else subscriber
        yield f"{place}. `{function.__module__}.{function.__qualname__}`: {_summary(function)}"
    yield "" if subscribers else "No subscribers.\n"


def _summary(documented: Callable[..., Any]) -> str:
    return (inspect.getdoc(documented) or "").split("\n")[0]


if __name__ == "__main__":
    print(event_table(), end="")
