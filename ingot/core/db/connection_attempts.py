"""Connections to PostgreSQL within a limit that holds for all addresses of a URL together.

The driver tries one address after the other, each with the whole limit, so that one that does not answer delays the
others. Here, the next address is tried soon, at the same time.
"""

import queue
import random
import threading
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

STAGGER_SECONDS = 0.5
"""Time after which the next address is tried, too."""
_DRIVER_SECONDS = 2
"""Smallest limit that the driver accepts."""
Outcome = tuple[Any, Exception | None]


def connect_within(driver: Any, url: str, seconds: float, **options: Any) -> Any:
    """Connect to the first address of a URL that answers; raise ``ConnectionTimeout`` if none does in time."""
    options["connect_timeout"] = max(_DRIVER_SECONDS, int(seconds))
    addresses = _addresses(driver, url)
    if len(addresses) == 1 and seconds >= _DRIVER_SECONDS:
        return driver.connect(url, **options)
    attempts = _Attempts([partial(driver.connect, address, **options) for address in addresses])
    return attempts.first_success(driver.errors.ConnectionTimeout, seconds)


def _addresses(driver: Any, url: str) -> list[str]:
    """Return the connection string of each address."""
    parts = driver.conninfo.conninfo_to_dict(url)
    hosts = [str(parts.get(name) or "").split(",") for name in ("host", "hostaddr", "port")]
    count = max(map(len, hosts))
    if count == 1:
        return [url]
    each = zip(*(values * count if len(values) == 1 else values for values in hosts), strict=True)
    named = [dict(zip(("host", "hostaddr", "port"), values, strict=True)) for values in each]
    if parts.get("load_balance_hosts") == "random":
        random.shuffle(named)
    return [driver.conninfo.make_conninfo(url, **{name: value or None for name, value in one.items()}) for one in named]


class _Attempts:
    """Attempts to connect, each in a thread; all but the first that succeeds are closed."""

    def __init__(self, connects: list[Callable[[], Any]]) -> None:
        self._connects = connects
        self._outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._decided = False

    def first_success(self, timeout_error: type[Exception], seconds: float) -> Any:
        """Return the first connection; raise the last error, or a timeout if an address did not answer."""
        deadline = monotonic() + seconds
        started, errors = 0, list[Exception]()
        while len(errors) < len(self._connects) and monotonic() < deadline:
            if started < len(self._connects):
                self._start(self._connects[started])
                started += 1
            last = started == len(self._connects)
            pause = deadline - monotonic() if last else min(STAGGER_SECONDS, deadline - monotonic())
            try:
                connection, error = self._outcomes.get(timeout=max(pause, 0.0))
            except queue.Empty:
                continue
            if error is None:
                return self._take(connection)
            errors.append(error)
        self._give_up()
        silent = [error for error in errors if isinstance(error, timeout_error)]
        if silent or len(errors) < len(self._connects):
            raise timeout_error("connection timeout expired")
        raise errors[-1]

    def _start(self, connect: Callable[[], Any]) -> None:
        threading.Thread(target=self._run, args=(connect,), name="connect", daemon=True).start()

    def _run(self, connect: Callable[[], Any]) -> None:
        try:
            outcome: Outcome = (connect(), None)
        except Exception as error:  # noqa: BLE001 - It is raised in the thread that waits.
            outcome = (None, error)
        with self._lock:
            if not self._decided:
                self._outcomes.put(outcome)
                return
        if outcome[0] is not None:
            outcome[0].close()

    def _take(self, connection: Any) -> Any:
        self._give_up()
        return connection

    def _give_up(self) -> None:
        """Close the connections of the other attempts, also of those that end later."""
        with self._lock:
            self._decided = True
        while not self._outcomes.empty():
            connection, _ = self._outcomes.get()
            if connection is not None:
                connection.close()
