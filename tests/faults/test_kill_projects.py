"""Killing all processes during forks, deletions and transfers: each call is applied completely or not at all."""

import os
import queue
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from ingot.git.maintenance.integrity import restore_config
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.service import REMOVE_PROJECT
from tests.faults.load_generator import (
    WRITERS,
    LoadGenerator,
    check_projects,
    database_of,
    expire_leases,
    jobs_left,
    store_of,
)
from tests.git.conftest import Clone, git
from tests.server.process import Server, ingot, until

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "3"))
SECONDS = 60.0
LOOSE_OBJECTS = 30


def start(server: Server) -> None:
    """Start the server as after a power cut: leases have expired."""
    if server.process is not None:
        expire_leases(server)
    server.start("--workers", 2)


def created(answer: httpx.Response) -> dict[str, Any]:
    """Return the response of a call that creates."""
    assert answer.status_code == 201, answer.text
    document: dict[str, Any] = answer.json()
    return document


def filled_project(server: Server, folder: Path, name: str = "source") -> int:
    """Return a project with two branches and a tag, in packs and many loose objects, so that copying takes time."""
    (key,) = _new_keys(server, lambda: server.call("POST", "/projects", json={"name": name, "visibility": "public"}))
    path = store_of(server).path_of(key)
    clone = Clone(folder / name)
    clone.commit()
    git(clone.folder, "tag", "-a", "-m", "one", "v1")
    clone.push(path, "HEAD:refs/heads/master", "v1")
    for number in range(LOOSE_OBJECTS):
        (clone.folder / f"file-{number}").write_text(str(number))
    git(clone.folder, "add", ".")
    clone.commit("other")
    git(path, "config", "transfer.unpackLimit", "100000")
    clone.push(path, "HEAD:refs/heads/other")
    restore_config(path)
    assert len(list((path / "objects").glob("??/*"))) >= LOOSE_OBJECTS
    found: int = server.call("GET", f"/projects/root%2F{name}").json()["id"]
    return found


def _new_keys(server: Server, act: Callable[[], httpx.Response]) -> set[str]:
    before = set(store_of(server).keys())
    created(act())
    return set(store_of(server).keys()) - before


def kill_under(server: Server, load: LoadGenerator, enough: int) -> None:
    """Kill all processes after this many acknowledged calls, and restart."""
    with load.running():
        until("some answers", lambda: load.has_acknowledged(enough), SECONDS)
        server.kill()
    assert load.other == []
    start(server)


def refs_of(server: Server, project_id: int) -> str:
    """Return all branches and tags of a project."""
    with database_of(server) as database:
        key = database.read(lambda db: existing_project(db, project_id)).repository_key
    return git(store_of(server).path_of(key), "for-each-ref")


def test_a_fork_is_complete_or_missing(stopped: Server, tmp_path: Path) -> None:
    server, chance = stopped, random.Random(ROUNDS)
    start(server)
    source = filled_project(server, tmp_path)
    wanted = refs_of(server, source)
    for round_number in range(ROUNDS):

        def fork(writer: int, number: int, round_number: int = round_number) -> httpx.Response:
            name = f"fork-{round_number}-{writer}-{number}"
            return server.call("POST", f"/projects/{source}/fork", json={"name": name, "path": name})

        load = LoadGenerator(fork)
        kill_under(server, load, chance.randint(1, 12))
        check_projects(server)
        for _, _, fork_made in load.acknowledged:
            assert server.call("GET", f"/projects/{fork_made['id']}").status_code == 200
            assert refs_of(server, fork_made["id"]) == wanted
        assert server.call("GET", f"/projects/{source}").json()["forks_count"] >= len(load.acknowledged)


def test_a_deletion_is_complete(stopped: Server, tmp_path: Path) -> None:
    """The path is free at once; files and rows are removed soon after the restart."""
    server, chance = stopped, random.Random(ROUNDS)
    start(server)
    source = filled_project(server, tmp_path)
    for round_number in range(ROUNDS):
        doomed: queue.Queue[tuple[int, str]] = queue.Queue()
        for number in range(10):
            name = f"doomed-{round_number}-{number}"
            sent = {"name": name, "path": name}
            fork = created(server.call("POST", f"/projects/{source}/fork", json=sent))
            uploaded = server.call("POST", f"/projects/{fork['id']}/uploads", files={"file": ("a.txt", b"hello")})
            assert uploaded.status_code == 201
            doomed.put((fork["id"], name))
        begun: dict[tuple[int, int], tuple[int, str]] = {}

        def delete(
            writer: int,
            number: int,
            doomed: "queue.Queue[tuple[int, str]]" = doomed,
            begun: dict[tuple[int, int], tuple[int, str]] = begun,
        ) -> httpx.Response | None:
            try:
                begun[writer, number] = doomed.get_nowait()
            except queue.Empty:
                return None
            return server.call("DELETE", f"/projects/{begun[writer, number][0]}")

        load = LoadGenerator(delete)
        kill_under(server, load, chance.randint(1, 8))
        until("the end of all removals", lambda: jobs_left(server, REMOVE_PROJECT) == 0, SECONDS)
        check_projects(server)
        for writer, number, _ in load.acknowledged:
            project_id, name = begun.pop((writer, number))
            assert server.call("GET", f"/projects/{project_id}").status_code == 404
            assert server.call("GET", f"/projects/root%2F{name}").status_code == 404
            assert not (server.data / "uploads" / str(project_id)).exists()
        for project_id, name in begun.values():
            status = server.call("GET", f"/projects/root%2F{name}").status_code
            assert status in (200, 404)
            assert (server.data / "uploads" / str(project_id)).exists() == (status == 200)
        assert created(server.call("POST", "/projects", json={"name": f"doomed-{round_number}-0-again"}))
    assert not server.events("job failed")


def test_a_transfer_is_complete_or_undone(stopped: Server) -> None:
    """Projects are moved between two groups while one of these is moved as well."""
    server, chance = stopped, random.Random(ROUNDS)
    start(server)
    tops = [created(server.call("POST", "/groups", json={"name": name, "path": name}))["id"] for name in ("up", "down")]
    sent = {"name": "rolling", "path": "rolling", "parent_id": tops[0]}
    rolling = created(server.call("POST", "/groups", json=sent))["id"]
    homes = [tops[0], rolling]
    movers = [
        created(server.call("POST", "/projects", json={"name": f"mover-{writer}", "namespace_id": tops[0]}))["id"]
        for writer in range(WRITERS)
    ]
    where = [0] * WRITERS
    for _ in range(ROUNDS):
        begun = list(where)

        def move(writer: int, number: int, begun: list[int] = begun, where: list[int] = where) -> httpx.Response:
            goal = 1 - where[writer]
            begun[writer] = goal
            if writer == 0:
                answer = server.call("POST", f"/groups/{rolling}/transfer", json={"group_id": tops[goal]})
            else:
                sent = {"namespace": homes[goal]}
                answer = server.call("PUT", f"/projects/{movers[writer]}/transfer", json=sent)
            if answer.status_code in (200, 201):
                where[writer] = goal
            return answer

        load = LoadGenerator(move)
        kill_under(server, load, chance.randint(1, 30))
        check_projects(server)
        top = server.call("GET", f"/groups/{rolling}").json()["parent_id"]
        assert top in (tops[where[0]], tops[begun[0]]), "what was acknowledged holds"
        where[0] = tops.index(top)
        for writer in range(1, WRITERS):
            project = server.call("GET", f"/projects/{movers[writer]}").json()
            assert project["namespace"]["id"] in (homes[where[writer]], homes[begun[writer]])
            where[writer] = homes.index(project["namespace"]["id"])
        for writer, _, answer in load.acknowledged:
            if writer:  # Every earlier path redirects to the current one.
                old = server.call("GET", f"/projects/{quote(answer['path_with_namespace'], safe='')}")
                assert (old.status_code, old.json()["id"]) == (200, movers[writer])
    options = ["--database-url", server.database_url] if server.database_url else []
    assert ingot("doctor", "--data", server.data, *options).stdout == "No problems found.\n"
