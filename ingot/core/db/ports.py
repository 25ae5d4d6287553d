"""Ports: typed queries that a package declares and a higher package implements; ``app.py`` fills them."""

from typing import Any, TypeVar

P = TypeVar("P")


class Ports:
    """The filled ports of an instance, by class.

    A port is a frozen dataclass of functions, declared in the ``ports.py`` of the package that calls them, for example
    ``db.ports[IssueMergeRequests].list_closing_merge_requests(db, ...)``.
    """

    def __init__(self, *filled: object) -> None:
        self._filled: dict[type, Any] = {type(port): port for port in filled}
        if len(self._filled) != len(filled):
            raise TypeError("A port is filled twice")

    def __getitem__(self, port: type[P]) -> P:
        """Return the port as ``app.py`` filled it."""
        filled: P = self._filled[port]
        return filled
