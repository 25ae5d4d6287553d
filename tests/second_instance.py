"""Another instance beside the one of the tests, with settings of its own."""

import asyncio
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from ingot.app import App, open_database
from ingot.log import Log
from ingot.operations.startup import initialize_instance
from ingot.operations.supervisor import open_socket
from ingot.settings import Settings
from tests.client import Api, Make, Person
from tests.statements import count_statements

TOKEN, PASSWORD = "root-token-of-the-second", "root-password-of-the-second"


class SecondInstance:
    """What a test needs of it."""

    def __init__(self, url: str, app: App, settings: Settings, api: Api) -> None:
        self.url = url
        self.app = app
        self.settings = settings
        self.api = api
        self.make = Make(api, Person(1, "root", "admin@example.com", TOKEN, PASSWORD), app.database)


@contextmanager
def serving(data: Path, **chosen: Any) -> Iterator[SecondInstance]:
    """Serve until the block ends; always from SQLite, since it is what is said of people that is tested."""
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
