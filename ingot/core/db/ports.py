"""Ports: typed queries that a package declares and a higher one implements; ``server/composition.py`` fills them.

See docs/subsystems/ports.md.
"""

from typing import Any, TypeVar

from ingot.core.late_imports import Deferred

P = TypeVar("P")


class Ports:
    """The filled ports of an instance, by class; each is built when it is first used.

    A port is a frozen dataclass of functions, declared in the ``ports.py`` of the package that calls them, for example
    ``db.ports[IssueMergeRequests].list_closing_merge_requests(db, ...)``.
    """

    def __init__(self, *deferred: Deferred) -> None:
        self._deferred = {port.reference: port for port in deferred}
        self._filled: dict[type, Any] = {}
        if len(self._deferred) != len(deferred):
            raise TypeError("A port is filled twice")

    def add(self, *deferred: Deferred) -> None:
        """Fill ports that need more than the settings, before they are used."""
        self._deferred |= {port.reference: port for port in deferred}

    def __getitem__(self, port: type[P]) -> P:
        """Return the port as ``server/composition.py`` filled it."""
        filled: P | None = self._filled.get(port)
        if filled is None:
            filled = self._filled[port] = self._deferred[f"{port.__module__}:{port.__qualname__}"].value
        return filled
