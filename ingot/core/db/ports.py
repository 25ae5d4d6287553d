"""Ports: typed queries that a package declares and a higher one implements; ``server/ports`` fills them.

See docs/subsystems/ports.md.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from ingot.core.late_imports import Late
from ingot.core.settings import Settings

P = TypeVar("P")


class PortFillers:
    """Functions that import what answers the queries of ports, and return the filled ports."""

    def __init__(self) -> None:
        self.by_port: dict[str, Callable[[Settings], Any]] = {}
        """The functions by the name of the class that they return."""

    def fill(self, function: Callable[[Settings], P]) -> Callable[[Settings], P]:
        """Register a function; its return annotation is the name of the port, whose module is not imported yet."""
        name = function.__annotations__["return"]
        if not isinstance(name, str) or name in self.by_port:
            raise TypeError(f"{name} must be the quoted name of a port that no other function fills")
        self.by_port[name] = function
        return function


class Ports:
    """The filled ports of an instance, by class; each is built when it is first used.

    A port is a frozen dataclass of functions, declared in the ``ports.py`` of the package that calls them, for example
    ``db.ports[IssueMergeRequests].list_closing_merge_requests(db, ...)``.
    """

    def __init__(self, settings: Settings, fillers: Iterable[PortFillers] = ()) -> None:
        self._settings = settings
        self._late: dict[str, Late[Any]] = {}
        self._filled: dict[type, Any] = {}
        for each in fillers:
            if not self._late.keys().isdisjoint(each.by_port):
                raise TypeError("A port is filled twice")
            self.add(each)

    def add(self, fillers: PortFillers) -> None:
        """Fill ports that need more than the settings, before they are used."""
        for name, function in fillers.by_port.items():
            self._late[name] = Late(partial(function, self._settings))

    def __getitem__(self, port: type[P]) -> P:
        """Return the port as ``server/ports`` filled it."""
        filled: P | None = self._filled.get(port)
        if filled is None:
            filled = self._filled[port] = self._late[port.__name__].value
        return filled
