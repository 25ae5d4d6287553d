"""Webhooks: cost added to a push, deliveries per job worker, and isolation from a dead receiver."""

import asyncio
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from sqlalchemy import delete, select

from bench.repositories import Measurement
from bench.user_data import TOKEN
from ingot.core.db.connection import Connection
from ingot.core.settings import Settings
from ingot.server.app import open_database
from ingot.webhooks.outbox import queue_event
from ingot.webhooks.tables import hook_events, hooks

DELIVERIES = 1_000
HOOKS, QUEUED = 100, 10_000
PUSHES = 30
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_IDS = select(hooks.c.id).order_by(hooks.c.id)


class _ReceiverProtocol(asyncio.Protocol):
    """Minimal protocol of a receiver."""

    def __init__(self, receiver: "Receiver") -> None:
        self._receiver = receiver
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the connection."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Respond to each complete request."""
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            head = self._read[:end].lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
            if len(self._read) < end + 4 + length:
                return
            self._read = self._read[end + 4 + length :]
            self._transport.write(_ANSWER)  # type: ignore[attr-defined] # asyncio passes a transport that writes.
            self._receiver.times.append(time.perf_counter())


class Receiver:
    """Receiver that responds at once, and records the times of requests."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.port = 0
        ready = threading.Event()

        async def serve() -> None:
            server = await asyncio.get_running_loop().create_server(lambda: _ReceiverProtocol(self), "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()
            await server.serve_forever()

        threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
        ready.wait()

    def wait(self, count: int, seconds: float = 120.0) -> float:
        """Wait for this many requests and return the seconds since the first one."""
        deadline = time.perf_counter() + seconds
        while len(self.times) < count:
            if time.perf_counter() > deadline:
                raise RuntimeError(f"only {len(self.times)} of {count} came")
            time.sleep(0.002)
        taken = self.times[count - 1] - self.times[0]
        self.times.clear()
        return taken


@contextmanager
def _serving(settings: Settings) -> Iterator[str]:
    """Run the whole server, with one web worker and one job worker."""
    command = [sys.executable, "-m", "ingot", "serve", "--data", str(settings.data), "--workers", "1", "--port", "0"]
    environment = {**os.environ, "INGOT_ALLOW_LOCAL_REQUESTS": "1"}
    address = settings.data / "run" / "address"
    address.unlink(missing_ok=True)
    process = subprocess.Popen([*command, "--ssh-port", "0"], env=environment, stderr=subprocess.DEVNULL)
    try:
        while not (address.exists() and address.read_text()):
            time.sleep(0.01)
        url = address.read_text().strip()
        while httpx.get(f"{url}/-/readiness", timeout=30).status_code != 200:
            time.sleep(0.01)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def measure_hooks(settings: Settings) -> Iterator[Measurement]:
    """Run all webhook benchmarks."""
    receiver = Receiver()
    with (
        _serving(settings) as url,
        httpx.Client(base_url=f"{url}/api/v4", headers={"PRIVATE-TOKEN": TOKEN}, timeout=60) as api,
    ):
        yield _pushes(url, api, receiver)
    yield _one_hook(settings, receiver)
    yield _dead_receiver(settings, receiver)


def _project(api: httpx.Client, name: str) -> int:
    number: int = api.post("/projects", json={"name": name}).raise_for_status().json()["id"]
    return number


def _add_hook(api: httpx.Client, project: int, url: str) -> None:
    api.post(f"/projects/{project}/hooks", json={"url": url}).raise_for_status()


def _pushes(url: str, api: httpx.Client, receiver: Receiver) -> Measurement:
    """Measure the same pushes to a project with ten hooks and to one without, in turn."""
    told = _project(api, "told")
    _project(api, "quiet")
    for number in range(10):
        _add_hook(api, told, f"http://127.0.0.1:{receiver.port}/{number}")
    times: dict[str, list[float]] = {"told": [], "quiet": []}
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", "init", "-q", "-b", "master"], cwd=tree, check=True)
        for number in range(PUSHES):
            (tree / "file").write_text(f"{number}\n")
            subprocess.run(["git", "add", "file"], cwd=tree, check=True)
            subprocess.run(["git", *who, "commit", "-q", "-m", f"Change {number}"], cwd=tree, check=True)
            for name in ("told", "quiet") if number % 2 else ("quiet", "told"):
                address = url.replace("http://", f"http://root:{TOKEN}@") + f"/root/{name}.git"
                started = time.perf_counter()
                subprocess.run(["git", "push", "-q", address, "master"], cwd=tree, check=True)
                times[name].append(time.perf_counter() - started)
                if name == "told":
                    receiver.wait(10)
    ratio = statistics.median(times["told"]) / statistics.median(times["quiet"])
    return Measurement("push with 10 hooks / without", ratio, "<= 1.10", ratio <= 1.10)


def _queue(settings: Settings, ports: list[int], count: int) -> None:
    """Queue events while no dispatcher runs; each hook has its port."""
    database = open_database(settings)

    def work(db: Connection) -> None:
        db.run(delete(hook_events))
        known = [row[0] for row in db.rows(_IDS)][: len(ports)]
        for hook_id, port in zip(known, ports, strict=True):
            db.update(hooks, hook_id, url=f"http://127.0.0.1:{port}/", failures=0, disabled_until=None)
        payload = {"object_kind": "push", "commits": [{"message": "x" * 50}] * 20}
        for _ in range(count):
            queue_event(db, "push_events", payload, known)

    database.write(work)
    database.close()


def _one_hook(settings: Settings, receiver: Receiver) -> Measurement:
    _queue(settings, [receiver.port], DELIVERIES)
    with _serving(settings):
        seconds = receiver.wait(DELIVERIES)
    rate = DELIVERIES / seconds
    return Measurement("deliveries / s, one receiver", rate, ">= 300", rate >= 300)


def _dead_receiver(settings: Settings, receiver: Receiver) -> Measurement:
    """Compare deliveries to a hundred receivers with and without one that never responds."""
    with (
        _serving(settings) as url,
        httpx.Client(base_url=f"{url}/api/v4", headers={"PRIVATE-TOKEN": TOKEN}, timeout=60) as api,
    ):
        project = _project(api, "many")
        for _ in range(HOOKS - 10):
            _add_hook(api, project, f"http://127.0.0.1:{receiver.port}/")
    each = QUEUED // HOOKS
    taken = {}
    with socket.create_server(("127.0.0.1", 0)) as dead:
        for name, first in (("alive", receiver.port), ("dead", dead.getsockname()[1])):
            _queue(settings, [first] + [receiver.port] * (HOOKS - 1), each)
            with _serving(settings):
                taken[name] = receiver.wait(each * (HOOKS - 1))
            receiver.times.clear()
    print(f"deliveries/s to 99 hooks: {each * (HOOKS - 1) / taken['dead']:.0f}", flush=True)
    ratio = taken["dead"] / taken["alive"]
    return Measurement("99 hooks beside a dead one / without", ratio, "<= 1.10", ratio <= 1.10)
