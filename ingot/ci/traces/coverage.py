"""Coverage of a job, found in its trace by a regular expression."""

import re
from typing import Any

from ingot.ci.traces.store import TraceStore

_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_MAX_SEARCHED_BYTES = 16 * 2**20


def coverage_in_trace(store: TraceStore, job_id: int, pattern: str) -> float | None:
    """Return the last number of the last match in a trace; None without a match, or if the pattern is invalid."""
    compiled = _compiled(pattern)
    if compiled is None:
        return None
    start = max(0, store.size(job_id) - _MAX_SEARCHED_BYTES)
    trace = store.read(job_id, start)
    for line in reversed(trace.splitlines()):
        matches = list(compiled.finditer(line))
        if not matches:
            continue
        text: bytes = next((group for group in reversed(matches[-1].groups()) if group is not None), matches[-1][0])
        numbers = _NUMBER.findall(text)
        if numbers:
            return float(numbers[-1])
    return None


def _compiled(pattern: str) -> Any:
    """Compile a pattern, with or without slashes around it, for a search in linear time."""
    import re2  # Few processes search traces, and the library takes 4 MB.

    if len(pattern) > 1 and pattern.startswith("/") and pattern.endswith("/"):
        pattern = pattern[1:-1]
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    try:
        return re2.compile(pattern.encode("utf-8"), options)
    except re2.error:
        return None
