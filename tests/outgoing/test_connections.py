"""The client for many requests at once: where it connects, what it reads, and when a connection serves again."""

import asyncio
import ssl
from collections.abc import Callable

import pytest

from ingot.core.outgoing.async_client import HttpConnection, HttpResponse
from ingot.core.outgoing.client import Unreachable
from tests.outgoing.test_fetch import answering, certificate, pinned, saying

__all__ = ["certificate"]
OK = b"HTTP/1.1 200 OK\r\n"


def post(port: int) -> HttpResponse:
    """One request on a connection of its own."""

    async def run() -> HttpResponse:
        async with asyncio.timeout(10):
            line = await HttpConnection.open(pinned(port))
            try:
                return await line.post([("X-Token", "tökén")], b"body", max_bytes=100)
            finally:
                line.close()

    return asyncio.run(run())


def test_a_request_goes_to_the_pinned_address_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through no proxy of the environment, and asking for nothing to be packed."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with answering(saying(OK + b"X-Y: z\r\nContent-Length: 2\r\n\r\nok")) as (port, heard):
        reply = post(port)
    assert (reply.status, reply.body, reply.truncated, reply.header("x-y")) == (200, b"ok", False, "z")
    head = heard[0].decode()
    assert head.startswith("POST /in?x=1 HTTP/1.1\r\n")
    assert f"\r\nHost: hooks.example:{port}\r\n" in head
    assert "\r\nAccept-Encoding: identity\r\n" in head
    assert "\r\nContent-Length: 4\r\n" in head
    assert "\r\nX-Token: tökén\r\n" in head
    assert head.endswith("\r\n\r\nbody")


@pytest.mark.parametrize(
    ("text", "body", "truncated"),
    [
        (b"Content-Length: 0\r\n\r\n", b"", False),
        (b"\r\nuntil the end", b"until the end", False),
        (b"Content-Length: 200\r\n\r\n" + b"x" * 200, b"x" * 100, True),
        (b"\r\n" + b"x" * 200, b"x" * 100, True),
        (b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n3;x=y\r\nyes\r\n0\r\nTrailer: x\r\n\r\n", b"okyes", False),
        (b"Transfer-Encoding: chunked\r\n\r\nffffff\r\n" + b"x" * 200, b"x" * 100, True),
    ],
)
def test_bodies_are_read_as_far_as_is_wanted(text: bytes, body: bytes, truncated: bool) -> None:
    """However they are told to end."""
    with answering(saying(OK + text)) as (port, _):
        reply = post(port)
    assert (reply.body, reply.truncated) == (body, truncated)


def test_an_interim_answer_is_not_the_answer() -> None:
    """A server may say that it goes on."""
    with answering(saying(b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok")) as (port, _):
        assert post(port).body == b"ok"


@pytest.mark.parametrize(
    "text",
    [
        b"", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 2000 OK\r\n\r\n", b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n",
        OK + b"no colon\r\n\r\n", OK + b"X: y\r\n" * 200 + b"\r\n", OK + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\n", OK + b"Content-Length: 10\r\n\r\nshort", OK + b"Content-Length: x\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nx",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nx", OK + b"X: y\r\n", b"x" * 100_000,
    ],
)  # fmt: skip
def test_nonsense_is_no_answer(text: bytes) -> None:
    """Whatever a server says instead of HTTP, it is told in a sentence."""
    with answering(saying(text)) as (port, _), pytest.raises(Unreachable) as caught:
        post(port)
    assert caught.value.reason


def test_nobody_listens() -> None:
    """Which is said, too."""
    with answering() as (port, _):
        pass
    with pytest.raises(Unreachable, match="cannot be reached"):
        post(port)


@pytest.mark.parametrize(
    ("text", "reusable"),
    [
        (OK + b"Content-Length: 2\r\n\r\nok", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", True),
        (OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nok", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", False),
        (OK + b"Content-Length: 200\r\n\r\n" + b"x" * 200, False),
        (OK + b"\r\nok", False),
    ],
)
def test_when_a_connection_serves_again(text: bytes, reusable: bool) -> None:
    """Only where nothing of the answer is left in it, and the server did not say otherwise."""

    async def run(port: int) -> bool:
        line = await HttpConnection.open(pinned(port))
        await line.post([], b"", max_bytes=100)
        kept = line.reusable
        line.close()
        return kept

    with answering(saying(text)) as (port, _):
        assert asyncio.run(run(port)) is reusable


def test_a_header_cannot_become_two() -> None:
    """Attack: a token with a line break. Nothing is sent."""

    async def run(port: int) -> None:
        line = await HttpConnection.open(pinned(port))
        try:
            await line.post([("X-Token", "a\r\nX-Other: b")], b"", max_bytes=100)
        finally:
            line.close()

    with answering(saying(b"")) as (port, heard), pytest.raises(Unreachable):
        asyncio.run(run(port))
    assert heard == [b""]


def test_certificates(certificate: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    """One that nobody trusts is refused, unless it is not to be looked at; a name must be the pinned one."""
    server, trusting = certificate
    text = OK + b"Content-Length: 2\r\n\r\nok"

    def attempt(host: str, opened: Callable[..., object]) -> bytes:
        async def run(port: int) -> bytes:
            line = await opened(pinned(port, host, "https"))  # type: ignore[misc] # It is a coroutine.
            try:
                return bytes((await line.post([], b"", max_bytes=10)).body)
            finally:
                line.close()

        with answering(saying(text), tls=server) as (port, _):
            return asyncio.run(run(port))

    assert attempt("repo.example", lambda where: HttpConnection.open(where, tls=trusting)) == b"ok"
    assert attempt("other.example", lambda where: HttpConnection.open(where, verify=False)) == b"ok"
    for opened in (HttpConnection.open, lambda where: HttpConnection.open(where, tls=trusting)):
        with pytest.raises(Unreachable, match="secure"):
            attempt("other.example", opened)
