"""Clients that do not read a response: after a time that is set, they lose their connection, by every protocol."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.openssh import SSHD, USER, forced_command_lines, sshd
from tests.server.process import TOKEN, Server, until
from tests.transport.conftest import BASE, ssh_command
from tests.transport.wire import packet

PATH = "root/large"
pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for git processes in /proc")


def gits(server: Server) -> list[str]:
    """Return the git processes that work in a repository of the server."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(server.data / "repositories"):
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.fixture
def tip(initialized: Server, tmp_path: Path) -> str:
    """Start the server with a project that does not fit into the buffers of a connection; return its commit."""
    server = initialized.start(INGOT_SLOW_READER_SECONDS="1")
    assert server.call("POST", "/projects", json={"path": "large"}).status_code == 201
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "file").write_bytes(os.urandom(16 * 2**20))
    url = server.url.replace("http://", f"http://root:{TOKEN}@")
    for words in (
        ["init", "-q", "-b", "master"],
        ["add", "file"],
        ["commit", "-qm", "Large"],
        ["push", "-q", f"{url}/{PATH}.git", "master"],
    ):
        subprocess.run(["git", *words], cwd=folder, env=BASE, check=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, env=BASE, check=True, capture_output=True)
    return done.stdout.decode().strip()


def connect(server: Server, head: str, body: bytes = b"") -> socket.socket:
    """Send a request."""
    connection = socket.create_connection(("127.0.0.1", httpx.URL(server.url).port))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.sendall(f"{head}\r\nHost: x\r\nPRIVATE-TOKEN: {TOKEN}\r\n\r\n".encode() + body)
    return connection


def wants(tip: str) -> bytes:
    """Return the request of a clone."""
    return packet(f"want {tip} side-band-64k ofs-delta\n") + b"0000" + packet("done\n")


def test_unread_clone_over_http(initialized: Server, tip: str) -> None:
    body = wants(tip)
    head = (
        f"POST /{PATH}.git/git-upload-pack HTTP/1.1\r\nContent-Type: application/x-git-upload-pack-request"
        f"\r\nContent-Length: {len(body)}"
    )
    with connect(initialized, head, body) as connection:
        connection.recv(1)
        until("the end of git", lambda: not gits(initialized))


@pytest.mark.parametrize(
    "path",
    [
        "/api/v4/projects/root%2Flarge/repository/files/file/raw?ref=master",
        "/api/v4/projects/root%2Flarge/repository/archive.tar.gz",
        f"/{PATH}/-/raw/master/file",
    ],
)
def test_unread_download(initialized: Server, tip: str, path: str) -> None:
    """The request ends, as its line in the log says."""
    route = '"/:path/-/raw/:rest"' if "/-/raw/" in path else path.split("repository")[1].split("?")[0][:6]
    with connect(initialized, f"GET {path} HTTP/1.1") as connection:
        connection.recv(1)
        until(f"the end of {tip}", lambda: any(route in line for line in initialized.log().splitlines()))
        until("the end of git", lambda: not gits(initialized))


@pytest.fixture
def key(initialized: Server, tip: str, tmp_path: Path) -> Path:
    """Return the file of a key of root."""
    assert tip
    path = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    public = path.with_name("key.pub").read_text()
    assert initialized.call("POST", "/user/keys", json={"title": "key", "key": public}).status_code == 201
    return path


@pytest.fixture(params=["built-in", "openssh"])
def ssh_address(request: pytest.FixtureRequest, initialized: Server, tip: str, tmp_path: Path) -> Iterator[list[str]]:
    """Yield the arguments with which ssh reaches the server."""
    assert tip
    with ExitStack() as stack:
        if request.param == "built-in":
            yield ["-p", (initialized.run_folder / "ssh_port").read_text().strip(), "git@127.0.0.1"]
        elif SSHD is None:
            pytest.skip("NO SSHD: openssh-server is missing; see scripts/openssh")
        else:
            folder = tmp_path / "sshd"
            folder.mkdir()
            port = stack.enter_context(sshd(folder, forced_command_lines(initialized.data)))
            yield ["-p", str(port), f"{USER}@127.0.0.1"]


def test_unread_clone_over_ssh(initialized: Server, tip: str, key: Path, ssh_address: list[str]) -> None:
    """The git process ends although its client neither reads nor disconnects."""
    command = [*ssh_command(key).split(), "-T", *ssh_address, f"git-upload-pack '{PATH}'"]
    with subprocess.Popen(
        command, env=BASE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(wants(tip))
        process.stdin.flush()
        assert process.stdout.read(1)
        until("the end of git", lambda: not gits(initialized))
        process.kill()
