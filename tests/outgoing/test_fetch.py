"""The client that connects only where the guard said, against servers that mean no good."""

import gzip
import itertools
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from ingot.core.outgoing.client import Unreachable, follow_git_redirects, send
from ingot.core.outgoing.guard import OutgoingRequestBlocked, PinnedUrl, SsrfGuard
from ingot.git.maintenance.fetch import fetch_into
from ingot.git.maintenance.store import RepositoryStore, new_key
from tests.certificates import certificate_for
from tests.git.conftest import Clone
from tests.git.git_server import GitServer, serving

LOCAL = SsrfGuard(allow_local=True)
OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def answering(*answers: Callable[[socket.socket], None], tls: ssl.SSLContext | None = None) -> Iterator[Any]:
    """A server that hears each request's head and answers as told; gives its port and what it heard."""
    listener = socket.create_server(("127.0.0.1", 0))
    heard: list[bytes] = []

    def serve() -> None:
        for answer in answers:
            connection, _ = listener.accept()
            try:
                if tls is not None:
                    connection = tls.wrap_socket(connection, server_side=True)
                heard.append(connection.recv(65536))
                answer(connection)
            except OSError:  # The other side has had enough.
                pass
            finally:
                connection.close()

    thread = Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1], heard
    finally:
        thread.join()
        listener.close()


def saying(text: bytes) -> Callable[[socket.socket], None]:
    """An answer of these bytes."""
    return lambda connection: connection.sendall(text)


def pinned(port: int, host: str = "hooks.example", scheme: str = "http", target: str = "/in?x=1") -> PinnedUrl:
    """As the guard would give it, had it found this server fit."""
    return PinnedUrl(scheme, host, port, "127.0.0.1", target)


def test_a_request_goes_to_the_pinned_address_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through no proxy of the environment, and asking for nothing to be packed."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with answering(saying(OK + b"X-Y: z\r\nContent-Length: 2\r\n\r\nok")) as (port, heard):
        answer = send(pinned(port), "POST", {"X-Token": "t"}, b"body")
    assert (answer.status, answer.body, answer.truncated, answer.headers["x-y"]) == (200, b"ok", False, "z")
    head = heard[0].decode()
    assert head.startswith("POST /in?x=1 HTTP/1.1\r\n")
    assert f"\r\nHost: hooks.example:{port}\r\n" in head
    assert "\r\nAccept-Encoding: identity\r\n" in head
    assert "\r\nX-Token: t\r\n" in head


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    """Attack: a public server sends us to a local one. The answer is the redirect itself."""
    with answering(saying(b"HTTP/1.1 %d x\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n" % status)) as (
        port,
        _,
    ):
        assert send(pinned(port)).status == status


def test_a_body_without_end_is_cut_off() -> None:
    """Attack: fill our memory, with a length, in chunks, or until the connection closes."""

    def flood(start: bytes, piece: bytes) -> Callable[[socket.socket], None]:
        def answer(connection: socket.socket) -> None:
            connection.sendall(OK + start)
            for _ in itertools.count():
                connection.sendall(piece)

        return answer

    x = b"x" * 10_000
    for start, piece in (
        (b"Content-Length: 10000000000\r\n\r\n", x),
        (b"Transfer-Encoding: chunked\r\n\r\n", b"2710\r\n" + x + b"\r\n"),
        (b"\r\n", x),
    ):
        with answering(flood(start, piece)) as (port, _):
            answer = send(pinned(port), max_bytes=65_000)
        assert (len(answer.body), answer.truncated) == (65_000, True)


def test_a_packed_body_is_not_unpacked() -> None:
    """Attack: a small body that unpacks to a gigabyte, although nobody asked for it packed."""
    bomb = gzip.compress(b"\0" * 10_000_000)
    with answering(saying(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb)) as (
        port,
        _,
    ):
        answer = send(pinned(port))
    assert answer.body == bomb


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200 OK\r\nX-", OK + b"\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n"]
)
def test_a_dripping_server_meets_the_deadline(start: bytes) -> None:
    """Attack: a byte now and then, in the status, a header, the body or a chunk, so that no single read takes long."""

    def drip(connection: socket.socket) -> None:
        connection.sendall(start or b"H")
        connection.settimeout(0.02)
        while True:
            try:
                connection.recv(1)
                return  # The other side is gone.
            except TimeoutError:
                connection.sendall(b"a")

    with answering(drip) as (port, _), pytest.raises(Unreachable, match="too long"):
        send(pinned(port), deadline_seconds=0.5)


@pytest.mark.parametrize(
    "text",
    [
        b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 abc\r\n\r\n", OK + b"X: " + b"y" * 70_000, OK + b"X: y\r\n" * 200,
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"HTTP/9.9 200 OK\r\n\r\n",
    ],
)  # fmt: skip
def test_what_is_not_http_is_told_so(text: bytes) -> None:
    """Attack: have us speak to another kind of server, or read headers without end."""
    with answering(saying(text)) as (port, _), pytest.raises(Unreachable):
        send(pinned(port))


def test_a_closed_port() -> None:
    """The reason names no address."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(Unreachable) as failure:
        send(pinned(port))
    assert failure.value.reason == "The server cannot be reached"


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context for repo.example, and a client's that trusts it."""
    file = certificate_for(tmp_path, "repo.example")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    client = ssl.create_default_context(cafile=file)
    return server, client


def test_a_certificate_is_checked_for_the_name(certificate: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    """The name of the URL, not the address; another name, or a certificate that nobody vouches for, will not do."""
    server, client = certificate
    text = saying(OK + b"Content-Length: 2\r\n\r\nok")
    named: list[str | None] = []
    server.sni_callback = lambda _socket, name, _context: named.append(name)
    with answering(text, text, text, tls=server) as (port, _):
        assert send(pinned(port, "repo.example", "https"), tls=client).body == b"ok"
        for host, trust in (("other.example", client), ("repo.example", None)):
            with pytest.raises(Unreachable, match="secure"):
                send(pinned(port, host, "https"), tls=trust)
    assert named == ["repo.example", "other.example", "repo.example"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    """A git server with one repository."""
    (tmp_path / "served").mkdir()
    store = RepositoryStore(tmp_path / "served")
    store.create("a" * 64, "master")
    store.path_of("a" * 64).rename(tmp_path / "served" / "remote.git")
    clone = Clone(tmp_path / "clone")
    clone.commit()
    clone.push(tmp_path / "served" / "remote.git")
    with serving(GitServer(tmp_path / "served")) as running:
        yield running


def test_a_repository_is_found_behind_redirects_and_imported(server: GitServer, tmp_path: Path) -> None:
    """As git does by itself, but each stop is checked, and git then goes to the last one alone."""
    server.redirects = {
        "/one": (301, "/two{rest}"),
        "/two": (302, f"{server.url}/three{{rest}}"),
        "/three": (308, "/remote.git{rest}"),
    }
    server.password = ("ada", "secret")
    found = follow_git_redirects(LOCAL, f"{server.url}/one/", "ada", "secret")
    assert found.url == f"{server.url}/remote.git"
    assert (found.username, found.password) == ("ada", "secret")

    store, key = RepositoryStore(tmp_path / "ours"), new_key()
    store.create(key, "master")
    assert fetch_into(store.path_of(key), found.url, found.pinned, found.username, found.password) is None
    assert store.open(key).commit_count() == 1


def test_credentials_stay_behind_when_the_server_changes(server: GitServer, tmp_path: Path) -> None:
    """Attack: a redirect to another server, or another port, collects the password."""
    with serving(GitServer(server.root)) as other:
        server.redirects = {"/moved": (302, f"{other.url}/remote.git{{rest}}")}
        found = follow_git_redirects(LOCAL, f"{server.url}/moved", "ada", "secret")
        assert (found.url, found.username, found.password) == (f"{other.url}/remote.git", "", "")
        assert server.asked[0][2] is not None
        assert [authorization for _, _, authorization in other.asked] == [None]


@pytest.mark.parametrize(
    "location",
    ["http://10.0.0.1{rest}", "http://[::1]{rest}", "http://0x7f.1{rest}", "file:///etc{rest}", "http://u:p@example.com{rest}",
     "gopher://example.com{rest}", "http://localhost{rest}"],
)  # fmt: skip
def test_a_redirect_to_where_we_must_not_go(server: GitServer, location: str) -> None:
    """Attack: the first stop is fit and the second is not. The first is reached, and nobody connects to the second."""
    here = SsrfGuard(allowed=[ip_network("127.0.0.1/32")])
    assert follow_git_redirects(here, f"{server.url}/remote.git")
    server.redirects = {"/moved": (302, location)}
    with pytest.raises((OutgoingRequestBlocked, Unreachable)):
        follow_git_redirects(here, f"{server.url}/moved")


def test_a_redirect_is_pinned_anew(server: GitServer) -> None:
    """Attack: the same name answers with a local address at the second stop."""
    answers = ["127.0.0.1", "10.0.0.1"]

    def changing(host: str, port: int, **_: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0), port))]

    guard = SsrfGuard(allowed=[ip_network("127.0.0.1/32")], resolve=changing)
    server.redirects = {"/moved": (302, f"http://repo.example:{server.port}/remote.git{{rest}}")}
    with pytest.raises(OutgoingRequestBlocked):
        follow_git_redirects(guard, f"http://repo.example:{server.port}/moved")
    assert answers == []
    assert len(server.asked) == 1


def test_redirects_without_end_or_aim(server: GitServer) -> None:
    """Five are followed; one that does not end in a repository's address is not."""
    for number in range(7):
        server.redirects[f"/r{number}/"] = (302, f"/r{number + 1}/{{rest}}")
    server.redirects["/r7/"] = (302, "/remote.git/{rest}")
    with pytest.raises(Unreachable, match="too often"):
        follow_git_redirects(LOCAL, f"{server.url}/r2")
    assert follow_git_redirects(LOCAL, f"{server.url}/r3").url == f"{server.url}/remote.git"
    for location in ("", "/login", "/remote.git/info/refs", "/remote.git{rest}&x=1"):
        server.redirects = {"/moved": (302, location)}
        with pytest.raises(Unreachable, match="not a repository"):
            follow_git_redirects(LOCAL, f"{server.url}/moved")


def test_a_secure_server_cannot_send_us_to_an_open_one(certificate: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    """What is fetched could be changed on the way."""
    server, client = certificate
    location = b"http://repo.example/x/info/refs?service=git-upload-pack"
    text = saying(b"HTTP/1.1 302 x\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n")
    guard = SsrfGuard(allow_local=True, resolve=lambda _, port, **__: [(2, 1, 6, "", ("127.0.0.1", port))])
    with answering(text, tls=server) as (port, _), pytest.raises(OutgoingRequestBlocked, match="not secure"):
        follow_git_redirects(guard, f"https://repo.example:{port}/x", tls=client)


def test_what_is_not_a_repository(server: GitServer) -> None:
    """A wrong path, a wrong password, a page, an address with a query."""
    with pytest.raises(Unreachable, match="no repository"):
        follow_git_redirects(LOCAL, f"{server.url}/none.git")
    with pytest.raises(OutgoingRequestBlocked, match="query"):
        follow_git_redirects(LOCAL, f"{server.url}/remote.git?x")
    server.password = ("ada", "secret")
    with pytest.raises(Unreachable, match="credentials"):
        follow_git_redirects(LOCAL, f"{server.url}/remote.git", "ada", "wrong")
    for text, reason in (
        (OK + b"Content-Type: text/html\r\n\r\n<html>", "smart protocol"),
        (b"HTTP/1.1 500 x\r\n\r\n", "status 500"),
    ):
        with answering(saying(text)) as (port, _), pytest.raises(Unreachable, match=reason):
            follow_git_redirects(LOCAL, f"http://127.0.0.1:{port}/x")


def test_the_deadline_holds_for_all_stops_together(server: GitServer) -> None:
    """Attack: each redirect takes a little less than is allowed. Nothing is left for the last one."""
    server.redirects = {"/moved": (302, "/remote.git{rest}")}
    with pytest.raises(Unreachable, match="too long"):
        follow_git_redirects(LOCAL, f"{server.url}/moved", deadline_seconds=0.0)
    assert follow_git_redirects(LOCAL, f"{server.url}/moved", deadline_seconds=30.0)
