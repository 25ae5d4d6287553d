"""Second instance with its own settings."""

import asyncio
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import uvicorn

from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.server.app import App, open_database
from ingot.server.startup import initialize_instance
from ingot.server.supervisor import open_socket
from tests.client import Api, Make, User
from tests.statements import count_statements

TOKEN, PASSWORD = "root-token-of-the-second", "root-password-of-the-second"


class SecondInstance:
    """Second instance and its clients."""

    def __init__(self, url: str, app: App, settings: Settings, api: Api) -> None:
        self.url = url
        self.app = app
        self.settings = settings
        self.api = api
        root = User(1, "root", "admin@example.com", TOKEN, PASSWORD)
        # Imports map users by address, so that none may be used on both instances by chance.
        self.make = Make(api, root, app.database, numbers=count(1_000_001))


@contextmanager
def serving(data: Path, **chosen: Any) -> Iterator[SecondInstance]:
    """Run until the block ends; always with SQLite, because the tests concern users only."""
    listener = open_socket("127.0.0.1", 0)
    port = listener.getsockname()[1]
    settings = Settings(data=data, root_token=TOKEN, root_password=PASSWORD, log_format="json", port=port, **chosen)
    initialize_instance(settings)
    app = App(settings, count_statements(open_database(settings)), Log("json", io.StringIO()), None)
    config = uvicorn.Config(
        app.front, http="httptools", lifespan="off", log_config=None, proxy_headers=False, timeout_keep_alive=75
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    try:
        with Api(f"http://127.0.0.1:{port}") as api:
            yield SecondInstance(f"http://127.0.0.1:{port}", app, settings, api)
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
        app.close()
