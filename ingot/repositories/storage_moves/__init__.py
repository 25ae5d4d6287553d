"""Moves of repositories between storages."""
