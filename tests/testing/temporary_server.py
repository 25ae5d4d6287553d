"""Temporary servers, started from a process that has loaded the code."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests import fork_server
from tests.server.process import environment, until


class TemporaryServer:
    """Server with its report and a client for its API and its control endpoints."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report
        self.url: str = report["url"]
        self.client = httpx.Client(base_url=self.url, timeout=60)

    def api(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Call the API as root."""
        headers = {"PRIVATE-TOKEN": self.report["token"], **options.pop("headers", {})}
        return self.client.request(method, f"/api/v4{path}", headers=headers, **options)

    def control(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Call a control endpoint."""
        headers = {"X-Ingot-Testing": self.report["testing_secret"]}
        return self.client.request(method, f"/-/testing/{path}", headers=headers, **options)


def temporary_server(folder: Path, *arguments: object, **more: str) -> AbstractContextManager[TemporaryServer]:
    """Run a temporary server for the duration of a block, by default with the profile of the suite."""
    profile = [] if "--profile" in arguments else ["--profile", "9.4"]
    return server_with_defaults(folder, *profile, *arguments, **more)


@contextmanager
def server_with_defaults(folder: Path, *arguments: object, **more: str) -> Iterator[TemporaryServer]:
    """Run a temporary server for the duration of a block, with no more options than those given."""
    folder.mkdir(exist_ok=True)
    report, log = folder / "ready.json", folder / "log"
    words = ["serve", "--ephemeral", "--port", 0, "--ready-file", report, *arguments]
    with log.open("ab") as stream:
        process = fork_server.start(
            "ingot",
            *map(str, words),
            stdout=stream.fileno(),
            stderr=stream.fileno(),
            env=environment(TMPDIR=str(folder), **more),
            new_session=True,
        )
    try:

        def ready() -> bool:
            assert process.poll() is None, log.read_text()
            return report.exists()

        until("the report", ready)
        server = TemporaryServer(json.loads(report.read_text()))
        with server.client:
            yield server
    finally:
        process.terminate()
        assert process.wait(60) == 0, log.read_text()
    assert {path.name for path in folder.iterdir()} == {"log", "ready.json"}, "the data is removed"
