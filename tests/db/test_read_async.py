"""Reads of coroutines."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from ingot.core.db.connection import Connection
from ingot.core.offload import require_blocking_allowed
from tests.client import Make


def test_a_read_that_would_block_runs_in_a_thread(make: Make) -> None:
    threads: list[threading.Thread] = []

    def read(db: Connection) -> str:
        threads.append(threading.current_thread())
        require_blocking_allowed()
        return "answer"

    with ThreadPoolExecutor(1) as pool:
        assert asyncio.run(make.database.read_async(read, pool)) == "answer"
    assert threads[-1] is not threading.current_thread()
