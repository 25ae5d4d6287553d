"""Server inside the test process, with a settable clock and timeouts."""

import asyncio
import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import uvicorn

from ingot.core.db.clocks import wall_clock
from ingot.core.db.database import Database
from ingot.core.db.times import Timestamp, timestamp, to_datetime
from ingot.core.http.protocol import HeadLimitProtocol
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.server.app import App, open_database
from ingot.server.startup import initialize_instance
from ingot.server.supervisor import open_socket
from tests.server.process import PASSWORD, TOKEN


class AdjustableClock:
    """Clock that shows the current time unless a test sets it."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def __call__(self) -> Timestamp:
        return timestamp(to_datetime(wall_clock()) + self._ahead)

    def jump(self, **delta: float) -> None:
        """Move the clock forward or back."""
        self._ahead += timedelta(**delta)


@dataclass
class InProcessServer:
    """Server with accessors for tests."""

    settings: Settings
    database: Database
    client: httpx.Client

    def call(self, method: str, path: str, token: str = TOKEN, **options: Any) -> httpx.Response:
        """Call the API as root."""
        return self.client.request(method, f"/api/v4{path}", headers={"PRIVATE-TOKEN": token}, **options)


@contextmanager
def serve_in_process(settings: Settings, clock: Callable[[], Timestamp] = wall_clock) -> Iterator[InProcessServer]:
    """Run a new instance for the duration of a block."""
    initialize_instance(settings)
    database = open_database(settings, clock, uses_replicas=True)
    app = App(settings, database, Log("json", io.StringIO()), None)
    beacons = [database.engine.announce_role(role) for role in ("jobs", "ssh")]
    listener = open_socket("127.0.0.1", 0)
    config = uvicorn.Config(
        app.front, loop="uvloop", http=HeadLimitProtocol, lifespan="off", log_config=None, timeout_keep_alive=75
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=60) as client:
            yield InProcessServer(settings, database, client)
    finally:
        server.should_exit = True
        thread.join(10)
        for beacon in beacons:
            beacon.close()
        app.close()


def first_settings(data: Any, database_url: str) -> Settings:
    """Return the settings of an instance whose root has the token and password that ``call`` uses."""
    return Settings(data=data, database_url=database_url, root_token=TOKEN, root_password=PASSWORD)
