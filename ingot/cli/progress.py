"""Saying how far a long command has come."""

import sys


def show_progress(what: str) -> None:
    """Say what is being done, on the same line of a terminal; nobody else needs to know."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{what}")
        sys.stderr.flush()
