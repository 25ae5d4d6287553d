"""Progress display of long commands."""

import shutil
import sys

_BAR = 24


def show_progress(what: str, done: int = 0, of: int = 0) -> None:
    """Show a progress line on a terminal, with a bar if ``of`` is known; print nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{progress_line(what, done, of)[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()


def progress_line(what: str, done: int, of: int) -> str:
    """Return the text of a progress line."""
    # Paths may come from a damaged archive and must not contain terminal escapes.
    plain = "".join(character if character.isprintable() else "?" for character in what)
    if of < 1:
        return plain
    filled = _BAR * min(done, of) // of
    return f"[{'#' * filled}{' ' * (_BAR - filled)}] {done}/{of} {plain}"
