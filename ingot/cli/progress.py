"""Saying how far a long command has come."""

import shutil
import sys

_BAR = 24


def show_progress(what: str, done: int = 0, of: int = 0) -> None:
    """Say what is being done, on the same line of a terminal, with a bar where somebody counts; else nothing."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{progress_line(what, done, of)[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()


def progress_line(what: str, done: int, of: int) -> str:
    """How it looks."""
    # Paths may come from a damaged archive, and must not move the cursor.
    plain = "".join(character if character.isprintable() else "?" for character in what)
    if of < 1:
        return plain
    filled = _BAR * min(done, of) // of
    return f"[{'#' * filled}{' ' * (_BAR - filled)}] {done}/{of} {plain}"
