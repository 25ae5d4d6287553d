"""Killing all processes again and again during an import: the result equals that of an uninterrupted one."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.api.imports.conftest import SourceProject
from tests.client import Api, Make
from tests.conftest import Instance
from tests.faults.load_generator import expire_leases
from tests.faults.test_kill_import import start
from tests.server.process import Server, until

KILLS = min(int(os.environ.get("INGOT_SOAK_ROUNDS", "3")), 20)
REQUESTS_BETWEEN_KILLS = 7 if KILLS < 20 else 20
"""More than a page of issues takes: without progress, an import is given up after some restarts."""
MORE_ISSUES = 0 if KILLS < 20 else 3500
"""Issues besides those of the sample, so that the import takes long enough to be killed twenty times."""
SECONDS = 60.0 if KILLS < 20 else 120.0
_OWN_NAMES = re.compile(r"id|.*_(id|ids|url)|_links")
"""Fields whose values belong to one project."""


class PausingProxy(ThreadingHTTPServer):
    """Proxy of a source that holds one request, so that the importing server can be killed at that moment."""

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _ProxyHandler)
        self.port = port
        self.hold_at: int | None = None
        self.count = 0
        self.held = threading.Event()
        self.released = threading.Event()

    @property
    def url(self) -> str:
        """Address of the proxy."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def hold_after(self, requests: int) -> None:
        """Hold the request after this many further ones."""
        self.held.clear()
        self.released.clear()
        self.hold_at = self.count + requests


class _ProxyHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: PausingProxy

    def do_GET(self) -> None:
        self.server.count += 1
        if self.server.hold_at is not None and self.server.count >= self.server.hold_at:
            self.server.held.set()
            self.server.released.wait(SECONDS)
        self._forward()

    def do_POST(self) -> None:
        self._forward(self.rfile.read(int(self.headers["content-length"])))

    def _forward(self, sent: bytes | None = None) -> None:
        with closing(HTTPConnection("127.0.0.1", self.server.port)) as upstream:
            upstream.request(self.command, self.path, sent, headers=dict(self.headers))
            answer = upstream.getresponse()
            body = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                self.send_header(name, value.replace(f"127.0.0.1:{self.server.port}", self.headers["host"]))
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:  # The importing server was killed.
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def proxy(instance: Instance) -> Iterator[PausingProxy]:
    """Yield a proxy of the shared instance."""
    running = PausingProxy(instance.settings.port)
    running.daemon_threads = True
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield running
    running.released.set()
    running.shutdown()
    thread.join()
    running.server_close()


def _begin(server: Server, proxy: PausingProxy, token: str, path: str, slug: str) -> int:
    entity = {
        "source_type": "project_entity",
        "source_full_path": path,
        "destination_namespace": "root",
        "destination_slug": slug,
    }
    sent = {"configuration": {"url": proxy.url, "access_token": token}, "entities": [entity]}
    answer = server.call("POST", "/bulk_imports", json=sent)
    assert answer.status_code == 201, answer.text
    run_id: int = answer.json()["id"]
    return run_id


def _ended(server: Server, run_id: int) -> dict[str, Any]:
    def read() -> dict[str, Any] | None:
        run = server.call("GET", f"/bulk_imports/{run_id}").json()
        return run if run["status"] not in ("created", "started") else None

    try:
        until("the import's end", read, SECONDS)
    except AssertionError as error:
        raise AssertionError(server.call("GET", f"/bulk_imports/{run_id}/entities").text) from error
    (entity,) = server.call("GET", f"/bulk_imports/{run_id}/entities").json()
    found: dict[str, Any] = entity
    return found


def _without_ids(value: Any, slug: str) -> Any:
    if isinstance(value, dict):
        kept = {name: part for name, part in value.items() if not _OWN_NAMES.fullmatch(name)}
        return {name: _without_ids(part, slug) for name, part in kept.items()}
    if isinstance(value, list):
        return [_without_ids(part, slug) for part in value]
    return value.replace(slug, "") if isinstance(value, str) else value


def _content(server: Server, project_id: int, slug: str) -> dict[str, Any]:
    paths = [
        "issues",
        "issues/1/notes",
        "issues/3/notes",
        "merge_requests",
        "merge_requests/1/notes",
        "merge_requests/1/versions",
        "labels",
        "milestones",
        "repository/branches",
        "repository/tags",
        "wikis",
    ]
    return {
        path: _without_ids(server.call("GET", f"/projects/{project_id}/{path}?per_page=100").json(), slug)
        for path in paths
    }


def test_a_killed_import_equals_an_uninterrupted_one(
    stopped: Server, proxy: PausingProxy, api: Api, make: Make
) -> None:
    """Killed with kill -9 at different requests; nothing is missing and nothing exists twice."""
    source = SourceProject(api, make)
    for number in range(20):
        source.post("/issues/1/notes", body=f"Comment {number}")
    for number in range(MORE_ISSUES):
        issue = source.post("/issues", title=f"Issue {number}")
        if number % 10 == 0:
            source.post(f"/issues/{issue['iid']}/notes", body=f"Comment on {number}")
    start(stopped)
    whole = _ended(stopped, _begin(stopped, proxy, make.root.token, source.path, "whole"))
    assert (whole["status"], whole["failures"]) == ("finished", [])

    proxy.hold_after(REQUESTS_BETWEEN_KILLS)
    run_id = _begin(stopped, proxy, make.root.token, source.path, "killed")
    for kills in range(1, KILLS + 1):
        assert proxy.held.wait(SECONDS), f"the import ended before kill {kills}"
        stopped.kill()
        proxy.released.set()
        expire_leases(stopped)
        if kills < KILLS:
            proxy.hold_after(REQUESTS_BETWEEN_KILLS)
        else:
            proxy.hold_at = None
        start(stopped)
    killed = _ended(stopped, run_id)
    assert (killed["status"], killed["failures"]) == ("finished", [])
    expected = _content(stopped, whole["project_id"], "whole")
    for path, content in _content(stopped, killed["project_id"], "killed").items():
        assert content == expected[path], path
    assert not stopped.events("job failed")
