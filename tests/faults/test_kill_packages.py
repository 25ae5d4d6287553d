"""Killing all processes during an upload: nothing of it is listed, and the same upload succeeds afterwards."""

import hashlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.packages.registry_client import RegistryClient, digest_of
from tests.server.process import TOKEN, Server, until

CONTENT = os.urandom(3 * 2**20)
SENT = 2 * 2**20
pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for open files in /proc")


def stored_bytes(server: Server) -> int:
    """Return the size of all files of packages, also of incomplete ones without a name."""
    total = sum(path.stat().st_size for path in (server.data / "packages").rglob("*") if path.is_file())
    for process in server.children():
        for link in Path(f"/proc/{process}/fd").iterdir():
            try:
                if "/packages/" in str(link.readlink()):
                    total += link.stat().st_size
            except OSError:
                continue
    return total


@contextmanager
def half_sent(server: Server, method: str, url: str, headers: dict[str, str]) -> Iterator[None]:
    """Send a part of a body, and wait until the server has written most of it."""
    target = urlsplit(url)
    path = f"{target.path}?{target.query}" if target.query else target.path
    fields = {"Host": target.netloc, "Content-Length": str(len(CONTENT)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    with socket.create_connection((target.hostname, target.port)) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + CONTENT[:SENT])
        until("the part of the body", lambda: stored_bytes(server) >= SENT // 2)
        yield


def create_project(server: Server) -> int:
    """Create a project."""
    made = server.call("POST", "/projects", json={"name": "packaged"})
    assert made.status_code == 201, made.text
    project_id: int = made.json()["id"]
    return project_id


def restart(server: Server) -> None:
    """Kill all processes and start again."""
    server.kill()
    server.start()


def test_a_killed_upload_of_a_package_is_not_listed(server: Server) -> None:
    packages = f"/projects/{create_project(server)}/packages"
    file = f"{packages}/generic/tool/1.0.0/tool.bin"
    with half_sent(server, "PUT", f"{server.url}/api/v4{file}", {"PRIVATE-TOKEN": TOKEN}):
        restart(server)
    assert server.call("GET", packages).json() == []
    assert server.call("GET", file).status_code == 404
    stored = server.call("PUT", file, content=CONTENT)
    assert stored.status_code == 201, stored.text
    assert server.call("GET", file).content == CONTENT
    (package,) = server.call("GET", packages).json()
    (shown,) = server.call("GET", f"{packages}/{package['id']}/package_files").json()
    assert (shown["size"], shown["file_sha256"]) == (len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


def test_a_killed_upload_of_an_image_layer_does_not_exist(server: Server) -> None:
    project_id = create_project(server)
    name, digest = "root/packaged", digest_of(CONTENT)
    registry = RegistryClient(server, "root", TOKEN)
    started = registry("POST", f"/v2/{name}/blobs/uploads/")
    assert started.status_code == 202, started.text
    place = started.headers["location"]
    url = place if place.startswith("http") else server.url + place
    with half_sent(server, "PATCH", url, registry.authorization()):
        restart(server)
    registry.close()
    registry = RegistryClient(server, "root", TOKEN)
    assert registry("HEAD", f"/v2/{name}/blobs/{digest}").status_code == 404
    assert server.call("GET", f"/projects/{project_id}/registry/repositories").json() == []
    assert registry.push_blob(name, CONTENT) == digest
    assert registry("GET", f"/v2/{name}/blobs/{digest}").content == CONTENT
    registry.close()
