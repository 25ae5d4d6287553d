"""Test server in its own process: started within a second, reset within milliseconds, removed at the end."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from ingot.testing.control import ControlClient, FaultInjection, HookDelivery, ReceivedRequest

if TYPE_CHECKING:
    from gitlab import Gitlab

_STOP_SECONDS = 15.0


class ServerFailed(Exception):
    """The server did not start; the text contains its output."""


class Server:
    """A temporary instance, used as a context manager.

    >>> with Server() as server:
    ...     server.url, server.token
    """

    def __init__(
        self,
        *,
        profile: str | None = None,
        reported_version: str | None = None,
        deterministic: bool = False,
        ssh: bool = False,
        settings: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
        start_seconds: float = 120.0,
    ) -> None:
        """Prepare a server; ``settings`` are values of ``INGOT_…`` variables by the name of the setting."""
        self._arguments = [*arguments]
        for flag, value in (("--profile", profile), ("--reported-version", reported_version)):
            if value is not None:
                self._arguments += [flag, value]
        self._arguments += ["--deterministic"] if deterministic else []
        self._arguments += ["--ssh-port", "0"] if ssh else []
        self._settings = dict(settings or {})
        self._start_seconds = start_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._control: ControlClient | None = None
        self._log: IO[bytes] | None = None
        self.url = ""
        """Address of the server, without a path."""
        self.token = ""
        """Personal access token of root, with the scopes api and sudo."""
        self.pid = 0
        """Process of the server."""
        self.ssh_url: str | None = None
        """Beginning of SSH URLs, such as ``ssh://git@127.0.0.1:2222``, with ``ssh=True``."""

    @property
    def api_url(self) -> str:
        """The address of the REST API."""
        return f"{self.url}/api/v4"

    def __enter__(self) -> "Server":
        """Start the server."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server."""
        self.stop()

    def start(self) -> None:
        """Start the server, and return when it accepts connections; raise ``ServerFailed`` if it does not."""
        reading, writing = os.pipe()
        command = [sys.executable, "-m", "ingot", "serve", "--testing", "--die-with-parent", "--port", "0"]
        command += ["--ready-fd", str(writing), "--log-format", "json", *self._arguments]
        self._log = tempfile.TemporaryFile("a+b")  # noqa: SIM115 - Closed by `stop`.
        try:
            self._process = subprocess.Popen(
                command,
                env=self._environment(),
                pass_fds=[writing],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
            )
        finally:
            os.close(writing)
        with os.fdopen(reading) as report:
            line = self._first_line(report.fileno())
        if not line:
            output = self.log()
            self.stop()
            raise ServerFailed(f"The server did not start: {' '.join(command)}\n{output}")
        ready = json.loads(line)
        self.url, self.token, self.ssh_url, self.pid = ready["url"], ready["token"], ready["ssh"], ready["pid"]
        self._control = ControlClient(self.url, ready["testing_secret"])

    def stop(self) -> None:
        """Stop the server and remove its data."""
        process, self._process, self._control = self._process, None, None
        if self._log is not None:
            self._log.close()
            self._log = None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def reset(self, snapshot: str = "") -> None:
        """Return to the empty instance of the start, or to a snapshot."""
        self._client.call("POST", "reset", {"name": snapshot})
        if self._log is not None:
            self._log.truncate(0)

    def log(self) -> str:
        """Return what the server has logged since its start or the last reset, one JSON document per line."""
        if self._log is None:
            return ""
        self._log.seek(0)
        return self._log.read().decode("utf-8", "replace")

    def snapshot(self, name: str) -> None:
        """Store the current state under a name."""
        self._client.call("POST", "snapshot", {"name": name})

    def seed(self, description: Mapping[str, Any] | str) -> dict[str, Any]:
        """Create users, groups and projects from a description, or from its text in JSON or YAML; return their ids."""
        created: dict[str, Any] = self._client.call("POST", "seed", description)
        return created

    def set_clock(self, time: str | None = None, *, advance: float = 0.0, frozen: bool | None = None) -> str:
        """Set, advance, freeze or release the clock; return the time of the server."""
        changes = {"set": time, "advance": advance, "frozen": frozen}
        now: str = self._client.call("POST", "clock", changes)["now"]
        return now

    def add_fault(self, fault: FaultInjection) -> None:
        """Inject a fault into the responses to matching requests."""
        self._client.add_fault(fault)

    def clear_faults(self) -> None:
        """Remove all faults."""
        self._client.call("DELETE", "faults")

    def requests(
        self, method: str = "", path: str = "", *, after: int = 0, wait: float = 0.0, count: int = 1
    ) -> list[ReceivedRequest]:
        """Return the requests with a method and a pattern in the path; with ``wait``, wait for ``count`` of them."""
        query = {"method": method, "path": path, "after": after, "wait": wait, "count": count}
        found = self._client.call("GET", "requests", query=query, wait=wait)
        return [ReceivedRequest(**entry) for entry in found]

    @property
    def hook_url(self) -> str:
        """The URL of the built-in receiver of webhooks; another last part names another receiver."""
        url: str = self._client.call("GET", "hooks")["url"]
        return f"{url}/default"

    def hooks(
        self, event: str = "", receiver: str = "", *, after: int = 0, wait: float = 0.0, count: int = 1
    ) -> list[HookDelivery]:
        """Return the deliveries that the receiver got; with ``wait``, wait for ``count`` of them."""
        query = {"event": event, "receiver": receiver, "after": after, "wait": wait, "count": count}
        found = self._client.call("GET", "hooks", query=query, wait=wait)
        return [HookDelivery(**delivery) for delivery in found["deliveries"]]

    def run_jobs(self) -> None:
        """Run all jobs and webhook deliveries that are due now."""
        self._client.call("POST", "jobs/run")

    def gitlab(self, token: str = "") -> "Gitlab":
        """Return a client of python-gitlab, which must be installed, for root or the owner of a token."""
        from gitlab import Gitlab

        return Gitlab(self.url, private_token=token or self.token)

    @property
    def _client(self) -> ControlClient:
        if self._control is None:
            raise ServerFailed("The server is not running")
        return self._control

    def _environment(self) -> dict[str, str]:
        """Return the environment without settings of another instance."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("INGOT_")}
        return inherited | {f"INGOT_{name.upper()}": value for name, value in self._settings.items()}

    def _first_line(self, descriptor: int) -> bytes:
        """Read the report until it is complete, the server ends, or the time is over."""
        deadline, text = time.monotonic() + self._start_seconds, b""
        while not text.endswith(b"\n"):
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([descriptor], [], [], remaining)[0]:
                return b""
            piece = os.read(descriptor, 65536)
            if not piece:
                return b""
            text += piece
        return text
