"""Full and read-only disks: a clear refusal, no partial write, and recovery."""

import base64
import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import httpx
import pytest

from ingot.git.maintenance.integrity import find_problems
from tests.faults.push_remote import Remote, leftovers
from tests.server.process import TOKEN, Server, ingot, until
from tests.transport.conftest import Tree

MEGABYTES = 24
MESSAGE = "The server has no free disk space."
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a small disk, if mounting is permitted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "none", str(folder)]
    done = subprocess.run(mount, capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("mounting a small disk is not permitted here")
    folder.chmod(0o700)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def small(disk: Path, empty_database: str) -> Iterator[Server]:
    """A server whose data is on the small disk; it needs one free megabyte to be ready."""
    server = Server(disk, empty_database)
    try:
        yield server.start(INGOT_MIN_FREE_MB="1")
    finally:
        server.kill()


def _tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "tree")
    tree.folder.mkdir()
    tree.git("init", "-q", "-b", "master")
    _commit(tree, 1000)
    return tree


def _commit(tree: Tree, size: int) -> None:
    (tree.folder / "file").write_bytes(os.urandom(size))
    tree.git("add", "file")
    tree.git("commit", "-q", "-m", "Change")


def _fill(disk: Path, leave: int) -> Path:
    """Fill the disk up to this many free bytes, while the server also writes."""
    ballast = disk / "ballast"
    with ballast.open("ab") as file:
        while True:
            space, taken = os.statvfs(disk), file.seek(0, os.SEEK_END)
            surplus = space.f_bavail * space.f_frsize - leave
            if surplus <= 0:
                return ballast
            try:
                os.posix_fallocate(file.fileno(), taken, surplus)
            except OSError:
                continue


def _text(size: int) -> str:
    return base64.b64encode(os.urandom(size)).decode()


Write = Callable[[Server, int], httpx.Response]


def _post(path: str, **content: Any) -> Write:
    """Return a call below the project that creates something of about 100 kB."""
    return lambda server, project: server.call(
        "POST", f"/projects/{project}{path}", json={**content, "title": "x", "name": "x"}
    )


def _create_file(server: Server, project: int) -> httpx.Response:
    path = f"/projects/{project}/repository/files/{token_hex(6)}"
    content = {"branch": "master", "commit_message": "x", "content": _text(100_000)}
    return server.call("POST", path, json=content)


def _upload(server: Server, project: int) -> httpx.Response:
    return server.call("POST", f"/projects/{project}/uploads", files={"file": ("x.txt", os.urandom(100_000))})


def _upload_avatar(server: Server, project: int) -> httpx.Response:
    return server.call("PUT", f"/projects/{project}", files={"avatar": ("x.png", PNG + os.urandom(100_000))})


def _upload_large_file(server: Server, project: int) -> httpx.Response:
    content = os.urandom(100_000)
    oid = hashlib.sha256(content).hexdigest()
    path = server.call("GET", f"/projects/{project}").json()["path_with_namespace"]
    url = f"{server.url}/{path}.git/gitlab-lfs/objects/{oid}/{len(content)}"
    return httpx.put(url, content=content, auth=("root", TOKEN), timeout=60)


def _create_wiki_page(server: Server, project: int) -> httpx.Response:
    return server.call("POST", f"/projects/{project}/wikis", json={"title": token_hex(9), "content": _text(100_000)})


def _create_snippet(server: Server, project: int) -> httpx.Response:
    content = {
        "title": "x",
        "file_name": "x",
        "code": _text(100_000),
        "content": _text(100_000),
        "visibility": "private",
    }
    return server.call("POST", f"/projects/{project}/snippets", json=content)


def _create_issue(server: Server, project: int) -> httpx.Response:
    return server.call("POST", f"/projects/{project}/issues", json={"title": "x", "description": "x " * 150_000})


def _create_project(server: Server, project: int) -> httpx.Response:
    return server.call("POST", "/projects", json={"name": f"p{token_hex(9)}"})


WRITES: list[Write] = [
    _create_file,
    _upload,
    _upload_avatar,
    _upload_large_file,
    _create_wiki_page,
    _create_snippet,
    _create_issue,
    _create_project,
]
IN_DATABASE: list[Write] = [_upload_avatar, _create_snippet, _create_issue]


def test_every_kind_of_write(small: Server, disk: Path, tmp_path: Path) -> None:
    """Each is refused with 507 while the disk is full, and succeeds when there is space again."""
    tree, remote = _tree(tmp_path), Remote(small, "full", "http", tmp_path)
    remote.push(tree, "master")
    for write in WRITES:  # Tables and directories that the first write creates exist afterwards.
        assert write(small, remote.id).is_success
    refused = []
    ballast = _fill(disk, 0)
    for write in WRITES:
        # The embedded database reuses space within its own file, so a few small writes may succeed.
        for _ in range(60 if small.database_url == "" else 1):
            _fill(disk, 0)
            response = write(small, remote.id)
            if not response.is_success:
                break
        if small.database_url and write in IN_DATABASE:
            assert response.is_success, "its disk is not full"
            continue
        assert response.status_code == 507, (write.__name__, response.text)
        assert int(response.headers["retry-after"]) > 0
        assert MESSAGE in response.json()["message"]
        assert str(disk) not in response.text
        refused.append(write)
    assert small.call("GET", f"/projects/{remote.id}/repository/tree").status_code == 200, "reads continue"
    ballast.unlink()
    for write in refused:
        assert write(small, remote.id).is_success, write.__name__
    assert find_problems(remote.repository, deep=True) == []
    assert leftovers(remote.repository) == []
    assert list(disk.rglob("*.partial")) == []
    assert all(event["status"] != 500 for event in small.events("request"))


def _free_bytes(server: Server) -> float:
    metrics = httpx.get(f"{server.url}/-/metrics").text
    free = re.search(r'^ingot_disk_free_bytes\{directory="data"\} (\S+)$', metrics, re.MULTILINE)
    assert free is not None
    return float(free[1])


def test_readiness_metrics_and_doctor(small: Server, disk: Path) -> None:
    assert small.ready() == 200
    _fill(disk, 500_000)
    until("readiness", lambda: small.ready() == 503)
    state = httpx.get(f"{small.url}/-/readiness").json()
    assert (state["disk_check"], state["database_check"]) == ([{"status": "failed"}], [{"status": "ok"}])
    assert httpx.get(f"{small.url}/-/liveness").status_code == 200
    # Each worker measures every few seconds.
    until("the metric", lambda: _free_bytes(small) <= 500_000)
    options = ["--data", disk, *(["--database-url", small.database_url] if small.database_url else [])]
    report = ingot("doctor", *options, INGOT_MIN_FREE_MB="1")
    assert report.returncode == 1
    assert re.search(r"The disk of .* has only 0 MB free \(INGOT_MIN_FREE_MB is 1\)", report.stdout)
    (disk / "ballast").unlink()
    until("readiness", lambda: small.ready() == 200)
    assert ingot("doctor", *options, INGOT_MIN_FREE_MB="1").stdout == "No problems found.\n"


@pytest.mark.parametrize("way", ["http", "ssh"])
def test_pushes(small: Server, disk: Path, tmp_path: Path, way: str) -> None:
    """Refused before git begins if nothing fits, and by git if the pack does not; the message names the cause."""
    tree, remote = _tree(tmp_path), Remote(small, f"full-{way}", way, tmp_path)
    remote.push(tree, "master")
    for leave in (2_000_000, 0):
        ballast = _fill(disk, leave)
        _commit(tree, 3_000_000)
        message = remote.push(tree, "master:large", fails=True)
        assert str(disk) not in message, "paths of the server are not shown"
        assert MESSAGE in message or "No space left on device" in message, message
        assert "refs/heads/master" in tree.git("ls-remote", remote.url, env=remote.env), "reads continue"
        ballast.unlink()
        tree.git("reset", "-q", "--hard", "HEAD~")
    assert find_problems(remote.repository, deep=True) == []
    assert leftovers(remote.repository) == []
    assert not [ref for ref, _, _ in remote.recorded() if ref.endswith("large")]
    _commit(tree, 1000)
    remote.push(tree, "master")


def test_a_backup_that_does_not_fit(small: Server, disk: Path, tmp_path: Path) -> None:
    assert small.call("POST", "/projects", json={"name": "some"}).status_code == 201
    _fill(disk, 8192)
    options = ["--data", disk, *(["--database-url", small.database_url] if small.database_url else [])]
    done = ingot("backup", *options, disk / "backup.tar")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr and "Traceback" not in done.stderr
    assert not [path for path in disk.iterdir() if path.name.startswith("backup") or path.suffix == ".partial"]


def test_read_only_disk(disk: Path, empty_database: str, tmp_path: Path) -> None:
    """Pushes are rejected with a message, and clones work."""
    server = Server(tmp_path / "data", empty_database)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "repositories").symlink_to(disk)
    try:
        server.start(INGOT_MIN_FREE_MB="1")
        tree, remote = _tree(tmp_path), Remote(server, "read-only", "http", tmp_path)
        remote.push(tree, "master")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        _commit(tree, 1000)
        message = remote.push(tree, "master", fails=True)
        assert str(disk) not in message
        assert "refs/heads/master" in tree.git("ls-remote", remote.url)
        content = {"branch": "master", "commit_message": "x", "content": "x"}
        response = server.call("POST", f"/projects/{remote.id}/repository/files/new", json=content)
        assert response.status_code in (500, 503, 507), response.text
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        remote.push(tree, "master")
        assert len(remote.recorded()) == 2
    finally:
        server.kill()
