"""Raw git protocol for tests: requests, packets, and commands over one open SSH connection."""

import base64
import hashlib
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from tests.client import User
from tests.conftest import Instance
from tests.factories import Project
from tests.transport.conftest import ssh_command

ZERO = "0" * 40
EMPTY_PACK = b"PACK\0\0\0\2\0\0\0\0"
EMPTY_PACK += hashlib.sha1(EMPTY_PACK).digest()
MISSING = "The project you were looking for could not be found or you don't have permission to view it."
Auth = tuple[str, str] | None
_client = httpx.Client(timeout=60)
_numbers = count()


def auth_of(person: User | None) -> Auth:
    """Return the credentials that git sends for a user's token."""
    return (person.username, person.token) if person else None


def packet(line: str | bytes) -> bytes:
    """Return a line prefixed by its length."""
    raw = line.encode() if isinstance(line, str) else line
    return b"%04x%s" % (len(raw) + 4, raw)


def call_git(
    instance: Instance, method: str, path: str, auth: Auth = None, headers: dict[str, str] | None = None, **options: Any
) -> httpx.Response:
    """Send a request with the path exactly as given."""
    sent = dict(headers or {})
    if auth is not None:
        sent["Authorization"] = "Basic " + base64.b64encode(":".join(auth).encode()).decode()
    raw, _, query = path.partition("?")
    url = httpx.URL(instance.url).copy_with(raw_path=f"{raw}{f'?{query}' if query else ''}".encode())
    return _client.request(method, url, headers=sent, **options)


def advertised(instance: Instance, path: str, service: str = "upload", auth: Auth = None) -> httpx.Response:
    """Request the ref advertisement of a clone (``upload``) or a push (``receive``)."""
    return call_git(instance, "GET", f"/{path}/info/refs?service=git-{service}-pack", auth)


def advertised_at(instance: Instance, target: str, auth: Auth = None) -> tuple[int, bytes]:
    """Request the ref advertisement at a target exactly as given, without normalization."""
    connection = HTTPConnection(httpx.URL(instance.url).host, httpx.URL(instance.url).port, timeout=60)
    sent = {"Authorization": "Basic " + base64.b64encode(":".join(auth).encode()).decode()} if auth else {}
    try:
        connection.request("GET", target, headers=sent)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def exchange(
    instance: Instance, path: str, service: str, body: Any, auth: Auth = None, headers: dict[str, str] | None = None
) -> httpx.Response:
    """Send the request that follows the ref advertisement."""
    kind = {"Content-Type": f"application/x-git-{service}-pack-request", **(headers or {})}
    return call_git(instance, "POST", f"/{path}/git-{service}-pack", auth, kind, content=body)


def send_commands(
    instance: Instance,
    project: Project,
    person: User,
    commands: Sequence[tuple[str, str, str]],
    pack: bytes = EMPTY_PACK,
) -> str:
    """Push ``(old, new, ref)`` as claimed, and return git's report."""
    lines = [f"{old} {new} {ref}" for old, new, ref in commands]
    lines[0] += "\0report-status side-band-64k agent=by-hand"
    body = b"".join(map(packet, lines)) + b"0000" + pack
    answer = exchange(instance, f"{project.path}.git", "receive", body, auth_of(person))
    assert answer.status_code == 200, answer.text
    return answer.text


@dataclass
class CommandResult:
    """Result of a command over SSH."""

    status: int
    out: bytes
    err: str


class OpenConnection:
    """Connection over which any number of commands run."""

    def __init__(self, instance: Instance, command: Sequence[str], control: Path) -> None:
        self._there = ["-p", str(instance.settings.ssh_port), "-S", str(control), "git@127.0.0.1"]
        self._command = command

    def run(self, command: str, input: bytes = b"", *options: str) -> CommandResult:
        """Run a command on the server."""
        args = [*self._command, *options, *self._there, "--", command]
        done = subprocess.run(args, input=input, capture_output=True, check=False, timeout=60)
        return CommandResult(done.returncode, done.stdout, done.stderr.decode(errors="replace"))

    def popen(self, command: str) -> "subprocess.Popen[bytes]":
        """Start a command on the server."""
        args = [*self._command, *self._there, "--", command]
        return subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@contextmanager
def connected(instance: Instance, key: Path, folder: Path) -> Iterator[OpenConnection]:
    """Open a connection for the duration of a block."""
    command = ssh_command(key).split()
    control = folder / f"c{next(_numbers)}"  # Short, because the path of a socket is limited.
    master = subprocess.Popen(
        [*command, "-M", "-N", "-S", str(control), "-p", str(instance.settings.ssh_port), "git@127.0.0.1"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        waiting = [*command, "-S", str(control), "-O", "check", "git@127.0.0.1"]
        while subprocess.run(waiting, capture_output=True, check=False).returncode != 0:
            assert master.poll() is None, "the connection was refused"
        yield OpenConnection(instance, command, control)
    finally:
        master.kill()
        master.wait()


def key_of(env: dict[str, str]) -> Path:
    """Return the file of the key that git uses."""
    words = env["GIT_SSH_COMMAND"].split()
    return Path(words[words.index("-i") + 1])
