"""``make fuzz``: start a server, and send random calls with valid and invalid parameters to every endpoint.

Prints the calls that got a 5xx, a response that the OpenAPI document does not describe, no response, or one after more
than ten seconds, and exits with status 1 if there are any. Several threads share the objects that they have seen.
"""

import argparse
import json
import random
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import httpx

from ingot.server.api_document import api_document
from tests.client import OpenApiValidator
from tests.fuzz.calls import CallGenerator, FuzzCall
from tests.server.process import TOKEN, serving

_SLOW_SECONDS = 10.0
_MAX_REPORTED = 60
_SEEDS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("/groups", "/groups", {"name": "Fuzz", "path": "fuzz"}),
    (
        "/users",
        "/users",
        {"name": "U", "username": "u1", "email": "u1@example.org", "password": "a password of a user"},
    ),
    ("/projects", "/projects", {"name": "one", "initialize_with_readme": True}),
    ("/projects/{id}/repository/branches", "/projects/1/repository/branches", {"branch": "topic", "ref": "master"}),
    ("/projects/{id}/repository/tags", "/projects/1/repository/tags", {"tag_name": "v1", "ref": "master"}),
    ("/projects/{id}/issues", "/projects/1/issues", {"title": "first"}),
    (
        "/projects/{id}/repository/files/{file_path}",
        "/projects/1/repository/files/a",
        {"branch": "topic", "content": "x", "commit_message": "m"},
    ),
    (
        "/projects/{id}/merge_requests",
        "/projects/1/merge_requests",
        {"title": "first", "source_branch": "topic", "target_branch": "master"},
    ),
)


class Fuzzer:
    """Threads that send calls until the given number is reached."""

    def __init__(self, url: str, token: str, calls: int, seed: int) -> None:
        self._url, self._token = f"{url}/api/v4", token
        self._remaining = calls
        self._lock = threading.Lock()
        self._paths = api_document()["paths"]
        self._calls = CallGenerator(api_document(), random.Random(seed))
        self._validator = OpenApiValidator()
        self.problems: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.reached: Counter[str] = Counter()

    def run(self, threads: int) -> None:
        """Send all calls."""
        with httpx.Client(timeout=60, headers={"PRIVATE-TOKEN": self._token}) as client:
            for template, path, body in _SEEDS:
                self._send(client, FuzzCall("POST", template, path, {}, body))
        workers = [threading.Thread(target=self._work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def _work(self) -> None:
        with httpx.Client(timeout=60, headers={"PRIVATE-TOKEN": self._token}) as client:
            while True:
                with self._lock:
                    if self._remaining <= 0 or len(self.problems) >= _MAX_REPORTED:
                        return
                    self._remaining -= 1
                    call = self._calls.next()
                self._send(client, call)

    def _send(self, client: httpx.Client, call: FuzzCall) -> None:
        started = time.monotonic()
        query = urlencode(call.query, doseq=True) if call.query else ""
        try:
            answer = client.request(
                call.method, f"{self._url}{call.path}{'?' if query else ''}{query}", json=call.body, timeout=60
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self._report(call, f"no response: {error!r}")
            return
        taken = time.monotonic() - started
        with self._lock:
            self.statuses[answer.status_code] += 1
            if answer.is_success:
                self.reached[f"{call.method} {call.template}"] += 1
        declared = self._paths[call.template][call.method.lower()]["responses"]
        if answer.status_code >= 500 and str(answer.status_code) not in declared:
            self._report(call, f"{answer.status_code} {answer.text[:200]}")
        if taken > _SLOW_SECONDS:
            self._report(call, f"took {taken:.1f} s")
        self._check(call, answer)

    def _check(self, call: FuzzCall, answer: httpx.Response) -> None:
        try:
            with self._lock:
                self._validator.check(call.method, call.path, answer)
                if answer.is_success and answer.headers.get("content-type", "").startswith("application/json"):
                    self._calls.learn(call, answer.json())
        except Exception as error:  # noqa: BLE001 - Any failure of the validation is a finding.
            self._report(call, f"{answer.status_code}: {str(error)[:300]}")

    def _report(self, call: FuzzCall, text: str) -> None:
        sent = json.dumps({"query": call.query, "body": call.body}, ensure_ascii=False, default=str)[:400]
        self.problems.append(f"{call.method} {call.path} ({call.template})\n    {text}\n    {sent}")


def main() -> None:
    """Run the calls and print the findings."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--database-url", default="", help="empty PostgreSQL database; default: SQLite")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder, serving(Path(folder) / "data", arguments.database_url) as server:
        fuzzer = Fuzzer(server.url, TOKEN, arguments.calls, arguments.seed)
        fuzzer.run(arguments.threads)
        fuzzer.problems += [f"process ended: {event}" for event in server.events("ended")]
    lines = [
        *fuzzer.problems,
        f"{sum(fuzzer.statuses.values())} calls, seed {arguments.seed}: {dict(sorted(fuzzer.statuses.items()))}",
        f"{len(fuzzer.reached)} routes reached with a 2xx, {len(fuzzer.problems)} problems",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.exit(bool(fuzzer.problems))


if __name__ == "__main__":
    main()
