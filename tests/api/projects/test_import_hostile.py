"""Imports from hostile servers: redirects, failures, endless responses and DNS rebinding."""

import fcntl
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from ingot.core.jobs.tables import jobs
from ingot.core.outgoing import client, remotes
from ingot.core.outgoing.guard import SsrfGuard
from ingot.git.maintenance import fetch, object_limits
from ingot.projects.imports.jobs import NOT_STORED, TRANSIENT_REASONS
from ingot.projects.projects.tables import projects
from tests.api.projects.import_server import Importer, SlowServer, filled, is_empty
from tests.free_ports import closed_port
from tests.git.conftest import git
from tests.git.git_server import GitServer, serving

LOCAL = "Requests to the local network are not allowed"
ONLY_ONE = [ip_network("127.0.0.1/32")]
_START = update(projects).where(projects.c.id == bindparam("project")).values(import_status="started")


class ImportResolver:
    """Resolver with a sequence of answers, of which the last one repeats."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        self.asked.append(host)
        found = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]


def test_a_redirect_into_the_internal_network_is_not_followed(
    importer: Importer, server: SlowServer, tmp_path: Path
) -> None:
    """Attack: the server redirects to an internal address; a redirect within the server works."""
    with socket.create_server(("127.0.0.2", 0)) as inside:
        inside.settimeout(0.5)
        server.redirects["/away.git"] = (302, f"http://127.0.0.2:{inside.getsockname()[1]}/x.git{{rest}}")
        server.redirects["/metadata.git"] = (302, "http://169.254.169.254/x.git{rest}")
        server.redirects["/moved.git"] = (301, f"{server.url}/remote.git{{rest}}")
        results = []
        for name in ("away", "metadata", "moved"):
            project_id = importer.create(f"{server.url}/{name}.git")
            importer.work(SsrfGuard(allowed=ONLY_ONE))
            status = importer.status(project_id)
            results.append((status["import_status"], status["import_error"]))
        assert results == [("failed", LOCAL), ("failed", LOCAL), ("finished", None)]
        with pytest.raises(TimeoutError):
            inside.accept()


def test_a_redirect_of_git_itself_is_not_followed(importer: Importer, server: SlowServer) -> None:
    """Attack: the server answers the first request and redirects the next one, made by git."""
    with socket.create_server(("127.0.0.2", 0)) as inside:
        inside.settimeout(0.5)

        class Turncoat(dict[str, tuple[int, str]]):
            def items(self) -> Any:
                if len(server.asked) > 1:
                    return {"/": (302, f"http://127.0.0.2:{inside.getsockname()[1]}/{{rest}}")}.items()
                return {}.items()

        server.redirects = Turncoat()
        project_id = importer.create(f"{server.url}/remote.git")
        importer.work(SsrfGuard(allowed=ONLY_ONE))
        assert importer.status(project_id)["import_error"] == "The server redirects to another address"
        with pytest.raises(TimeoutError):
            inside.accept()


def test_credentials_are_not_sent_after_a_redirect_to_another_host(
    importer: Importer, server: SlowServer, tmp_path: Path
) -> None:
    """Attack: the other server asks for them."""
    with serving(GitServer(filled(tmp_path / "other"))) as other:
        server.redirects["/moved.git"] = (302, f"{other.url}/remote.git{{rest}}")
        project_id = importer.create(f"http://me:secret-word@127.0.0.1:{server.port}/moved.git")
        importer.work()
        assert importer.status(project_id)["import_status"] == "finished"
        assert [sent is not None for _, _, sent in server.asked] == [True]
        assert {sent for _, _, sent in other.asked} == {None}


def test_unusual_urls_are_normalized_for_git(importer: Importer, server: SlowServer) -> None:
    """Attack: git parses a URL differently; a redirect to a URL with a query is not a repository."""
    server.redirects["/%40me/remote.git"] = (302, f"HTTP://127.0.0.1:{server.port}/remote.git{{rest}}")
    server.redirects["/query.git"] = (302, f"{server.url}/remote.git?x={{rest}}")
    server.redirects["/fragment.git"] = (302, f"{server.url}/remote.git#{{rest}}")
    logged, results = len(importer.instance.log.getvalue()), []
    for path in ("@me/remote.git", "query.git", "fragment.git"):
        project_id = importer.create(f"HTTP://127.0.0.1:{server.port}/{path}/")
        importer.work()
        results.append(importer.status(project_id)["import_error"])
    assert results[0] is None
    assert all(reason and reason.startswith("The") for reason in results[1:])
    assert "job failed" not in importer.instance.log.getvalue()[logged:]


def test_a_name_is_resolved_once(importer: Importer, server: SlowServer) -> None:
    """Attack: DNS rebinding; git connects to the checked address."""
    resolver = ImportResolver(["127.0.0.1"], ["127.0.0.2"])
    project_id = importer.create(f"http://git.invalid:{server.port}/remote.git")
    importer.work(SsrfGuard(allowed=ONLY_ONE, resolve=resolver))
    assert importer.status(project_id)["import_status"] == "finished"
    assert resolver.asked == ["git.invalid"]
    assert {host for _, host, _ in server.asked} == {f"git.invalid:{server.port}"}


@pytest.mark.parametrize("answers", [["127.0.0.1"], ["192.0.2.1", "127.0.0.1"], ["8.8.8.8", "10.0.0.1"]])
def test_a_name_with_one_local_address_is_rejected(importer: Importer, server: SlowServer, answers: list[str]) -> None:
    """Attack: one of several addresses is local."""
    project_id = importer.create(f"http://git.invalid:{server.port}/remote.git")
    importer.work(SsrfGuard(resolve=ImportResolver(answers)))
    status = importer.status(project_id)
    assert (status["import_status"], status["import_error"]) == ("failed", LOCAL)
    assert server.asked == []


def test_an_unresolvable_name_is_retried_and_checked_again(importer: Importer, server: SlowServer) -> None:
    """Attack: a failed lookup, then a local address; the failure disables no check."""
    resolver = ImportResolver([], ["127.0.0.1"])
    project_id = importer.create(f"http://git.invalid:{server.port}/remote.git")
    importer.work(SsrfGuard(resolve=resolver))
    assert importer.status(project_id)["import_error"] == LOCAL
    assert len(resolver.asked) == 2
    assert server.asked == []


def test_a_failing_server_is_tried_three_times(importer: Importer, server: SlowServer) -> None:
    """A server that recovers in time is imported."""
    server.redirects["/remote.git"] = (503, "")
    project_id = importer.create(f"{server.url}/remote.git")
    importer.work(pauses=(0.0, 3600.0))
    status = importer.status(project_id)
    reason = "The server answered with status 503"
    assert (status["import_status"], status["import_error"]) == ("scheduled", reason)
    assert status["import_progress"] == f"Waiting to retry: {reason}"
    assert len(server.asked) == 2
    # The job queue shows the same.
    (job,) = importer.jobs()
    assert (job.state, job.attempts, job.last_error) == ("waiting", 2, reason)
    _due_now(importer)
    importer.work()
    assert importer.status(project_id)["import_error"] == "The server answered with status 503"
    assert (len(server.asked), importer.jobs()) == (3, [])

    another = importer.create(f"{server.url}/remote.git")
    importer.work(pauses=(3600.0,))
    server.redirects.clear()
    _due_now(importer)
    importer.work()
    assert importer.status(another)["import_status"] == "finished"


def _due_now(importer: Importer) -> None:
    importer.instance.app.database.write(lambda db: db.run(update(jobs).values(run_at=db.now)))


def test_a_refused_connection_is_retried_and_reported(importer: Importer) -> None:
    """Tried again, then given up, with a sentence that tells what happened."""
    with closed_port() as port:
        project_id = importer.create(f"http://127.0.0.1:{port}/x.git")
        importer.work()
    assert importer.status(project_id)["import_error"] == "The server cannot be reached"


def test_retryable_reasons_exist() -> None:
    """The list of retryable reasons matches the texts defined elsewhere."""
    worded = {sentence for _, sentence in fetch._REASONS}
    source = Path(client.__file__).read_text() + Path(remotes.__file__).read_text()
    assert not [
        reason for reason in TRANSIENT_REASONS - {NOT_STORED} if reason not in worded and f'"{reason}"' not in source
    ]
    assert "The server answered with status {" in source


def test_a_repository_over_the_size_limit_is_deleted(importer: Importer, server: SlowServer) -> None:
    """Attack: a huge repository; the transfer is stopped and no data stays on disk."""
    project_id = importer.create(f"{server.url}/remote.git")
    importer.work(max_bytes=20_000)
    assert importer.status(project_id)["import_error"] == "The repository is too large"
    assert is_empty(importer.path(project_id))


def test_a_stalled_transfer_times_out(importer: Importer, server: SlowServer) -> None:
    """Attack: half a pack, then nothing."""
    server.hold()
    project_id = importer.create(f"{server.url}/remote.git")
    importer.work(timeout=2.0)
    assert importer.status(project_id)["import_error"] == "The import took too long"
    assert is_empty(importer.path(project_id))


@contextmanager
def raw_server(*pieces: bytes, pause: float = 0.0) -> Iterator[int]:
    """Serve the chunks to each client, repeating the last one."""
    stopped = threading.Event()

    def respond(connection: socket.socket) -> None:
        try:
            connection.recv(4096)
            for piece in pieces:
                connection.sendall(piece)
            while not stopped.wait(pause):
                connection.sendall(pieces[-1])
        except OSError:
            pass
        finally:
            connection.close()

    def serve() -> None:
        while not stopped.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=respond, args=[connection], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        stopped.set()
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n"
FLOODS = [
    ((HEAD + b"\r\n001e# service=git-upload-pack\n0000", b"0" * 65536), 0.0),
    ((HEAD + b"Content-Length: 10737418240\r\n\r\n", b"0032" + b"a" * 40 + b" refs/x\n"), 0.0),
    ((HEAD + b"X: ", b"x" * 65536), 0.0),
    ((HEAD + b"\r\n", b"0"), 0.2),
    ((b"\0" * 65536, b"\0" * 65536), 0.0),
]


@pytest.mark.parametrize(("pieces", "pause"), FLOODS, ids=["bytes", "references", "header", "drips", "no http"])
def test_an_endless_response_ends(importer: Importer, pieces: tuple[bytes, ...], pause: float) -> None:
    """Attack: ten gigabytes, or a byte at a time: the import times out, and memory does not grow."""
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with raw_server(*pieces, pause=pause) as port:
        project_id = importer.create(f"http://127.0.0.1:{port}/x.git")
        began = time.monotonic()
        importer.work(timeout=3.0, pauses=())
        assert time.monotonic() - began < fetch.RESPONSE_SECONDS
    status = importer.status(project_id)
    assert status["import_status"] == "failed"
    assert status["import_error"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
    assert is_empty(importer.path(project_id))


def test_a_partial_repository_is_replaced(importer: Importer, server: SlowServer) -> None:
    """As left by a killed worker: partial packs, references and locks."""
    project_id = importer.create(f"{server.url}/remote.git")
    path = importer.path(project_id)
    importer.instance.app.database.write(lambda db: db.run(_START, project=project_id))
    git(server.root / "remote.git", "push", "-q", path, "devel:refs/heads/old")
    for name in ("packed-refs.lock", "HEAD.lock", "refs/heads/trunk.lock", "objects/pack/tmp_pack_x"):
        (path / name).write_text("half")
    importer.work()
    assert importer.status(project_id)["import_status"] == "finished"
    refs = git(server.root / "remote.git", "for-each-ref", "refs/heads", "refs/tags")
    assert git(path, "for-each-ref") == refs
    assert not list(path.rglob("*.lock")) + list(path.rglob("tmp_*"))


def test_a_missing_repository_is_recreated(importer: Importer, server: SlowServer) -> None:
    """After a crash between removing the partial one and creating the next."""
    project_id = importer.create(f"{server.url}/remote.git")
    importer.instance.app.database.write(lambda db: db.run(_START, project=project_id))
    importer.store.remove(importer.row(project_id).repository_key)
    importer.work()
    assert importer.status(project_id)["import_status"] == "finished"


def test_two_workers_never_write_one_repository(importer: Importer, server: SlowServer) -> None:
    """A worker with an expired lease may still run; the second one waits and then has nothing to do."""
    project_id = importer.create(f"{server.url}/remote.git")
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(importer.path(project_id))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout
    assert holder.stdout.readline() == b"held\n"
    importer.work()
    (job,) = importer.jobs()
    assert (job.state, importer.status(project_id)["import_status"]) == ("waiting", "scheduled")
    holder.kill()
    holder.communicate()
    _due_now(importer)
    importer.work()
    assert importer.status(project_id)["import_status"] == "finished"
    descriptor = os.open(importer.path(project_id) / "ingot-import", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)


_HOLD = """
import fcntl, os, sys
descriptor = os.open(sys.argv[1] + "/ingot-import", os.O_RDWR | os.O_CREAT)
fcntl.flock(descriptor, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_repositories_with_too_many_refs(
    importer: Importer, server: SlowServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    refs = len(git(server.root / "remote.git", "for-each-ref", "refs/heads", "refs/tags").splitlines())
    monkeypatch.setattr(importer.store, "max_refs", refs - 1)
    project_id = importer.create(f"{server.url}/remote.git")
    importer.work()
    status = importer.status(project_id)
    reason = f"A repository may have {refs - 1} branches and tags at most."
    assert (status["import_status"], status["import_error"]) == ("failed", reason)
    assert is_empty(importer.path(project_id))
    monkeypatch.setattr(importer.store, "max_refs", refs)
    project_id = importer.create(f"{server.url}/remote.git")
    importer.work()
    assert importer.status(project_id)["import_status"] == "finished"


@pytest.mark.parametrize("kind", ["commit", "tree"])
def test_repositories_with_objects_that_are_too_large(
    importer: Importer, server: SlowServer, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A message or a folder of a gigabyte would be read into memory by every list that shows it."""
    monkeypatch.setattr(object_limits, "MAX_OBJECT_MB", {"tag": 8, kind: 0})
    project_id = importer.create(f"{server.url}/remote.git")
    importer.work()
    status = importer.status(project_id)
    reason = f"A {kind} is larger than the 0 MB that are allowed."
    assert (status["import_status"], status["import_error"]) == ("failed", reason)
    assert is_empty(importer.path(project_id))
