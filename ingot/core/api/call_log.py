"""Calls that changed something, as they are reported to the log of what tokens do."""

from collections.abc import Callable
from typing import NamedTuple

from ingot.core.access.actor import Actor


class CallOwner(NamedTuple):
    """The project or group in the path of a call."""

    kind: str
    """``projects`` or ``groups``; empty if the value is a full path in any case."""
    value: str
    """The id or the full path."""


class WritingCall(NamedTuple):
    """A successful call that wrote: an endpoint, a tool, a mutation or a push."""

    actor: Actor
    method: str
    route: str
    owner: CallOwner | None
    status: int
    address: str


CallLog = Callable[[WritingCall], None]


def owner_in_path(route: str, path: dict[str, str]) -> CallOwner | None:
    """Return the project or group that the path of a call begins with; None if it is about neither."""
    kind = route.split("/", 2)[1]
    return CallOwner(kind, path["id"]) if kind in ("projects", "groups") and "id" in path else None
