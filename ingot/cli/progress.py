"""Progress display of long commands."""

import shutil
import sys
import time
from collections.abc import Callable

_BAR = 24
LINE_SECONDS = 10.0
"""Time between two lines where there is no terminal."""


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


class ProgressReport:
    """Progress of a long command: a line that changes on a terminal; elsewhere, a line every ten seconds, for logs."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._started = self._printed = now()

    def show(self, what: str, done: int, of: int) -> None:
        """Show how many of the expected records are done."""
        if sys.stderr.isatty():
            show_progress(what, done, of)
            return
        now = self._now()
        if now - self._printed < LINE_SECONDS:
            return
        self._printed = now
        print(f"{progress_line(what, 0, 0)}: {self._counts(done, of, now)}", file=sys.stderr, flush=True)

    def _counts(self, done: int, of: int, now: float) -> str:
        """Return the counts, and an estimate of the rest from the speed so far."""
        if of < 1:
            return f"{done} done"
        counts = f"{done} of {of}"
        if not 0 < done < of:
            return counts
        seconds = (now - self._started) * (of - done) / done
        return f"{counts}, about {_duration(seconds)} left"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{max(1, round(seconds))} s"
    return f"{minutes} min" if minutes < 120 else f"{round(minutes / 60)} h"
