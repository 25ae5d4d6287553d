"""Concurrent writers while the server is killed, and consistency checks after its restart."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx
from sqlalchemy import select, update

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.jobs.tables import jobs
from ingot.core.settings import Settings
from ingot.git.maintenance.integrity import find_problems
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.namespaces.tables import namespaces
from ingot.projects.projects.jobs import is_repository_in_use
from ingot.projects.projects.tables import project_redirects, projects
from ingot.server.app import open_database
from tests.server.process import Server

WRITERS = 4
Act = Callable[[int, int], httpx.Response | None]

_PROJECTS = select(
    projects.c.id,
    projects.c.namespace_id,
    projects.c.path,
    projects.c.path_key,
    projects.c.full_path,
    projects.c.full_path_key,
    projects.c.repository_key,
    projects.c.forked_from_id,
    projects.c.forks_count,
    projects.c.default_branch,
)
_NAMESPACES = select(namespaces.c.id, namespaces.c.parent_id, namespaces.c.path, namespaces.c.full_path)
_REDIRECTS = select(project_redirects.c.namespace_id, project_redirects.c.path_key)


class LoadGenerator:
    """Threads that call ``act`` with the numbers of writer and call, until it returns nothing or the load ends."""

    def __init__(self, act: Act) -> None:
        self._act = act
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.acknowledged: list[tuple[int, int, Any]] = []
        self.other: list[str] = []

    def _run(self, writer: int) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            try:
                answer = self._act(writer, number)
            except httpx.TransportError:
                return  # The server has died, and the result of this call is unknown.
            if answer is None:
                return
            with self._lock:
                if answer.status_code in (200, 201):
                    self.acknowledged.append((writer, number, answer.json() if answer.content else None))
                else:
                    self.other.append(f"{answer.status_code} {answer.text}")

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the load for the duration of a block."""
        threads = [threading.Thread(target=self._run, args=(writer,)) for writer in range(WRITERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def has_acknowledged(self, enough: int) -> bool:
        """Return whether this many calls were acknowledged; raise other errors at once."""
        assert self.other == []
        return len(self.acknowledged) >= enough


def store_of(server: Server) -> RepositoryStore:
    """Return the repository store of a server."""
    return RepositoryStore(server.data / "repositories")


@contextmanager
def database_of(server: Server) -> Iterator[Database]:
    """Open the database of a server for the duration of a block."""
    database = open_database(Settings(data=server.data, database_url=server.database_url))
    try:
        yield database
    finally:
        database.close()


def expire_leases(server: Server) -> None:
    """Expire the leases of a dead worker."""

    def expire(db: Connection) -> None:
        db.run(update(jobs).where(jobs.c.state == "running").values(leased_until=add_duration(db.now, seconds=-1)))

    with database_of(server) as database:
        database.write(expire)


def jobs_left(server: Server, kind: str) -> int:
    """Return the number of jobs of a kind."""
    with database_of(server) as database:
        return len(database.read(lambda db: db.rows(select(jobs.c.id).where(jobs.c.kind == kind))))


def check_projects(server: Server) -> None:
    """Check projects: complete rows, valid paths and, after a cleanup, no repository without a row."""
    store = store_of(server)
    with database_of(server) as database:
        rows = database.read(lambda db: db.rows(_PROJECTS))
        paths = _check_namespaces(database)
        redirects = set(database.read(lambda db: db.rows(_REDIRECTS)))
        store.sweep(partial(is_repository_in_use, database), -1.0)
    live = [row for row in rows if row[1] is not None]
    forks = Counter(row[7] for row in live)
    for project_id, namespace_id, path, path_key, full_path, full_path_key, key, _, forks_count, branch in live:
        assert full_path == f"{paths[namespace_id]}/{path}"
        assert (path_key, full_path_key) == (path.lower(), full_path.lower())
        assert (namespace_id, path_key) not in redirects, "what lies at a path is not elsewhere too"
        assert forks_count == forks[project_id]
        assert store.open(key).head_branch() == branch
        assert find_problems(store.path_of(key), deep=True) == []
    keys = set(store.keys())
    assert {row[6] for row in live} <= keys <= {row[6] for row in rows}
    shards = {path.name for path in store.root.glob("??/??/*")}
    assert shards == {f"{key}.git" for key in keys}, "a sweep leaves nothing unfinished"
    assert list((store.root / ".trash").glob("*")) == []


def _check_namespaces(database: Database) -> dict[int, str]:
    """Return the full paths of all namespaces, each of which must follow from its parent."""
    rows = database.read(lambda db: db.rows(_NAMESPACES))
    paths = {row[0]: row[3] for row in rows}
    for _, parent_id, path, full_path in rows:
        assert full_path == (path if parent_id is None else f"{paths[parent_id]}/{path}")
    return paths
