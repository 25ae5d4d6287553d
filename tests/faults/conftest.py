"""The same processes as in ``tests/server``."""

from tests.server.conftest import empty_database, place, server, stopped

__all__ = ["empty_database", "place", "server", "stopped"]
