"""Discovery of repositories on other servers, including hostile ones."""

import socket
import ssl
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from ingot.core.outgoing.errors import RequestFailed, RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.remotes import find_repository
from ingot.git.maintenance.fetch import fetch_into
from ingot.git.maintenance.store import RepositoryStore, new_key
from tests.git.conftest import Clone
from tests.git.git_server import GitServer, serving
from tests.outgoing.raw_server import OK, answering, responding_with

LOCAL = SsrfGuard(allow_local=True)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    """Yield a git server with one repository."""
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
    """As by git itself, but each target is checked, and git gets only the last one."""
    server.redirects = {
        "/one": (301, "/two{rest}"),
        "/two": (302, f"{server.url}/three{{rest}}"),
        "/three": (308, "/remote.git{rest}"),
    }
    server.password = ("ada", "secret")
    found = find_repository(LOCAL, f"{server.url}/one/", "ada", "secret")
    assert found.url == f"{server.url}/remote.git"
    assert (found.username, found.password) == ("ada", "secret")

    store, key = RepositoryStore(tmp_path / "ours"), new_key()
    store.create(key, "master")
    assert fetch_into(store.path_of(key), found.url, found.pinned, found.username, found.password) is None
    assert store.open(key).commit_count() == 1


def test_credentials_are_not_sent_to_another_server(server: GitServer, tmp_path: Path) -> None:
    """Attack: a redirect to another server, or another port, collects the password."""
    with serving(GitServer(server.root)) as other:
        server.redirects = {"/moved": (302, f"{other.url}/remote.git{{rest}}")}
        found = find_repository(LOCAL, f"{server.url}/moved", "ada", "secret")
        assert (found.url, found.username, found.password) == (f"{other.url}/remote.git", "", "")
        assert server.asked[0][2] is not None
        assert [authorization for _, _, authorization in other.asked] == [None]


@pytest.mark.parametrize(
    "location",
    ["http://10.0.0.1{rest}", "http://[::1]{rest}", "http://0x7f.1{rest}", "file:///etc{rest}", "http://u:p@example.com{rest}",
     "gopher://example.com{rest}", "http://localhost{rest}"],
)  # fmt: skip
def test_a_redirect_to_a_forbidden_target(server: GitServer, location: str) -> None:
    """Attack: the first target is permitted and the second is not. No connection is made to the second."""
    here = SsrfGuard(allowed=[ip_network("127.0.0.1/32")])
    assert find_repository(here, f"{server.url}/remote.git")
    server.redirects = {"/moved": (302, location)}
    with pytest.raises((RequestRefused, RequestFailed)):
        find_repository(here, f"{server.url}/moved")


def test_every_redirect_is_resolved_and_checked(server: GitServer) -> None:
    """Attack: the same name resolves to a local address for the second target."""
    answers = ["127.0.0.1", "10.0.0.1"]

    def changing(host: str, port: int, **_: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0), port))]

    guard = SsrfGuard(allowed=[ip_network("127.0.0.1/32")], resolve=changing)
    server.redirects = {"/moved": (302, f"http://repo.example:{server.port}/remote.git{{rest}}")}
    with pytest.raises(RequestRefused):
        find_repository(guard, f"http://repo.example:{server.port}/moved")
    assert answers == []
    assert len(server.asked) == 1


def test_endless_and_invalid_redirects(server: GitServer) -> None:
    """Five are followed; one that does not end in a repository URL is not."""
    for number in range(7):
        server.redirects[f"/r{number}/"] = (302, f"/r{number + 1}/{{rest}}")
    server.redirects["/r7/"] = (302, "/remote.git/{rest}")
    with pytest.raises(RequestFailed, match="too often"):
        find_repository(LOCAL, f"{server.url}/r2")
    assert find_repository(LOCAL, f"{server.url}/r3").url == f"{server.url}/remote.git"
    for location in ("", "/login", "/remote.git/info/refs", "/remote.git{rest}&x=1"):
        server.redirects = {"/moved": (302, location)}
        with pytest.raises(RequestFailed, match="not a repository"):
            find_repository(LOCAL, f"{server.url}/moved")


def test_https_is_not_redirected_to_http(certificate: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    """The transfer could be modified."""
    server, client = certificate
    location = b"http://repo.example/x/info/refs?service=git-upload-pack"
    text = responding_with(b"HTTP/1.1 302 x\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n")
    guard = SsrfGuard(allow_local=True, resolve=lambda _, port, **__: [(2, 1, 6, "", ("127.0.0.1", port))])
    with answering(text, tls=server) as (port, _), pytest.raises(RequestRefused, match="not secure"):
        find_repository(guard, f"https://repo.example:{port}/x", tls=client)


def test_other_resources_are_rejected(server: GitServer) -> None:
    """A wrong path, a wrong password, an HTML page, a URL with a query."""
    with pytest.raises(RequestFailed, match="no repository"):
        find_repository(LOCAL, f"{server.url}/none.git")
    with pytest.raises(RequestRefused, match="query"):
        find_repository(LOCAL, f"{server.url}/remote.git?x")
    server.password = ("ada", "secret")
    with pytest.raises(RequestFailed, match="credentials"):
        find_repository(LOCAL, f"{server.url}/remote.git", "ada", "wrong")
    for text, reason in (
        (OK + b"Content-Type: text/html\r\n\r\n<html>", "smart protocol"),
        (b"HTTP/1.1 500 x\r\n\r\n", "status 500"),
    ):
        with answering(responding_with(text)) as (port, _), pytest.raises(RequestFailed, match=reason):
            find_repository(LOCAL, f"http://127.0.0.1:{port}/x")


def test_the_timeout_covers_all_redirects(server: GitServer) -> None:
    """Attack: each redirect takes slightly less than the timeout."""
    server.redirects = {"/moved": (302, "/remote.git{rest}")}
    with pytest.raises(RequestFailed, match="too long"):
        find_repository(LOCAL, f"{server.url}/moved", deadline_seconds=0.0)
    assert find_repository(LOCAL, f"{server.url}/moved", deadline_seconds=30.0)
