"""The command ``ingot runner``."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ci.own_runner.conftest import AddJob
from tests.ci.own_runner.protocol_server import ProtocolServer, RecordedJob
from tests.server.process import is_alive, until

WAIT_SECONDS = 60.0


@contextmanager
def _runner(server: ProtocolServer, folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "ingot", "runner", "--url", server.url, "--work", str(folder), *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield process
        process.communicate(timeout=WAIT_SECONDS)
    finally:
        process.kill()
        process.communicate()


def _wait_for(job: RecordedJob, text: bytes) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while text not in job.trace:
        assert time.monotonic() < deadline, job.trace
        time.sleep(0.02)


def test_once_registers_and_executes_one_job(server: ProtocolServer, add_job: AddJob, tmp_path: Path) -> None:
    """The token is kept for the next start, in a file that only the user can read."""
    first, second = add_job(["echo one"]), add_job(["echo two"])
    for _ in range(3):
        with _runner(
            server, tmp_path / "work", "--registration-token", "secret", "--tags", "a, b", "--once"
        ) as process:
            pass
        assert process.returncode == 0
    assert first.final["state"] == second.final["state"] == "success"
    registrations = [json.loads(body) for method, path, _, body in server.requests if path == "/api/v4/runners"]
    assert [(body["token"], body["tag_list"], body["run_untagged"]) for body in registrations] == [
        ("secret", "a,b", False)
    ]
    assert (tmp_path / "work" / "runner.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("number", "state", "reason"),
    [(signal.SIGQUIT, "success", None), (signal.SIGTERM, "failed", "runner_system_failure")],
)
def test_signals(
    server: ProtocolServer, add_job: AddJob, tmp_path: Path, number: signal.Signals, state: str, reason: str | None
) -> None:
    """SIGQUIT waits for running jobs, SIGTERM ends them; neither takes another job."""
    pipe = tmp_path / "go"
    jobs = [add_job([f"echo started; until test -e {pipe}; do sleep 0.1; done"]) for _ in range(2)]
    waiting = add_job(["true"])
    with _runner(server, tmp_path / "work", "--token", "t", "--concurrency", "2") as process:
        for job in jobs:
            _wait_for(job, b"\nstarted\n")
        process.send_signal(number)
        if number == signal.SIGQUIT:
            pipe.touch()
    assert process.returncode == 0
    assert [(job.final["state"], job.final.get("failure_reason")) for job in jobs] == [(state, reason)] * 2
    assert waiting.updates == []


def test_a_killed_runner_loses_no_job(server: ProtocolServer, add_job: AddJob, tmp_path: Path) -> None:
    """Its processes end with it, and the next start reports the job, but not one that another runner executes."""
    marker = tmp_path / "pid"
    job = add_job([f"sleep 300 & echo $! > {marker}; echo started; wait"])
    with _runner(server, tmp_path / "work", "--token", "t") as process:
        _wait_for(job, b"\nstarted\n")
        process.send_signal(signal.SIGKILL)
    until("the end of the job's processes", lambda: not is_alive(int(marker.read_text())))
    assert job.updates == []
    other = add_job([f"echo started; until test -e {tmp_path}/go; do sleep 0.1; done"])
    with _runner(server, tmp_path / "work", "--token", "t") as process:
        _wait_for(other, b"\nstarted\n")
        assert (job.final["state"], job.final["failure_reason"]) == ("failed", "runner_system_failure")
        with _runner(server, tmp_path / "work", "--token", "t", "--once"):
            pass
        assert other.updates == []
        (tmp_path / "go").touch()
        process.send_signal(signal.SIGQUIT)
    assert other.final["state"] == "success"
    assert list((tmp_path / "work" / "running").iterdir()) == []


def test_a_token_is_required() -> None:
    """The message names the options."""
    command = [sys.executable, "-m", "ingot", "runner", "--url", "http://127.0.0.1:1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "--token or --registration-token" in ended.stderr
