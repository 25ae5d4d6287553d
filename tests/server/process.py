"""Server as a separate process, and the other commands."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

import httpx

from tests import fork_server

T = TypeVar("T")
INGOT = [sys.executable, "-m", "ingot"]
ROOT = Path(__file__).parents[2]
TOKEN = "token-of-the-first-start"
PASSWORD = "password-of-the-first-start"


def environment(**more: str) -> dict[str, str]:
    """Return the environment without settings of the test run."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("INGOT_")}
    return {**clean, "PYTHONWARNINGS": "ignore", **more}


def ingot(*arguments: object, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return fork_server.run("ingot", *map(str, arguments), stdin=stdin, env=environment(**more))


def until(what: str, look: Callable[[], T | Literal[False] | None], seconds: float = 60.0) -> T:
    """Poll until a value is returned; fail with ``what`` on timeout."""
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s in vain: {what}"
        time.sleep(0.01)


def is_alive(pid: int, group: int | None = None) -> bool:
    """Return whether a process runs, in a process ``group`` if one is given; a zombie does not."""
    try:
        state, _, its_group = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:3]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z" and group in (None, int(its_group))


class Server:
    """``ingot serve`` on a free port; all its processes are in one group, which is killed after the test."""

    def __init__(self, data: Path, database_url: str = "") -> None:
        self.data = data
        self.database_url = database_url
        self.run_folder = data / "run"
        self.module = "ingot"
        """Module that ``start`` runs."""
        self.process: subprocess.Popen[bytes] | fork_server.ForkedProcess | None = None
        self.url = ""
        self._log = data.parent / f"{data.name}.log"
        self._out = data.parent / f"{data.name}.out"

    def prepare(self) -> None:
        """Run the first start, and stop."""
        words = ["migrate", "--data", str(self.data)]
        words += ["--database-url", self.database_url] if self.database_url else []
        done = fork_server.run("ingot", *words, env=self._chosen({}))
        assert done.returncode == 0, done.stderr

    def start(self, *arguments: object, wait: bool = True, **more: str) -> "Server":
        """Start, and wait until it is ready."""
        (self.run_folder / "address").unlink(missing_ok=True)
        words, chosen = self._words(arguments), self._chosen(more)
        with self._log.open("ab") as log, self._out.open("ab") as out:
            self.process = fork_server.start(
                self.module, *words, stdout=out.fileno(), stderr=log.fileno(), env=chosen, new_session=True
            )
        if wait:
            self.wait_until_ready()
        return self

    def start_by_interpreter(self, *arguments: object, wait: bool = True, nofile: int = 0, **more: str) -> "Server":
        """Start as a shell does, by the interpreter, also with few open files."""
        (self.run_folder / "address").unlink(missing_ok=True)
        command = [sys.executable, "-m", self.module, *self._words(arguments)]
        if nofile:
            command = ["sh", "-c", f'ulimit -n {nofile} && exec "$@"', "sh", *command]
        with self._log.open("ab") as log, self._out.open("ab") as out:
            self.process = subprocess.Popen(
                command, stdout=out, stderr=log, env=self._chosen(more), cwd=ROOT, start_new_session=True
            )
        if wait:
            self.wait_until_ready()
        return self

    def _words(self, arguments: tuple[object, ...]) -> list[str]:
        flags = ["--data", self.data, "--port", 0, "--ssh-port", 0]
        flags += ["--database-url", self.database_url] if self.database_url else []
        return ["serve", *map(str, (*flags, "--workers", 1, *arguments))]

    def _chosen(self, more: dict[str, str]) -> dict[str, str]:
        return environment(**{"INGOT_ROOT_TOKEN": TOKEN, "INGOT_ROOT_PASSWORD": PASSWORD, **more})

    def wait_until_ready(self) -> None:
        """Read the address from the log, and wait until it is ready."""
        address = self.run_folder / "address"
        self.url = until("the address", lambda: self._running() and _whole(address))
        until("readiness", lambda: self._running() and self.ready() == 200)

    def _running(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"it ended: {self.log()}{self.output()}"
        return True

    def ready(self) -> int:
        """Return the status of readiness, or 0 without a response."""
        try:
            return httpx.get(f"{self.url}/-/readiness", timeout=30).status_code
        except httpx.TransportError:
            return 0

    def call(self, method: str, path: str, token: str = TOKEN, **options: Any) -> httpx.Response:
        """Call the API as root."""
        headers = {"PRIVATE-TOKEN": token, **options.pop("headers", {})}
        return httpx.request(method, f"{self.url}/api/v4{path}", headers=headers, timeout=60, **options)

    def log(self) -> str:
        """Return the log."""
        return self._log.read_text() if self._log.exists() else ""

    def output(self) -> str:
        """Return the output."""
        return self._out.read_text() if self._out.exists() else ""

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the log lines of one kind; the last line may not be written to its end yet."""
        whole = [line for line in self.log().splitlines(keepends=True) if line.endswith("\n")]
        lines = [json.loads(line) for line in whole if line.startswith("{")]
        return [line for line in lines if line["event"] == name]

    def child(self, name: str) -> int:
        """Return the current process with this role."""
        pids: list[int] = [event["pid"] for event in self.events("started") if event["process"] == name]
        return pids[-1]

    def children(self) -> list[int]:
        """Return every process that this server ever started."""
        return [event["pid"] for event in self.events("started")]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop it and return the exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(60)

    def kill(self) -> None:
        """Kill all of its processes at once, as a power cut would."""
        if self.process is None:
            return
        group = self.process.pid
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(60)
        # The numbers of children that have ended may belong to other processes now.
        until("the children's end", lambda: not any(is_alive(pid, group) for pid in self.children()))


def _whole(address: Path) -> str | None:
    try:
        text = address.read_text()
    except FileNotFoundError:
        return None
    return text.strip() if text.endswith("\n") else None


@contextmanager
def serving(data: Path, database_url: str = "", *arguments: object, **more: str) -> Iterator[Server]:
    """Run a server for the duration of a block."""
    server = Server(data, database_url)
    try:
        yield server.start(*arguments, wait=True, **more)
    finally:
        server.kill()


def fresh_database(database_url: str, name: str, template: str = "template1") -> str:
    """Create a database on the same PostgreSQL server, empty or from a template; an empty string without one."""
    if not database_url:
        return ""
    import psycopg

    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE {template}')
    return re.sub(r"/postgres\?", f"/{name}?", database_url)
