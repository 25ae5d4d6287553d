"""Processes in which maintenance jobs run, apart from the job worker."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ingot.core.db.database import Database
from ingot.core.jobs.handlers import RetryLater
from ingot.core.jobs.job_processes import JobProcesses, JobProcessFailure, run_requested_jobs
from tests.client import Make


@contextmanager
def _forking(database: Database, logged: list[str]) -> Iterator[JobProcesses]:
    """Serve the requests for processes by threads, which share what the handlers record."""
    requests, control = socket.socketpair()

    def serve() -> None:
        while True:
            _, descriptors, _, _ = socket.recv_fds(requests, 1, 1)
            if not descriptors:
                return
            logged.append("started")
            for descriptor in descriptors:
                arguments = (descriptor, database, {"greet": greet, "fail": fail, "wait": wait}, log)
                threading.Thread(target=run_requested_jobs, args=arguments, daemon=True).start()

    def greet(_: Database, payload: Any) -> None:
        logged.append(f"hello {payload}")

    def fail(_: Database, payload: Any) -> None:
        raise ValueError(f"cannot {payload}")

    def wait(_: Database, payload: Any) -> None:
        raise RetryLater(payload, "not yet")

    def log(event: str, **fields: Any) -> None:
        logged.append(f"{event} {fields['kind']} {fields['error']}")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    processes = JobProcesses(control)
    yield processes
    processes.close()
    control.close()
    thread.join()
    requests.close()


def test_a_process_runs_one_job_after_the_other(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingot.core.jobs.job_processes._exit_after_worker", lambda _: None)
    logged: list[str] = []
    with _forking(make.database, logged) as processes:
        handlers = processes.handlers(["greet", "fail", "wait"])
        handlers["greet"](make.database, ["a", 1])
        with pytest.raises(JobProcessFailure) as failure:
            handlers["fail"](make.database, "swim")
        assert failure.value.description == "ValueError: cannot [hidden]"
        with pytest.raises(RetryLater) as retry:
            handlers["wait"](make.database, 2.5)
        assert (retry.value.seconds, retry.value.reason) == (2.5, "not yet")
    assert logged == ["started", "hello ['a', 1]", "job failed fail ValueError"]


def test_a_job_whose_process_ends_has_failed(make: Make) -> None:
    requests, control = socket.socketpair()
    processes = JobProcesses(control)

    def end() -> None:
        (descriptor,) = socket.recv_fds(requests, 1, 1)[1]
        os.close(descriptor)

    thread = threading.Thread(target=end)
    thread.start()
    with pytest.raises(JobProcessFailure, match="The process of the job ended"):
        processes.handlers(["greet"])["greet"](make.database, None)
    thread.join()
    control.close()
    requests.close()


def test_a_process_ends_with_its_worker(make: Make) -> None:
    """Even in the middle of a job, which another worker then runs again."""
    mine, theirs = socket.socketpair()
    begun, begin = os.pipe()

    def hang(*_: Any) -> None:
        os.write(begin, b"!")
        signal.pause()

    pid = os.fork()
    if pid == 0:
        mine.close()
        run_requested_jobs(theirs.detach(), make.database, {"hang": hang}, lambda *_, **__: None)
        os._exit(1)
    theirs.close()
    mine.sendall(b'{"kind": "hang", "payload": null}\n')
    assert os.read(begun, 1) == b"!"
    mine.close()
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
