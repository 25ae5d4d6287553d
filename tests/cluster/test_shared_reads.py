"""Reads on one node while the other writes to the same repository: none fails or is older than the last write."""

import os
import threading
from typing import NamedTuple

import httpx
import pytest

from tests.cluster.conftest import SHARED
from tests.cluster.node import Node
from tests.server.process import TOKEN

READS = int(os.environ.get("INGOT_CLUSTER_READS", "5000"))
READERS = 4
WRITES_BETWEEN_HOUSEKEEPING = 5
KINDS_OF_READS = 7
HEADERS = {"PRIVATE-TOKEN": TOKEN}


class AcknowledgedWrite(NamedTuple):
    """Last commit that was acknowledged, and its number."""

    number: int
    oid: str


class WritingNode:
    """Thread that commits through one node until it is stopped."""

    def __init__(self, node: Node, project: str) -> None:
        self._client = httpx.Client(base_url=f"{node.url}/api/v4{project}", headers=HEADERS, timeout=60)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.failures: list[str] = []
        self.last = AcknowledgedWrite(-1, "")
        self._write(0)

    def __enter__(self) -> "WritingNode":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(60)
        self._client.close()

    def _run(self) -> None:
        number = 1
        while not self._stopped.is_set():
            self._write(number)
            if number % WRITES_BETWEEN_HOUSEKEEPING == 0:
                self._client.post("/housekeeping")
            number += 1

    def _write(self, number: int) -> None:
        action = {"action": "create", "file_path": f"d{number % 7}/{number}.txt", "content": f"text {number}"}
        sent = {"branch": "master", "commit_message": f"add {number}", "actions": [action]}
        answer = self._client.post("/repository/commits", json=sent)
        if answer.status_code != 201:
            self.failures.append(f"{answer.status_code} {answer.text}")
            return
        self.last = AcknowledgedWrite(number, answer.json()["id"])


class Reader(threading.Thread):
    """Thread that reads through another node and counts what is wrong."""

    def __init__(self, node: Node, project: str, writing: WritingNode, reads: int) -> None:
        super().__init__(daemon=True)
        self._url = f"{node.url}/api/v4{project}/repository"
        self._writing = writing
        self._reads = reads
        self.problems: list[str] = []

    def run(self) -> None:
        with httpx.Client(headers=HEADERS, timeout=60) as client:
            for number in range(self._reads):
                expected = self._writing.last
                try:
                    self._check(client, number, expected)
                except httpx.TransportError as error:
                    self.problems.append(repr(error))

    def _check(self, client: httpx.Client, number: int, expected: AcknowledgedWrite) -> None:
        folder = expected.number % 7
        path = (
            "branches/master",
            f"files/d{folder}%2F{expected.number}.txt/raw?ref=master",
            f"commits/{expected.oid}",
            f"tree?ref=master&path=d{folder}&per_page=100&order_by=name",
            f"commits/{expected.oid}/diff",
            "branches",
            "commits?per_page=1",
        )[number % KINDS_OF_READS]
        answer = client.get(f"{self._url}/{path}")
        if answer.status_code != 200:
            self.problems.append(f"{path}: {answer.status_code} {answer.text[:200]}")
        elif path.startswith("files") and answer.text != f"text {expected.number}":
            self.problems.append(f"{path}: {answer.text[:50]}")
        elif (title := _newest_title(path, answer)) and int(title.split()[1]) < expected.number:
            self.problems.append(f"{path}: older than {expected.number}")


def _newest_title(path: str, answer: httpx.Response) -> str:
    """Return the title of the last commit on the branch that a response shows, or an empty string."""
    if path == "branches/master":
        return str(answer.json()["commit"]["title"])
    if path == "branches":
        return str(answer.json()[0]["commit"]["title"])
    return str(answer.json()[0]["title"]) if path.startswith("commits?") else ""


@pytest.mark.skipif(SHARED not in os.environ, reason=f"{SHARED} does not name two mount points.")
def test_reads_see_every_acknowledged_write_of_the_other_node(nodes: list[Node]) -> None:
    first, second = (node.serve() for node in nodes)
    made = first.call("POST", "/projects", json={"name": "shared", "initialize_with_readme": True})
    project = f"/projects/{made.json()['id']}"
    with WritingNode(first, project) as writing:
        readers = [Reader(second, project, writing, READS // READERS) for _ in range(READERS)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
    problems = [problem for reader in readers for problem in reader.problems]
    assert writing.last.number > 0
    errors = ("fault", "repository unreadable", "disk failure")
    assert [event for name in errors for event in second.events(name)] == []
    assert (problems[:5], len(problems), writing.failures) == ([], 0, [])
