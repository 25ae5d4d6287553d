"""One structured line per event: JSON for machines, or readable on a terminal. Never a token, password or parameter."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO


class Log:
    """Writes lines; a full disk or a closed pipe must not stop the service."""

    def __init__(self, form: str = "auto", stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self.pretty = form == "pretty" or (form == "auto" and self._stream.isatty())

    def __call__(self, event: str, **fields: Any) -> None:
        """Write one line."""
        time = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
        self._write(self._line(time, event, fields))

    def request(self, time: str, request_id: str, method: str, route: str, status: int, ms: float, user: str) -> None:
        """Write the line of a request; all parts are of our own making, so nothing in them needs escaping."""
        if self.pretty:
            self._write(f"{time[11:19]} {status} {method:<6} {route} {ms:.1f} ms {user}")
            return
        self._write(
            f'{{"time": "{time}", "event": "request", "request_id": "{request_id}", "method": "{method}", '
            f'"route": "{route}", "status": {status}, "ms": {ms:.1f}, "user": "{user}"}}'
        )

    def _line(self, time: str, event: str, fields: dict[str, Any]) -> str:
        if self.pretty:
            details = " ".join(f"{name}={value}" for name, value in fields.items() if value not in (None, ""))
            return f"{time[11:19]} {event:<12} {details}"
        return json.dumps({"time": time, "event": event, **fields}, default=str)

    def _write(self, line: str) -> None:
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # There is nowhere left to report it.
            pass


_logger = logging.getLogger("ingot")


def log_failure(event: str, error: BaseException, **fields: Any) -> None:
    """Log an error that is handled and that the caller does not learn of: its type and where it was raised.

    Its text is left out: drivers and git put the values that they received into it.
    """
    where = "".join(traceback.format_tb(error.__traceback__))
    _logger.warning(event, extra={"fields": {**fields, "error": type(error).__name__, "where": where}})


def route_logging(log: Log) -> None:
    """Write what this process logs through the standard library as structured lines."""
    logging.basicConfig(level=logging.INFO, handlers=[LogHandler(log)])


class LogHandler(logging.Handler):
    """Handler of the standard library's logging that writes structured lines."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.INFO)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, Any] | None = getattr(record, "fields", None)
        if fields is not None:
            self._log(record.getMessage(), **fields)
            return
        error = logging.Formatter().formatException(record.exc_info) if record.exc_info else None
        self._log(record.name, message=record.getMessage(), error=error)
