"""Instance and git server for tests of imports: imports may reach loopback, and responses can be paused."""

import asyncio
import io
import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BufferedIOBase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import uvicorn
from sqlalchemy import select

from ingot.core.db.connection import Connection
from ingot.core.jobs.tables import Job, jobs
from ingot.core.jobs.worker import JobWorker
from ingot.core.log import Log
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.settings import Settings
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.imports.jobs import ImportJobs
from ingot.projects.imports.service import IMPORT_PROJECT
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import Project
from ingot.server.app import App, open_database
from ingot.server.startup import initialize_instance
from ingot.server.supervisor import open_socket
from tests.client import Api, Make, User
from tests.conftest import ROOT_PASSWORD, ROOT_TOKEN, Instance
from tests.git.conftest import Clone, git
from tests.git.git_server import GitServer, _Handler

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_JOBS = select(jobs).order_by(jobs.c.id)


class Importer:
    """Running instance whose imports may reach loopback."""

    def __init__(self, instance: Instance, api: Api) -> None:
        self.instance = instance
        self.api = api
        self.make = Make(api, User(1, "root", "admin@example.com", ROOT_TOKEN, ROOT_PASSWORD), instance.app.database)
        self.store = RepositoryStore(instance.settings.data / "repositories")

    def create(self, url: str, **attributes: Any) -> int:
        """Create a project with an import."""
        made = self.api.post("/projects", self.make.root, name=self.make.name("import"), import_url=url, **attributes)
        assert made.status_code == 201, made.text
        assert made.json()["import_status"] == "scheduled"
        project_id: int = made.json()["id"]
        return project_id

    def work(self, guard: SsrfGuard | None = None, **options: Any) -> None:
        """Run all queued jobs with a worker that uses this import configuration."""
        work = ImportJobs(self.store, guard or SsrfGuard(allow_local=True), **{"pauses": (0.0, 0.0), **options})
        handlers = {**self.instance._worker._handlers, IMPORT_PROJECT: work.run}
        worker = JobWorker(self.instance.app.database, handlers, [], Log("json", self.instance.log))
        while worker.run_once():
            pass

    def status(self, project_id: int) -> dict[str, Any]:
        """Return the import status from the API."""
        answer = self.api.get(f"/projects/{project_id}/import", self.make.root)
        assert answer.status_code == 200, answer.text
        said: dict[str, Any] = answer.json()
        return said

    def row(self, project_id: int) -> Project:
        """Return the project's row."""
        return self.instance.app.database.read(lambda db: existing_project(db, project_id))

    def stored_url(self, project_id: int) -> str:
        """Return the decrypted URL of the project's row."""
        return self.instance.app.database.vault.unseal(self.row(project_id).import_url or b"")

    def path(self, project_id: int) -> Path:
        """Return the path of the project's repository."""
        return self.store.path_of(self.row(project_id).repository_key)

    def jobs(self) -> list[Job]:
        """Return all import jobs."""

        def read(db: Connection) -> list[Job]:
            return [job for job in db.all(Job, _JOBS) if job.kind == IMPORT_PROJECT]

        return self.instance.app.database.read(read)


@contextmanager
def serving_importer(data: Path, database_url: str) -> Iterator[Importer]:
    """Run such an instance."""
    settings = Settings(
        data=data,
        database_url=database_url,
        root_token=ROOT_TOKEN,
        root_password=ROOT_PASSWORD,
        log_format="json",
        allow_local_requests=True,
    )
    initialize_instance(settings)
    log = io.StringIO()
    app = App(settings, open_database(settings), Log("json", log), None)
    listener = open_socket("127.0.0.1", 0)
    server = uvicorn.Server(
        uvicorn.Config(
            app.front,
            loop="uvloop",
            http="httptools",
            lifespan="off",
            log_config=None,
            server_header=False,
            timeout_keep_alive=75,
        )
    )
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    instance = Instance(settings, app, f"http://127.0.0.1:{listener.getsockname()[1]}", log)
    with Api(instance.url) as api:
        yield Importer(instance, api)
    server.should_exit = True
    thread.join(10)
    app.close()


class SlowServer(GitServer):
    """Server that pauses in the middle of a large response until it is released."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.RequestHandlerClass = _SlowHandler
        self.holds = False
        self.reached = threading.Event()
        """An answer is half out."""
        self.go = threading.Event()

    def hold(self) -> None:
        """Pause the next large response."""
        self.holds = True
        self.reached.clear()
        self.go.clear()

    def release(self) -> None:
        """Stop pausing."""
        self.holds = False
        self.go.set()

    def handle_error(self, *_: object) -> None:
        """Ignore disconnecting clients, which the tests provoke."""


class _SlowHandler(_Handler):
    server: SlowServer

    def setup(self) -> None:
        super().setup()
        self.wfile = _PausedStream(self.wfile, self.server)


class _PausedStream(BufferedIOBase):
    """Stream of a response that can be paused in the middle of a large write."""

    def __init__(self, plain: BufferedIOBase, server: SlowServer) -> None:
        self._plain = plain
        self._server = server

    def write(self, buffer: "ReadableBuffer", /) -> int:
        data = bytes(buffer)
        if self._server.holds and len(data) > 10_000:
            half = len(data) // 2
            self._plain.write(data[:half])
            self._server.reached.set()
            assert self._server.go.wait(60)
            data = data[half:]
        return self._plain.write(data)

    def flush(self) -> None:
        if not self.closed:
            self._plain.flush()

    def close(self) -> None:
        super().close()
        self._plain.close()


def fill(root: Path, name: str = "remote.git") -> Path:
    """Create a served repository with two branches and a tag, whose HEAD is ``trunk``; some packets are large."""
    path = root / name
    clone = Clone(root / f"{name}.clone")
    git(root, "init", "-q", "--bare", name)
    for number in range(3):
        for file in range(8):
            (clone.folder / f"random-{number}-{file}").write_text(secrets.token_hex(20_000))
        git(clone.folder, "add", ".")
        clone.commit(f"file-{number}")
    git(clone.folder, "tag", "-a", "-m", "one", "v1")
    clone.push(path, "master:refs/heads/devel", "v1")
    clone.commit("README")
    clone.push(path, "master:refs/heads/trunk")
    git(path, "symbolic-ref", "HEAD", "refs/heads/trunk")
    return path


@cache
def _filled_once() -> TemporaryDirectory[str]:
    folder = TemporaryDirectory(prefix="ingot-served-")
    fill(Path(folder.name))
    return folder


def filled(root: Path) -> Path:
    """Return a directory with a copy of such a repository, because creating one takes a second."""
    shutil.copytree(Path(_filled_once().name) / "remote.git", root / "remote.git")
    return root


def is_empty(path: Path) -> bool:
    """Return whether nothing is left of an import, and git can still use the repository."""
    git(path, "fsck", "--strict")
    return git(path, "for-each-ref") == "" and not list((path / "objects").rglob("*.pack"))
