"""Killing all processes during an import: after a restart it finishes completely."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.api.projects.import_server import SlowServer, filled
from tests.faults.load_generator import expire_leases
from tests.faults.push_remote import git_processes, kill_git
from tests.git.conftest import git
from tests.git.git_server import serving
from tests.server.process import Server, until

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "2"))
SECONDS = 60.0
pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for git processes in /proc")


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[SlowServer]:
    """Yield a git server with one repository."""
    with serving(SlowServer(filled(tmp_path / "served"))) as running:
        yield running
        running.release()


def start(server: Server) -> None:
    """Start the server with imports from loopback permitted."""
    server.start(INGOT_ALLOW_LOCAL_REQUESTS="1")


def create(server: Server, remote: SlowServer, name: str) -> int:
    """Create a project with an import."""
    sent = {"name": name, "import_url": f"{remote.url}/remote.git"}
    made = server.call("POST", "/projects", json=sent)
    assert made.status_code == 201, made.text
    project_id: int = made.json()["id"]
    return project_id


def status_of(server: Server, project_id: int) -> dict[str, Any]:
    """Return the status of an import."""
    status: dict[str, Any] = server.call("GET", f"/projects/{project_id}/import").json()
    return status


def finished(server: Server, project_id: int) -> dict[str, Any]:
    """Wait for the end of an import and return its status."""

    def read() -> dict[str, Any] | None:
        status = status_of(server, project_id)
        return status if status["import_status"] in ("finished", "failed") else None

    return until("the import's end", read, SECONDS)


def _has_started(server: Server, project_id: int) -> bool:
    started: bool = status_of(server, project_id)["import_status"] == "started"
    return started


@pytest.mark.parametrize("with_git", [True, False], ids=["git dies too", "git lives on"])
def test_a_killed_import_starts_over(stopped: Server, remote: SlowServer, with_git: bool) -> None:
    """Killed when half of the pack was transferred."""
    server = stopped
    start(server)
    store = server.data / "repositories"
    for number in range(ROUNDS):
        remote.hold()
        project_id = create(server, remote, f"round-{number}")
        assert remote.reached.wait(SECONDS)
        until("its start", partial(_has_started, server, project_id))

        server.kill()
        if with_git:
            kill_git(server)
        remote.holds = False  # The interrupted transfer stays until the other one has ended.
        expire_leases(server)
        start(server)

        status = finished(server, project_id)
        remote.release()
        assert (status["import_status"], status["import_error"]) == ("finished", None)
        assert len(list(store.glob("??/??/*"))) == number + 1, "no leftovers and no duplicates"
    refs = git(remote.root / "remote.git", "for-each-ref", "refs/heads", "refs/tags")
    for repository in store.glob("??/??/*"):
        assert git(repository, "for-each-ref") == refs
        git(repository, "fsck", "--strict")
        assert not list(repository.rglob("*.lock")) + list(repository.rglob("tmp_*"))
    until("the end of all git processes", lambda: not git_processes(server), SECONDS)
    assert not server.events("job failed")


def test_an_acknowledged_import_is_executed(stopped: Server, remote: SlowServer) -> None:
    """Killed right after the response: the import runs after the next start."""
    start(stopped)
    project_id = create(stopped, remote, "promised")
    stopped.kill()
    expire_leases(stopped)
    start(stopped)
    assert finished(stopped, project_id)["import_status"] == "finished"
