"""Killing a backup and the server: the result is a complete backup, or none."""

import os
import random
import subprocess
from functools import partial
from pathlib import Path

import httpx

from tests import fork_server
from tests.faults.load_generator import LoadGenerator, check_projects
from tests.faults.test_kill_projects import filled_project, start
from tests.server.process import Server, environment, fresh_database, ingot, until

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "3"))
SECONDS = 60.0


def _options(data: Path, database_url: str) -> list[str]:
    return ["--data", str(data), *(["--database-url", database_url] if database_url else [])]


def _begin(server: Server, file: Path) -> fork_server.ForkedProcess:
    words = ("backup", str(file), *_options(server.data, server.database_url))
    return fork_server.start("ingot", *words, env=environment(), new_session=True)


def _written(file: Path) -> int:
    """Return the size of a backup under any name."""
    sizes = []
    for path in (file, *file.parent.glob(f".{file.name}.*.partial")):
        try:
            sizes.append(path.stat().st_size)
        except FileNotFoundError:
            pass
    return max(sizes, default=-1)


def _reached(file: Path, backup: fork_server.ForkedProcess, enough: int) -> bool:
    return _written(file) >= enough or backup.poll() is not None


def _restore(database_url: str, file: Path, target: Path) -> "subprocess.CompletedProcess[str]":
    return ingot("restore", file, *_options(target, fresh_database(database_url, f"restored_{target.name}")))


def test_a_backup_is_complete_or_missing(stopped: Server, database_url: str, tmp_path: Path) -> None:
    """It is killed at any byte; every other time together with the server, which is under load."""
    server, chance = stopped, random.Random(ROUNDS)
    start(server)
    source = filled_project(server, tmp_path)
    place = tmp_path / "backups"
    place.mkdir()
    whole = place / "whole.tar.gz"
    assert ingot("backup", whole, *_options(server.data, server.database_url)).returncode == 0
    size = whole.stat().st_size
    file = place / "killed.tar.gz"
    for round_number in range(ROUNDS):

        def change(writer: int, number: int, round_number: int = round_number) -> httpx.Response:
            name = f"round-{round_number}-{writer}-{number}"
            answer = server.call("POST", f"/projects/{source}/fork", json={"name": name, "path": name})
            if number % 2 and answer.status_code == 201:
                return server.call("DELETE", f"/projects/{answer.json()['id']}")
            return answer

        load = LoadGenerator(change)
        enough = chance.randint(0, size)
        with load.running():
            backup = _begin(server, file)
            until("enough of it", partial(_reached, file, backup, enough), SECONDS)
            backup.kill()
            backup.wait(SECONDS)
            if round_number % 2:
                server.kill()
        assert load.other == []
        if round_number % 2:
            start(server)
        assert backup.returncode in (0, -9)
        for left in place.glob(".*.partial"):
            target = tmp_path / f"partial-{round_number}"
            refused = _restore(database_url, left, target)
            # Between its last byte and its renaming, a backup is already complete.
            assert (refused.returncode == 1 and not target.exists()) or left.stat().st_size >= size
        if file.exists():
            target = tmp_path / f"target-{round_number}"
            restored = _restore(database_url, file, target)
            assert restored.returncode == 0, restored.stderr
            file.unlink()
    done = ingot("backup", file, *_options(server.data, server.database_url))
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in place.iterdir()) == ["killed.tar.gz", "whole.tar.gz"]
    check_projects(server)  # In particular, no copy made for the backup is left.


def test_a_backup_under_load_restores(stopped: Server, database_url: str, tmp_path: Path) -> None:
    """Projects are created and deleted during the backup: it contains the state of one moment."""
    server = stopped
    start(server)
    source = filled_project(server, tmp_path)

    def change(writer: int, number: int) -> httpx.Response:
        name = f"project-{writer}-{number}"
        answer = server.call("POST", f"/projects/{source}/fork", json={"name": name, "path": name})
        if answer.status_code == 201:
            return server.call("DELETE", f"/projects/{answer.json()['id']}")
        return answer

    load = LoadGenerator(change)
    file, target = tmp_path / "backup.tar.gz", tmp_path / "target"
    with load.running():
        until("some forks", lambda: load.has_acknowledged(3), SECONDS)
        written = ingot("backup", file, *_options(server.data, server.database_url))
    assert (written.returncode, written.stderr) == (0, "")
    assert load.other == []
    url = fresh_database(database_url, "restored_under_load")
    restored = ingot("restore", file, *_options(target, url))
    assert (restored.returncode, restored.stderr) == (0, "")
    assert ingot("doctor", *_options(target, url)).stdout == "No problems found.\n"
    again = Server(target, url)
    try:
        start(again)
        assert again.call("GET", f"/projects/{source}").status_code == 200
    finally:
        again.kill()
