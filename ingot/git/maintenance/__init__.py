"""Lifecycle of repositories on disk: creation, forks, imports, integrity checks, housekeeping."""
