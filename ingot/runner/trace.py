"""Log of a job: collected from its processes, masked and sent to the server piece by piece."""

import threading
import time
import zlib
from collections.abc import Callable, Iterable
from typing import Literal

from ingot.runner.client import JobClient
from ingot.runner.http import NoResponse, Reply, retry_after
from ingot.runner.secret_mask import SecretMask

OUTPUT_LIMIT = 4 * 1024 * 1024
_MAX_PIECE = 1024 * 1024
_INTERVAL_SECONDS = 1.0
_MAX_INTERVAL_SECONDS = 60.0
_KEEP_ALIVE_SECONDS = 5.0
_RETRY_SECONDS = 2.0
_ABANDONED = frozenset({401, 403, 404})

Cancellation = Literal["canceled", "canceling", "abandoned"]


class JobTrace:
    """Log of a job, with a thread that sends it."""

    def __init__(
        self, client: JobClient, mask: SecretMask, on_cancel: Callable[[Cancellation], None], limit: int = OUTPUT_LIMIT
    ) -> None:
        self._client = client
        self._mask = mask
        self._on_cancel = on_cancel
        self._limit = limit
        self._data = bytearray()
        self._sent = 0
        self._full = False
        self._lock = threading.Lock()
        self._interval = _INTERVAL_SECONDS
        self._contacted_at = time.monotonic()
        self._stopping = threading.Event()
        self._refused = False
        self._thread = threading.Thread(target=self._send_regularly, name="trace", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Append output."""
        with self._lock:
            self._append(self._mask.feed(data))

    def mask(self, secrets: Iterable[str]) -> None:
        """Replace further secrets in the output from now on."""
        with self._lock:
            self._mask.add(secrets)

    def line(self, text: str) -> None:
        """Append a line of the runner itself."""
        self.write(f"{text}\n".encode())

    def finish(self, state: str, fields: dict[str, object], seconds: float) -> bool:
        """Send the rest of the log and the final state; return whether the server has accepted them in time."""
        self._stopping.set()
        self._thread.join()
        with self._lock:
            self._append(self._mask.flush())
            checksum = f"crc32:{zlib.crc32(self._data):08x}"
            output = {"checksum": checksum, "bytesize": len(self._data)}
        give_up_at = time.monotonic() + seconds
        while time.monotonic() < give_up_at:
            pause = self._try_to_finish(state, {**fields, "checksum": checksum, "output": output})
            if pause is None:
                return not self._refused
            time.sleep(pause)
        return False

    def _try_to_finish(self, state: str, fields: dict[str, object]) -> float | None:
        """Send the rest and the state; return the pause before another attempt, or None at the end."""
        try:
            while self._unsent() and not self._refused:
                if not self._send_piece():
                    return _RETRY_SECONDS
            reply = self._client.update(state, **fields)
        except NoResponse:
            return _RETRY_SECONDS
        if reply.status == 412:  # The server lacks a part of the log.
            self._sent = 0
            return 0.0
        if reply.status == 202 or reply.temporary_failure:
            return retry_after(reply, _interval_of(reply, _RETRY_SECONDS))
        self._refused = self._refused or reply.status != 200
        return None

    def _append(self, data: bytes) -> None:
        free = self._limit - len(self._data)
        self._data += data[: max(0, free)]
        if len(data) > free and not self._full:
            self._full = True
            self._data += (
                f"\n\x1b[33;1mThe log exceeds the limit of {self._limit} bytes; the rest is not collected.\x1b[0;m\n"
            ).encode()

    def _send_regularly(self) -> None:
        while not self._stopping.wait(self._interval):
            if self._refused:
                continue
            try:
                if self._unsent():
                    self._send_piece()
                elif time.monotonic() - self._contacted_at >= _KEEP_ALIVE_SECONDS:
                    self._learn(self._client.update("running"))
            except NoResponse:  # The next round sends it.
                continue

    def _unsent(self) -> bool:
        return len(self._data) > self._sent

    def _send_piece(self) -> bool:
        """Send what has not been sent; return whether the server has accepted a part."""
        with self._lock:
            piece = bytes(self._data[self._sent : self._sent + _MAX_PIECE])
        reply = self._client.append_trace(piece, self._sent)
        if reply.status == 202:
            self._sent += len(piece)
        elif reply.status == 416:
            # The number after the dash is the size of the log on the server.
            self._sent = min(_size_of_range(reply), len(self._data))
        self._learn(reply)
        return reply.status in (202, 416) or self._refused

    def _learn(self, reply: Reply) -> None:
        """Read the status of the job and the interval from a response."""
        if reply.temporary_failure:
            return
        self._contacted_at = time.monotonic()
        self._interval = _interval_of(reply, self._interval)
        status = reply.headers.get("job-status")
        if reply.status in _ABANDONED:
            self._refused = True
            self._on_cancel("abandoned")
        elif status in ("canceled", "failed"):
            self._on_cancel("canceled")
        elif status == "canceling":
            self._on_cancel("canceling")


def _size_of_range(reply: Reply) -> int:
    try:
        return int(reply.headers["range"].rpartition("-")[2])
    except (KeyError, ValueError):
        return 0


def _interval_of(reply: Reply, default: float) -> float:
    try:
        seconds = float(reply.headers["x-gitlab-trace-update-interval"])
    except (KeyError, ValueError):
        return default
    return min(max(0.1, seconds), _MAX_INTERVAL_SECONDS)
