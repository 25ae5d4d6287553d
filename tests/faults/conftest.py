"""Fixtures shared with ``tests/server``."""

from tests.server.conftest import data_folder, empty_database, initialized, server, stopped

__all__ = ["data_folder", "empty_database", "initialized", "server", "stopped"]
