"""Imports from a real server over HTTP, and from hostile ones."""

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest

from ingot.git.maintenance.fetch import fetch_into
from ingot.git.maintenance.store import RepositoryStore, new_key
from tests.free_ports import closed_port
from tests.git.conftest import Clone, git
from tests.git.git_server import GitServer, serving

SECRET = "pass/w:rd & ünïque"


class FixedAddress(NamedTuple):
    """Address to connect to."""

    host: str
    port: int
    address: str = "127.0.0.1"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    """Yield an empty git server."""
    (tmp_path / "served").mkdir()
    with serving(GitServer(tmp_path / "served")) as running:
        yield running


@pytest.fixture
def remote(server: GitServer, clone: Clone) -> Path:
    """Return a served repository with two branches and two tags, whose HEAD is not the first of them."""
    path = server.root / "remote.git"
    git(server.root, "init", "-q", "--bare", "remote.git")
    clone.commit()
    git(clone.folder, "tag", "-a", "-m", "one", "v1")
    git(clone.folder, "tag", "light")
    clone.push(path, "master:refs/heads/devel", "v1", "light")
    clone.commit(content="two\n")
    clone.push(path, "master:refs/heads/trunk", "master:refs/merge-requests/1/head")
    git(path, "symbolic-ref", "HEAD", "refs/heads/trunk")
    return path


def is_empty_but_valid(path: Path) -> bool:
    """Return whether nothing is left of an import, and git can still use the repository."""
    git(path, "fsck", "--strict")
    objects = [file for file in (path / "objects").rglob("*") if file.is_file()]
    return git(path, "for-each-ref") == "" and not objects and not (path / "packed-refs").exists()


def test_an_import_copies_branches_tags_and_head(
    store: RepositoryStore, key: str, server: GitServer, remote: Path
) -> None:
    """No other refs, and no configuration of the remote."""
    path = store.path_of(key)
    before = (path / "config").read_bytes()
    heard: list[str] = []
    assert (
        fetch_into(path, f"{server.url}/remote.git", FixedAddress("127.0.0.1", server.port), on_progress=heard.append)
        is None
    )
    wanted = git(remote, "for-each-ref", "refs/heads", "refs/tags")
    assert git(path, "for-each-ref") == wanted
    assert store.open(key).head_branch() == "trunk"
    assert (path / "config").read_bytes() == before
    assert heard
    assert all(re.match(r"(Receiving|Resolving) \w+: +\d+%", line) for line in heard)
    git(path, "fsck", "--strict")
    # A repeated run, as of a job, updates the changes.
    git(remote, "update-ref", "-d", "refs/heads/devel")
    assert fetch_into(path, f"{server.url}/remote.git", FixedAddress("127.0.0.1", server.port)) is None
    assert not store.open(key).branch_exists("devel")


def test_git_connects_to_the_pinned_address(store: RepositoryStore, key: str, server: GitServer, remote: Path) -> None:
    """The name does not resolve, so only the pinned address can have been used, and no proxy."""
    url = f"http://repo.invalid:{server.port}/remote.git"
    assert fetch_into(store.path_of(key), url, FixedAddress("repo.invalid", server.port)) is None
    assert {host for _, host, _ in server.asked} == {f"repo.invalid:{server.port}"}
    other = fetch_into(store.path_of(key), url, FixedAddress("other.invalid", server.port))
    assert other == "The server cannot be reached"


def test_no_proxy_of_the_environment_is_used(
    store: RepositoryStore, key: str, server: GitServer, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would resolve the name itself and so bypass the pinned address."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert fetch_into(store.path_of(key), f"{server.url}/remote.git", FixedAddress("127.0.0.1", server.port)) is None


def test_credentials_reach_only_the_server(store: RepositoryStore, key: str, server: GitServer, remote: Path) -> None:
    """Neither the list of processes nor a file of the repository; errors do not show wrong ones."""
    path, url, pin = store.path_of(key), f"{server.url}/remote.git", FixedAddress("127.0.0.1", server.port)
    server.password = ("ada", SECRET)
    for username, password in (("", ""), ("ada", "wrong-secret"), ("other", SECRET)):
        reason = fetch_into(path, url, pin, username, password)
        assert reason == "The server refused the credentials"
        assert is_empty_but_valid(path)
    commands: list[bytes] = []

    def inspect() -> None:
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                commands.append(file.read_bytes())
            except OSError:  # It has ended.
                pass

    server.while_asked = inspect
    assert fetch_into(path, url, pin, "ada", SECRET) is None
    assert any(b"fetch" in command and b"remote.git" in command for command in commands)
    header = (server.asked[-1][2] or "").removeprefix("Basic ").encode()
    for secret in (SECRET.encode(), header):
        assert not [command for command in commands if secret in command]
        assert not [file for file in path.rglob("*") if file.is_file() and secret in file.read_bytes()]


def test_ambiguous_ref_names_are_not_imported(
    store: RepositoryStore, key: str, server: GitServer, remote: Path
) -> None:
    """Attack: a branch that looks like a commit id, or like another branch; similar valid names are imported."""
    tip = git(remote, "rev-parse", "trunk")
    good = f"refs/heads/{tip}-fix"
    for ref in (f"refs/heads/{tip}", f"refs/tags/{'a' * 64}", "refs/heads/heads/trunk", "refs/heads/refs/x", good):
        git(remote, "update-ref", ref, tip)
    git(remote, "symbolic-ref", "HEAD", f"refs/heads/{tip}")
    assert fetch_into(store.path_of(key), f"{server.url}/remote.git", FixedAddress("127.0.0.1", server.port)) is None
    names = [name.decode() for name in store.open(key).refs()]
    assert names == sorted([good, "refs/heads/devel", "refs/heads/trunk", "refs/tags/light", "refs/tags/v1"])
    assert store.open(key).head_branch() in (f"{tip}-fix", "devel")


def test_an_empty_remote(store: RepositoryStore, key: str, server: GitServer) -> None:
    """The import succeeds."""
    git(server.root, "init", "-q", "--bare", "remote.git")
    assert fetch_into(store.path_of(key), f"{server.url}/remote.git", FixedAddress("127.0.0.1", server.port)) is None
    assert store.open(key).is_empty()
    assert store.open(key).head_branch() == "master"


def test_git_follows_no_redirect(store: RepositoryStore, key: str, server: GitServer, remote: Path) -> None:
    """Attack: the server redirects the first request. No request is made to the target."""
    server.redirects["/moved"] = (302, f"{server.url}/remote.git{{rest}}")
    reason = fetch_into(store.path_of(key), f"{server.url}/moved", FixedAddress("127.0.0.1", server.port))
    assert reason == "The server redirects to another address"
    assert all(path.startswith("/moved") for path, _, _ in server.asked)
    assert is_empty_but_valid(store.path_of(key))


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c id", "file:///etc", "/etc", "--upload-pack=id", "ssh://h/x", "http://u:p@h/x", "http://h/x\nhost=y",
     "http://h/x y", "git://h/x", "ftp://h/x", "http://h/x?y", "http://h\\@x/", ""],
)  # fmt: skip
def test_forbidden_urls_never_reach_git(store: RepositoryStore, key: str, url: str) -> None:
    """Attack: make git run a command, read a file, or interpret a part of the URL as configuration."""
    with pytest.raises(ValueError, match="http"):
        fetch_into(store.path_of(key), url, FixedAddress("h", 80))


@pytest.mark.parametrize(
    "odd",
    [".proxy=http://127.0.0.1:{trap}", ".insteadOf=http://127.0.0.1:{trap}/", "x.git/.sslVerify=false",
     "--upload-pack=touch", ";touch%20pwned;", "$(touch%20pwned)", "`touch%20pwned`", "%0ahost=127.0.0.1:{trap}%0a",
     "x.git/hooks/post-checkout"],
)  # fmt: skip
def test_urls_that_look_like_configuration_are_paths(
    store: RepositoryStore, key: str, server: GitServer, odd: str
) -> None:
    """Attack: a URL that git would parse as a proxy, an option or a command is requested as a path."""
    before = (store.path_of(key) / "config").read_bytes()
    with socket.create_server(("127.0.0.1", 0)) as trap:
        path = "/" + odd.format(trap=trap.getsockname()[1])
        reason = fetch_into(store.path_of(key), f"{server.url}{path}", FixedAddress("127.0.0.1", server.port))
        assert reason is not None
        trap.setblocking(False)
        with pytest.raises(BlockingIOError):
            trap.accept()
    assert all(asked.startswith(path) for asked, _, _ in server.asked)
    assert (store.path_of(key) / "config").read_bytes() == before
    assert is_empty_but_valid(store.path_of(key))


def test_credentials_cannot_name_another_server(
    store: RepositoryStore, key: str, server: GitServer, remote: Path
) -> None:
    """Attack (CVE-2020-5260): a line break in the credentials stays a part of them."""
    username, password = "ada\nhost=elsewhere.example", "word\r\nX-More: header"
    server.password = (username, password)
    url, pin = f"{server.url}/remote.git", FixedAddress("127.0.0.1", server.port)
    assert fetch_into(store.path_of(key), url, pin, username, password) is None
    assert {host for _, host, _ in server.asked} == {f"127.0.0.1:{server.port}"}


def test_failures_leave_nothing_and_can_be_retried(
    store: RepositoryStore, key: str, server: GitServer, remote: Path
) -> None:
    """A wrong path, a repository over the limit, a damaged one, a closed port; then it works."""
    path, pin = store.path_of(key), FixedAddress("127.0.0.1", server.port)
    url = f"{server.url}/remote.git"
    assert fetch_into(path, f"{server.url}/none.git", pin) == "There is no repository there"
    assert fetch_into(path, url, pin, max_bytes=1000) == "The repository is too large"
    assert is_empty_but_valid(path)
    lost = remote / "objects" / git(remote, "rev-parse", "trunk^{tree}")[:2]
    kept = {file: file.read_bytes() for file in lost.iterdir()}
    for file in kept:
        file.unlink()
    assert fetch_into(path, url, pin)
    assert is_empty_but_valid(path)
    for file, content in kept.items():
        file.write_bytes(content)
    with closed_port() as port:
        assert (
            fetch_into(path, f"http://127.0.0.1:{port}/x", FixedAddress("127.0.0.1", port))
            == "The server cannot be reached"
        )
    assert is_empty_but_valid(path)
    assert fetch_into(path, url, pin) is None
    assert store.open(key).commit_count() == 2


def test_malicious_objects_are_rejected_and_harmless_errors_are_not(
    store: RepositoryStore, server: GitServer, remote: Path
) -> None:
    """Attack: a tree with an entry named .git. Old commits with invalid time zones are imported."""
    pin = FixedAddress("127.0.0.1", server.port)
    tree = git(remote, "rev-parse", "trunk^{tree}")
    slip = f"tree {tree}\nauthor A <a@b> 1 +051800\ncommitter A <a@b> 1 +051800\n\nold\n"
    oid = git(remote, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", text=slip)
    git(remote, "update-ref", "refs/heads/old", oid)
    key = new_key()
    store.create(key, "master")
    assert fetch_into(store.path_of(key), f"{server.url}/remote.git", pin) is None
    assert store.open(key).branch_exists("old")

    evil = git(remote, "mktree", text=f"040000 tree {tree}\t.git\n")
    git(remote, "update-ref", "refs/heads/evil", git(remote, "commit-tree", evil, text="evil"))
    key = new_key()
    store.create(key, "master")
    reason = fetch_into(store.path_of(key), f"{server.url}/remote.git", pin)
    assert reason == "The repository holds objects that git's checks refuse"
    assert is_empty_but_valid(store.path_of(key))


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """Run a server that reads each request's head and calls a function; return its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    while b"\r\n\r\n" not in connection.recv(65536):
                        pass
                    answer(connection)
                except OSError:  # The client has disconnected.
                    pass

    thread = Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\nConnection: close\r\n"


def test_a_silent_server_times_out(store: RepositoryStore, key: str) -> None:
    """Attack: keep the importer waiting."""

    def stay_silent(connection: socket.socket) -> None:
        connection.recv(1)

    with answering(stay_silent) as port:
        reason = fetch_into(
            store.path_of(key), f"http://127.0.0.1:{port}/x", FixedAddress("127.0.0.1", port), timeout=1.0
        )
    assert reason == "The import took too long"
    assert is_empty_but_valid(store.path_of(key))


def test_server_messages_do_not_reveal_credentials(store: RepositoryStore, key: str) -> None:
    """Attack: the server returns the credentials in its error, which is then shown to others."""
    message = f"# service=git-upload-pack\n0000{len(SECRET.encode()) + 8:04x}ERR {SECRET}".encode()

    def echo(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"\r\n" + b"001e" + message)

    with answering(echo) as port:
        url = f"http://127.0.0.1:{port}/x"
        reason = fetch_into(store.path_of(key), url, FixedAddress("127.0.0.1", port), "ada", SECRET)
    assert reason
    assert SECRET not in reason
    assert "ada" not in reason
