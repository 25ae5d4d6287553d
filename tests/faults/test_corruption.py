"""Single bytes of packs, indexes and loose objects are flipped.

Only that project returns errors, with a readable message; the doctor names the damage; no process ends.
"""

import os
import random
import shutil
from pathlib import Path

import httpx
import pytest

from ingot.git.core.errors import GIT_LIMIT_REACHED
from ingot.git.maintenance.integrity import find_problems
from tests.faults.push_remote import Remote
from tests.server.process import Server, ingot, is_alive
from tests.transport.conftest import Tree

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "3"))
REASONS = ("The repository of this project cannot be read.", GIT_LIMIT_REACHED)
"""Why a read fails; an object whose size was changed may not fit into the memory of git."""
READS = (
    "repository/commits",
    "repository/commits?path=file&all=true",
    "repository/commits/master/diff",
    "repository/tree?recursive=true",
    "repository/files/file?ref=master",
    "repository/files/file/raw?ref=master",
    "repository/files/file/blame?ref=master",
    "repository/compare?from=first&to=master",
    "repository/branches",
    "repository/tags",
    "repository/contributors",
    "repository/archive.tar.gz",
    "search?scope=blobs&search=line",
)


@pytest.fixture
def damaged(server: Server, tmp_path: Path) -> Remote:
    """A project with a pack, from a push, and with loose objects, from commits by the API."""
    remote, tree = Remote(server, "damaged", "http", tmp_path), Tree(tmp_path / "tree")
    tree.folder.mkdir()
    tree.git("init", "-q", "-b", "master")
    for number in range(4):
        tree.commit("file", "".join(f"line {line} of {number}\n" for line in range(200)))
        tree.commit(f"folder/other-{number}", f"{number}\n")
        tree.git("tag", "first") if number == 0 else None
    remote.push(tree, "master", "first")
    for number in range(2):
        sent = {"branch": "master", "content": f"{number}\n", "commit_message": "By the API"}
        path = f"/projects/{remote.id}/repository/files/api-{number}"
        assert server.call("POST", path, json=sent).status_code == 201
    return remote


def _objects(repository: Path) -> dict[str, list[Path]]:
    """Return the files of objects by kind."""
    return {
        "pack": sorted(repository.glob("objects/pack/*.pack")),
        "idx": sorted(repository.glob("objects/pack/*.idx")),
        "loose": sorted(repository.glob("objects/[0-9a-f][0-9a-f]/*")),
    }


def _flip(file: Path, position: int) -> None:
    file.chmod(0o600)
    with file.open("r+b") as handle:
        handle.seek(position)
        (byte,) = handle.read(1)
        handle.seek(position)
        handle.write(bytes([byte ^ 0xFF]))


def test_flipped_bytes(server: Server, damaged: Remote, tmp_path: Path) -> None:
    dice, repository = random.Random(ROUNDS), damaged.repository
    whole = Remote(server, "whole", "http", tmp_path)
    kept, processes = tmp_path / "kept", server.children()
    shutil.copytree(repository, kept)
    for number in range(ROUNDS):
        for kind, files in _objects(kept).items():
            assert files, kind
            file = repository / dice.choice(files).relative_to(kept)
            _flip(file, dice.randrange(file.stat().st_size))
            _check_reads(server, damaged)
            tree = Tree(tmp_path)
            tree.git("clone", "-q", whole.url, str(tmp_path / "whole"))
            shutil.rmtree(tmp_path / "whole")
            assert find_problems(repository, deep=False), f"{kind} {file.name}"
            if number == 0:
                report = ingot("doctor", "--data", server.data)
                assert (report.returncode, "root/damaged is damaged" in report.stdout) == (1, True), report.stdout
            shutil.rmtree(repository)
            shutil.copytree(kept, repository)
    assert all(map(is_alive, processes))
    assert find_problems(repository, deep=True) == []
    assert server.stop() == 0
    server.start()
    for path in READS:
        assert server.call("GET", f"/projects/{damaged.id}/{path}").status_code == 200, path


def _check_reads(server: Server, damaged: Remote) -> None:
    for path in READS:
        try:
            answer = server.call("GET", f"/projects/{damaged.id}/{path}")
        except httpx.RemoteProtocolError:
            # An archive is sent while git creates it; it is cut off, so that the client notices that it is incomplete.
            assert path == "repository/archive.tar.gz"
            continue
        assert answer.status_code in (200, 404, 503), f"{path}: {answer.status_code} {answer.text}"
        message = answer.json()["message"] if answer.status_code == 503 else ""
        assert answer.status_code != 503 or any(reason in message for reason in REASONS), answer.text
    assert server.call("GET", f"/projects/{damaged.id}").status_code == 200
    assert server.events("fault") == []
    # A new text each time: the server may rightly assume that objects it has written before are still there.
    sent = {"branch": "master", "content": os.urandom(8).hex(), "commit_message": "Try"}
    written = server.call("POST", f"/projects/{damaged.id}/repository/files/tried", json=sent)
    assert written.status_code in (201, 400, 404, 503), written.text
