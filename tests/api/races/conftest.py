"""Additional servers of the instance under test."""

import asyncio
import io
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
import uvicorn

from ingot.core.log import Log
from ingot.server.app import App, open_database
from ingot.server.supervisor import open_socket
from tests.api.races.concurrent_servers import SERVERS, ConcurrentServers
from tests.conftest import Instance


@pytest.fixture(scope="session")
def servers(instance: Instance) -> Iterator[ConcurrentServers]:
    """Yield the servers for concurrent calls."""
    with ExitStack() as stack:
        others = [stack.enter_context(_another(instance)) for _ in range(SERVERS - 1)]
        servers = ConcurrentServers([instance.url, *others])
        stack.callback(servers.close)
        yield servers


@contextmanager
def _another(instance: Instance) -> Iterator[str]:
    """Start another server of the same instance, with its own threads and connections, and return its address."""
    app = App(instance.settings, open_database(instance.settings), Log("json", io.StringIO()), None)
    listener = open_socket("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app.front, lifespan="off", log_config=None, timeout_keep_alive=75))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
    app.close()
