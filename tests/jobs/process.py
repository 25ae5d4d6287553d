"""``python -m tests.jobs.process``: a worker process whose handlers write to files in a folder."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ingot.core.db.database import Database
from ingot.core.jobs.schedule import RecurringJob
from ingot.core.jobs.worker import JobWorker
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.server.app import open_database


def note(folder: Path, text: str) -> None:
    """Append a line atomically, also with several processes."""
    with (folder / "notes").open("ab", buffering=0) as file:
        file.write(f"{text}\n".encode())


def note_payload(folder: Path) -> Callable[[Database, Any], None]:
    def handler(database: Database, payload: Any) -> None:
        note(folder, str(payload))

    return handler


def hang(folder: Path) -> Callable[[Database, Any], None]:
    def handler(database: Database, payload: Any) -> None:
        (folder / f"hanging-{os.getpid()}").touch()
        while not (folder / "go").exists():
            time.sleep(0.01)
        note(folder, str(payload))

    return handler


def main() -> None:
    data, url, folder, lease, grace = sys.argv[1:]
    place = Path(folder)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGTERM, lambda *_: None)
    database = open_database(Settings(data=Path(data), database_url=url))
    worker = JobWorker(
        database,
        {"note": note_payload(place), "hang": hang(place)},
        [RecurringJob(86_400, lambda _: note(place, "recurred"), "of the tests")],
        Log("json"),
        lease_seconds=float(lease),
    )
    worker.run([wake], float(grace))
    os._exit(0)


if __name__ == "__main__":
    main()
