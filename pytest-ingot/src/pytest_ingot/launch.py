"""Start and end of the process of a server: a program on this machine, or the client of a container runtime."""

import json
import os
import secrets
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pytest_ingot.locations import Image, Program

_STOP_SECONDS = 15.0
_CONTAINER_PORT, _CONTAINER_SSH_PORT = "8080", "2222"
_ALL_ADDRESSES = "0.0.0.0"  # noqa: S104 - Within the container, whose ports are published on loopback.


class ServerFailed(Exception):
    """The server did not start; the text contains its output."""


class StartOptions(NamedTuple):
    """Options of the start of a server."""

    arguments: Sequence[str]
    """Further arguments of ``ingot serve``."""
    settings: Mapping[str, str]
    """Values of ``INGOT_…`` variables by the name of the setting."""
    serves_ssh: bool
    seconds: float
    """How long the start may take."""


class Launched:
    """A started process, its log, and what it reported."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], seconds: float) -> None:
        """Start a command that writes its report to the descriptor ``{report}`` or to standard output."""
        reading, writing = os.pipe()
        words = [word.format(report=writing) if word == "{report}" else word for word in command]
        to_descriptor = "{report}" in command
        self._log = tempfile.TemporaryFile("a+b")  # noqa: SIM115 - Closed by `stop`.
        try:
            self._process = subprocess.Popen(
                words,
                env=environment,
                pass_fds=[writing] if to_descriptor else [],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL if to_descriptor else writing,
                stderr=self._log,
            )
        except OSError as error:
            os.close(reading)
            self._log.close()
            raise ServerFailed(f"The server did not start: {error}") from error
        finally:
            os.close(writing)
        with os.fdopen(reading) as report:
            line = _first_line(report.fileno(), seconds)
        if not line:
            output = self.log()
            self.stop()
            raise ServerFailed(f"The server did not start: {' '.join(words)}\n{output}")
        self.report: dict[str, Any] = json.loads(line)

    def log(self) -> str:
        """Return what the process has written to standard error since its start or the last ``forget_log``."""
        self._log.seek(0)
        return self._log.read().decode("utf-8", "replace")

    def forget_log(self) -> None:
        """Empty the log."""
        self._log.truncate(0)

    def stop(self) -> None:
        """End the process, which removes its data."""
        self._log.close()
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def launch_program(program: Program, options: StartOptions) -> Launched:
    """Start a program of this machine on free ports; it ends with this process."""
    command = [*program.command, "serve", "--testing", "--die-with-parent", "--port", "0", "--ready-fd", "{report}"]
    command += ["--log-format", "json", *(["--ssh-port", "0"] if options.serves_ssh else []), *options.arguments]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("INGOT_")}
    return Launched(command, inherited | _variables(options), options.seconds)


def launch_container(image: Image, options: StartOptions) -> Launched:
    """Start a container whose ports are published on loopback; the report has the addresses of this machine."""
    name = f"pytest-ingot-{secrets.token_hex(6)}"
    variables = _variables(options)
    variables.setdefault("INGOT_TESTING_SECRET", secrets.token_urlsafe(24))
    command = [image.runtime, "run", "--rm", "--name", name, "--publish", f"127.0.0.1::{_CONTAINER_PORT}"]
    command += ["--publish", f"127.0.0.1::{_CONTAINER_SSH_PORT}"] if options.serves_ssh else []
    for variable in variables:
        command += ["--env", variable]
    command += [image.name, "serve", "--testing", "--host", _ALL_ADDRESSES, "--port", _CONTAINER_PORT]
    command += ["--ready-fd", "1", "--log-format", "json"]
    command += ["--ssh-port", _CONTAINER_SSH_PORT] if options.serves_ssh else []
    launched = Launched([*command, *options.arguments], os.environ | variables, options.seconds)
    report = launched.report
    report["url"] = f"http://{_published(image.runtime, name, _CONTAINER_PORT)}"
    if options.serves_ssh:
        report["ssh"] = f"ssh://git@{_published(image.runtime, name, _CONTAINER_SSH_PORT)}"
    return launched


def _variables(options: StartOptions) -> dict[str, str]:
    return {f"INGOT_{name.upper()}": value for name, value in options.settings.items()}


def _published(runtime: str, name: str, port: str) -> str:
    """Return the address on this machine that leads to a port of a container."""
    done = subprocess.run([runtime, "port", name, f"{port}/tcp"], capture_output=True, text=True, check=True)
    return done.stdout.split()[-1]


def _first_line(descriptor: int, seconds: float) -> bytes:
    """Read the report until it is complete, the server ends, or the time is over."""
    deadline, text = time.monotonic() + seconds, b""
    while not text.endswith(b"\n"):
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not select.select([descriptor], [], [], remaining)[0]:
            return b""
        piece = os.read(descriptor, 65536)
        if not piece:
            return b""
        text += piece
    return text
