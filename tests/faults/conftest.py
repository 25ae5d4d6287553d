"""Fixtures shared with ``tests/server``."""

from tests.server.conftest import begun, empty_database, place, server, stopped

__all__ = ["begun", "empty_database", "place", "server", "stopped"]
