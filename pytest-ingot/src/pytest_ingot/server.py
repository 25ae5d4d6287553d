"""Test server: started within a second or already running, reset within milliseconds."""

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pytest_ingot.control import ControlClient
from pytest_ingot.launch import Launched, ServerFailed, StartOptions, launch_container, launch_program
from pytest_ingot.locations import Address, Image, Program, find_server
from pytest_ingot.records import FaultInjection, HookDelivery, ReceivedRequest, SeededData

if TYPE_CHECKING:
    from gitlab import Gitlab


class Server:
    """A temporary instance, used as a context manager.

    >>> with Server() as server:
    ...     server.url, server.token
    """

    def __init__(
        self,
        location: str = "",
        *,
        profile: str | None = None,
        reported_version: str | None = None,
        deterministic: bool = False,
        ssh: bool = False,
        settings: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
        start_seconds: float = 120.0,
    ) -> None:
        """Prepare a server; ``settings`` are values of ``INGOT_…`` variables by the name of the setting.

        ``location`` is ``here``, a path, ``image:NAME`` or a URL; by default the first place where a server is found.
        """
        self._location = location
        chosen = [*arguments]
        for flag, value in (("--profile", profile), ("--reported-version", reported_version)):
            if value is not None:
                chosen += [flag, value]
        chosen += ["--deterministic"] if deterministic else []
        self._options = StartOptions(chosen, dict(settings or {}), ssh, start_seconds)
        self._launched: Launched | None = None
        self._control: ControlClient | None = None
        self.url = ""
        """Address of the server, without a path."""
        self.token = ""
        """Personal access token of root, with the scopes api and sudo."""
        self.pid = 0
        """Process of the server; 0 if it is not one of this machine."""
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
        """Start the server, and return when it accepts connections.

        Raises ``ServerNotFound`` if there is none, and ``ServerFailed`` if it does not start.
        """
        location = find_server(self._location)
        if isinstance(location, Address):
            self._connect(location)
            return
        if isinstance(location, Program):
            self._launched = launch_program(location, self._options)
        else:
            self._launched = launch_container(location, self._options)
        ready = self._launched.report
        self.url, self.token, self.ssh_url = ready["url"], ready["token"], ready["ssh"]
        self.pid = 0 if isinstance(location, Image) else ready["pid"]
        self._control = ControlClient(self.url, ready["testing_secret"])

    def stop(self) -> None:
        """Stop the server and remove its data; one at a URL continues."""
        launched, self._launched, self._control = self._launched, None, None
        if launched is not None:
            launched.stop()

    def reset(self, snapshot: str = "") -> None:
        """Return to the empty instance of the start, or to a snapshot."""
        self._client.call("POST", "reset", {"name": snapshot})
        if self._launched is not None:
            self._launched.forget_log()

    def log(self) -> str:
        """Return what the server has logged since its start or the last reset, one JSON document per line.

        Empty for a server at a URL.
        """
        return self._launched.log() if self._launched is not None else ""

    def snapshot(self, name: str) -> None:
        """Store the current state under a name."""
        self._client.call("POST", "snapshot", {"name": name})

    def seed(self, description: Mapping[str, Any] | str) -> SeededData:
        """Create users, groups and projects from a description, or from its text in JSON or YAML; return their ids."""
        return SeededData.from_document(self._client.call("POST", "seed", description))

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
        self,
        method: str = "",
        path: str = "",
        *,
        after: ReceivedRequest | int | None = None,
        wait: float = 0.0,
        count: int = 1,
    ) -> list[ReceivedRequest]:
        """Return the requests with a method and a pattern in the path, oldest first.

        With ``after``, only those that came after a request or its id. With ``wait``, wait up to so many seconds for
        ``count`` of them.
        """
        query = {"method": method, "path": path, "after": _id_of(after), "wait": wait, "count": count}
        found = self._client.call("GET", "requests", query=query, wait=wait)
        return [ReceivedRequest(**entry) for entry in found]

    @property
    def hook_url(self) -> str:
        """The URL of the built-in receiver of webhooks; another last part names another receiver."""
        url: str = self._client.call("GET", "hooks")["url"]
        return f"{url}/default"

    def hooks(
        self,
        event: str = "",
        receiver: str = "",
        *,
        after: HookDelivery | int | None = None,
        wait: float = 0.0,
        count: int = 1,
    ) -> list[HookDelivery]:
        """Return the deliveries that the receiver got, oldest first.

        With ``after``, only those that came after a delivery or its id. With ``wait``, wait up to so many seconds for
        ``count`` of them.
        """
        query = {"event": event, "receiver": receiver, "after": _id_of(after), "wait": wait, "count": count}
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

    def _connect(self, address: Address) -> None:
        """Use a server that somebody else has started, with the two secrets that it was started with."""
        if self._options.arguments or self._options.settings or self._options.serves_ssh:
            raise ServerFailed(f"The server at {address.url} has been started already: give it its options there")
        secrets = [os.environ.get(name, "") for name in ("INGOT_TESTING_SECRET", "INGOT_ROOT_TOKEN")]
        if not all(secrets):
            raise ServerFailed(
                f"The server at {address.url} needs INGOT_TESTING_SECRET and INGOT_ROOT_TOKEN in the environment of the"
                " tests, with the values that it was started with"
            )
        self._control = ControlClient(address.url, secrets[0], is_remote=True)
        self._control.call("GET", "clock")
        self.url, self.token = address.url, secrets[1]


def _id_of(entry: ReceivedRequest | HookDelivery | int | None) -> int:
    """Return the id after which entries are wanted."""
    return entry if isinstance(entry, int) else entry.id if entry is not None else 0
