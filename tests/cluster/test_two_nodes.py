"""Two nodes: each shows what the other has written, and wrong clocks cause neither duplicates nor broken locks."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cluster.node import FAKETIME, Node
from tests.server.process import until

ISSUES = 12
ROUNDS = 25


class Receiver:
    """Receiver of webhooks that counts the issues it is told about."""

    def __init__(self) -> None:
        self.titles: Counter[str] = Counter()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))
                receiver.titles[body["object_attributes"]["title"]] += 1
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop receiving."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Yield a receiver of webhooks."""
    receiver = Receiver()
    yield receiver
    receiver.close()


def _project(node: Node, name: str) -> str:
    made = node.call("POST", "/projects", json={"name": name, "initialize_with_readme": True})
    assert made.status_code == 201, made.text
    return f"/projects/{made.json()['id']}"


def test_each_node_reads_the_writes_of_the_other(nodes: list[Node]) -> None:
    first, second = (node.serve() for node in nodes)
    project = _project(first, "shared")
    for number in range(ROUNDS):
        writer, reader = (first, second) if number % 2 else (second, first)
        action = {"action": "create", "file_path": f"{number}.txt", "content": f"text {number}"}
        sent = {"branch": "master", "commit_message": f"add {number}", "actions": [action]}
        oid = writer.call("POST", f"{project}/repository/commits", json=sent).json()["id"]
        branch = reader.call("GET", f"{project}/repository/branches/master").json()
        assert branch["commit"]["id"] == oid
        raw = reader.call("GET", f"{project}/repository/files/{number}.txt/raw", params={"ref": "master"})
        assert (raw.status_code, raw.text) == (200, f"text {number}")
        name = f"branch-{number}"
        made = writer.call("POST", f"{project}/repository/branches", json={"branch": name, "ref": oid})
        assert made.status_code == 201
        assert reader.call("GET", f"{project}/repository/branches/{name}").status_code == 200
    listed = first.call("GET", "/admin/nodes").json()
    assert {node["name"]: (node["online"], node["roles"]) for node in listed} == {
        "node-0": (True, ["jobs", "ssh", "web"]),
        "node-1": (True, ["jobs", "ssh", "web"]),
    }


@pytest.mark.skipif(not FAKETIME, reason="libfaketime is not installed.")
def test_wrong_clocks(nodes: list[Node], receiver: Receiver) -> None:
    """One clock is a minute ahead and one behind; git holds a lock that is younger than its limit."""
    ahead, behind = nodes[0].serve("+60s"), nodes[1].serve("-60s")
    project = _project(ahead, "clocks")
    assert ahead.call("POST", f"{project}/hooks", json={"url": receiver.url, "issues_events": True}).status_code == 201

    def create(number: int) -> int:
        node = (ahead, behind)[number % 2]
        return node.call("POST", f"{project}/issues", json={"title": f"issue {number}"}).status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(create, range(ISSUES))) == {201}
    until("the deliveries", lambda: len(receiver.titles) == ISSUES)
    offsets = {node["name"]: node["clock_offset"] for node in ahead.call("GET", "/admin/nodes").json()}
    assert 58 < offsets["node-0"] < 62
    assert -62 < offsets["node-1"] < -58
    created = [issue["created_at"] for issue in behind.call("GET", f"{project}/issues?order_by=created_at").json()]
    assert created == sorted(created, reverse=True)
    lock = next(Path(ahead.data, "repositories").rglob("refs/heads")) / "held.lock"
    lock.touch()
    for node in (ahead, behind):
        node.call("POST", f"{project}/repository/branches", json={"branch": "held", "ref": "master"})
        assert lock.exists()
    lock.unlink()
    assert (
        behind.call("POST", f"{project}/repository/branches", json={"branch": "held", "ref": "master"}).status_code
        == 201
    )
    assert set(receiver.titles.values()) == {1}
