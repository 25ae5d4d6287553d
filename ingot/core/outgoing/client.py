"""A small HTTP client that connects only where the guard said, within one deadline, and keeps what it reads small.

It takes no proxy from the environment, follows no redirect by itself, and unpacks nothing.
"""

import base64
import http.client
import io
import socket
import ssl
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urljoin

from ingot.core.outgoing.guard import PinnedUrl, SsrfGuard
from ingot.core.outgoing.refusal import OutgoingRequestBlocked
from ingot.core.outgoing.urls import parse_url

USER_AGENT = "ingot"
MAX_REDIRECTS = 5
_REDIRECT_STATUSES = (301, 302, 303, 307, 308)
_CHUNK_SIZE = 16 * 1024
_INFO_REFS = "/info/refs?service=git-upload-pack"
_ADVERTISEMENT = "application/x-git-upload-pack-advertisement"


class Unreachable(Exception):
    """The request was allowed, but got no answer that is of use; ``reason`` is a sentence without any secret."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class FetchResponse(NamedTuple):
    """What a server said, as far as we wanted to hear it."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes
    truncated: bool
    """Whether there was more of the body than we read."""


class RemoteRepository(NamedTuple):
    """Where a repository really is, and what may be shown there."""

    url: str
    pinned: PinnedUrl
    username: str
    password: str


def send(
    pinned: PinnedUrl,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    *,
    deadline_seconds: float = 10.0,
    max_bytes: int = 64 * 1024,
    tls: ssl.SSLContext | None = None,
) -> FetchResponse:
    """Send one request to the pinned address, and read at most ``most_bytes`` of the answer's body.

    The deadline is for everything together, so that a server cannot hold us by sending a byte now and then.
    """
    deadline = time.monotonic() + deadline_seconds
    named = {"Host": host_header(pinned), "User-Agent": USER_AGENT, "Accept": "*/*", "Accept-Encoding": "identity"}
    connection = http.client.HTTPConnection(pinned.host, pinned.port)
    try:
        with _connect(pinned, deadline, tls) as plain:
            connection.sock = _DeadlineSocket(plain, deadline)  # It offers what is used of a socket.
            connection.request(method, pinned.target, body, {**named, "Connection": "close", **(headers or {})})
            with connection.getresponse() as response:
                read, more = _read_limited(response, max_bytes)
                return FetchResponse(response.status, response.headers, read, more)
    except TimeoutError as error:
        raise Unreachable("The server took too long") from error
    except ssl.SSLError as error:
        raise Unreachable("No secure connection to the server is possible") from error
    except OSError as error:
        raise Unreachable("The server cannot be reached") from error
    except http.client.HTTPException as error:
        raise Unreachable("The server's answer is not valid HTTP") from error


def follow_git_redirects(
    guard: SsrfGuard,
    url: str,
    username: str = "",
    password: str = "",
    *,
    deadline_seconds: float = 30.0,
    tls: ssl.SSLContext | None = None,
) -> RemoteRepository:
    """Walk the redirects that git would meet, checking each stop, and give the address where they end.

    git can then be told to follow none. Credentials stay behind when a redirect leaves the server.
    """
    deadline = time.monotonic() + deadline_seconds
    if "?" in url or "#" in url:
        raise OutgoingRequestBlocked("The URL of a repository has no query and no fragment")
    here = url.rstrip("/")
    for _ in range(MAX_REDIRECTS + 1):
        pinned = guard.pin(here + _INFO_REFS)
        answer = send(
            pinned,
            headers=_authorization(username, password),
            deadline_seconds=max(0.001, deadline - time.monotonic()),
            max_bytes=0,
            tls=tls,
        )
        if answer.status not in _REDIRECT_STATUSES:
            _require_repository(answer)
            return RemoteRepository(here, pinned, username, password)
        there = _redirect_target(guard, pinned, here, answer.headers.get("Location", ""))
        if not _same_origin(there, pinned):
            username = password = ""
        here = there
    raise Unreachable("The server redirects too often")


def _redirect_target(guard: SsrfGuard, pinned: PinnedUrl, here: str, location: str) -> str:
    """Where a redirect leads; it must keep the end of the address, or it would lead git to something else."""
    there = urljoin(here + _INFO_REFS, location)
    if not location or not there.endswith(_INFO_REFS):
        raise Unreachable("The server redirects to what is not a repository")
    guard.check_url(there)
    if pinned.scheme == "https" and not there.lower().startswith("https:"):
        raise OutgoingRequestBlocked("The server redirects to an address that is not secure")
    return there.removesuffix(_INFO_REFS)


def _same_origin(url: str, pinned: PinnedUrl) -> bool:
    parts = parse_url(url)
    return (parts.scheme, parts.host, parts.port) == (pinned.scheme, pinned.host, pinned.port)


def _require_repository(answer: FetchResponse) -> None:
    if answer.status in (401, 403):
        raise Unreachable("The server refused the credentials")
    if answer.status in (404, 410):
        raise Unreachable("There is no repository there")
    if answer.status != 200:
        raise Unreachable(f"The server answered with status {answer.status}")
    if answer.headers.get_content_type() != _ADVERTISEMENT:
        # Also what a plain file server says; git would then follow paths that the server names.
        raise Unreachable("There is no git repository there, or the server does not speak git's smart protocol")


def _authorization(username: str, password: str) -> dict[str, str]:
    if not (username or password):
        return {}
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()}


def host_header(pinned: PinnedUrl) -> str:
    """How a request names the server that it is for."""
    host = f"[{pinned.host}]" if ":" in pinned.host else pinned.host
    return host if pinned.port == {"http": 80, "https": 443}[pinned.scheme] else f"{host}:{pinned.port}"


def _read_limited(response: http.client.HTTPResponse, max_bytes: int) -> tuple[bytes, bool]:
    """Read on until there is enough; one byte more tells whether there would have been more. 0 means not to look."""
    if max_bytes == 0:
        return b"", True
    read = bytearray()
    while len(read) <= max_bytes:
        piece = response.read1(min(_CHUNK_SIZE, max_bytes + 1 - len(read)))
        if not piece:
            return bytes(read), False
        read += piece
    return bytes(read[:max_bytes]), True


def _connect(pinned: PinnedUrl, deadline: float, tls: ssl.SSLContext | None) -> socket.socket:
    plain = socket.create_connection((pinned.address, pinned.port), timeout=_remaining(deadline))
    if pinned.scheme == "http":
        return plain
    try:
        plain.settimeout(_remaining(deadline))
        return (tls or _default_tls()).wrap_socket(plain, server_hostname=pinned.host)
    except BaseException:
        plain.close()
        raise


@cache
def _default_tls() -> ssl.SSLContext:
    """Made at its first use, because it reads all the certificates that the machine trusts."""
    return ssl.create_default_context()


def _remaining(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _DeadlineSocket:
    """As much of a socket as ``http.client`` uses, where each step may take only what is left of the whole time."""

    def __init__(self, plain: socket.socket, deadline: float) -> None:
        self._socket = plain
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        self._socket.settimeout(_remaining(self._deadline))
        self._socket.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_DeadlineReader(self._socket, self._deadline))

    def close(self) -> None:
        """Nothing: it is called as soon as the headers are read, and whoever connected closes the socket itself."""


class _DeadlineReader(io.RawIOBase):
    def __init__(self, plain: socket.socket, deadline: float) -> None:
        self._socket = plain
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        self._socket.settimeout(_remaining(self._deadline))
        return self._socket.recv_into(buffer)
