"""After kill -9 of the server, runners continue: no acknowledged byte of a trace and no result of a job is lost."""

import json
import threading
from contextlib import closing, suppress
from http.client import HTTPConnection
from typing import Any

import httpx
import pytest
from sqlalchemy import delete

from ingot.ci.job_records.tables import ci_jobs
from ingot.ci.pipelines.maintenance import drop_stuck_jobs
from ingot.ci.pipelines.stuck_jobs import SILENT_RUNNER_SECONDS, UNDELIVERED_SECONDS
from ingot.core.db.clocks import wall_clock
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.nodes.tables import nodes
from ingot.core.settings import Settings
from ingot.pipelines.tables import commit_statuses
from ingot.server.app import open_database
from tests.server.process import Server, until

ROUNDS = 3
CONFIG = json.dumps({"job": {"script": "true"}, "second": {"script": "true", "stage": "deploy"}})


class TraceSender:
    """Runner that sends output as fast as it can, and continues where the server says."""

    def __init__(self, server: Server, job: dict[str, Any]) -> None:
        self._server = server
        self._job = job
        self._stop = threading.Event()
        self.acknowledged = 0

    def content(self, start: int, stop: int) -> bytes:
        """Return a part of the output, whose bytes tell their offsets."""
        lines = b"".join(b"%09d\n" % (10 * number) for number in range(start // 10, stop // 10 + 1))
        return lines[start % 10 : start % 10 + stop - start]

    def run(self) -> None:
        """Send until stopped; the server may be down for a while."""
        while not self._stop.is_set():
            with suppress(httpx.TransportError):
                self.send()

    def send(self) -> None:
        """Send the next part."""
        offset = self.acknowledged
        headers = {
            "JOB-TOKEN": self._job["token"],
            "Content-Type": "text/plain",
            "Content-Range": f"{offset}-{offset + 3999}",
        }
        path = f"/jobs/{self._job['id']}/trace"
        answer = self._server.call("PATCH", path, content=self.content(offset, offset + 4000), headers=headers)
        size = int(answer.headers["range"].rpartition("-")[2])
        # A part whose response was lost is stored once.
        assert answer.status_code in (202, 416)
        assert size >= offset
        self.acknowledged = size

    def stop(self) -> None:
        """Stop sending."""
        self._stop.set()


def _job(server: Server) -> tuple[int, str, dict[str, Any]]:
    """Create a project with a pipeline; return it, a runner's token and the first job."""
    project: int = server.call("POST", "/projects", json={"name": "built"}).json()["id"]
    file = {"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIG}
    commit = {"branch": "master", "commit_message": "ci", "actions": [file]}
    assert server.call("POST", f"/projects/{project}/repository/commits", json=commit).status_code == 201
    token: str = server.call("POST", "/user/runners", json={"runner_type": "instance_type"}).json()["token"]
    job: dict[str, Any] = server.call("POST", "/jobs/request", json={"token": token}).json()
    return project, token, job


def test_acknowledged_bytes_of_a_trace_survive(server: Server) -> None:
    project, token, job = _job(server)
    sender = TraceSender(server, job)
    thread = threading.Thread(target=sender.run)
    thread.start()
    try:
        for _ in range(ROUNDS):
            enough = sender.acknowledged + 40_000
            until("some output", lambda enough=enough: sender.acknowledged >= enough)  # type: ignore[misc]
            server.kill()
            server.start()
    finally:
        sender.stop()
        thread.join()
    trace = server.call("GET", f"/projects/{project}/jobs/{job['id']}/trace").content
    assert len(trace) >= sender.acknowledged
    assert trace == sender.content(0, len(trace))
    # The result is stored too, and the next job can start.
    result = {"token": job["token"], "state": "success", "output": {"bytesize": len(trace)}}
    assert server.call("PUT", f"/jobs/{job['id']}", json=result).status_code == 200
    server.kill()
    server.start()
    assert server.call("GET", f"/projects/{project}/jobs/{job['id']}").json()["status"] == "success"
    assert server.call("POST", "/jobs/request", json={"token": token}).json()["job_info"]["name"] == "second"


def _search_stuck_jobs(server: Server, later_seconds: float) -> None:
    """Search at a later time for jobs that will not end by themselves."""
    settings = Settings(data=server.data, database_url=server.database_url)
    database = open_database(settings, lambda: add_duration(wall_clock(), seconds=later_seconds))
    try:
        drop_stuck_jobs(database, None)
    finally:
        database.close()


@pytest.mark.parametrize("report", ["trace", "state"])
def test_a_job_that_its_runner_has_reported_about_is_not_handed_out_again(server: Server, report: str) -> None:
    """The server is killed as soon as it has acknowledged the first report, and stays down for a while."""
    project, token, job = _job(server)
    if report == "trace":
        TraceSender(server, job).send()
    else:
        sent = {"token": job["token"], "state": "running"}
        assert server.call("PUT", f"/jobs/{job['id']}", json=sent).status_code == 200
    server.kill()
    _search_stuck_jobs(server, 2 * UNDELIVERED_SECONDS)
    server.start()
    assert server.call("POST", "/jobs/request", json={"token": token}).status_code == 204
    assert server.call("GET", f"/projects/{project}/jobs/{job['id']}").json()["status"] == "running"


@pytest.mark.parametrize("seconds", [2 * UNDELIVERED_SECONDS, 2 * SILENT_RUNNER_SECONDS])
def test_runners_may_report_after_a_long_downtime(server: Server, seconds: int) -> None:
    """They could not report while the server was down; a job that is still silent later is lost."""
    project, token, job = _job(server)
    server.kill()
    _backdate(server, job["id"], seconds)
    server.start()
    until("the report of the web process", lambda: server.call("GET", "/admin/nodes").json())
    _search_stuck_jobs(server, 0)
    assert server.call("GET", f"/projects/{project}/jobs/{job['id']}").json()["status"] == "running"
    _search_stuck_jobs(server, 2 * UNDELIVERED_SECONDS)
    again = server.call("POST", "/jobs/request", json={"token": token})
    assert (again.status_code, again.json()["id"]) == (201, job["id"])


def _backdate(server: Server, job_id: int, seconds: int) -> None:
    """Let a job have been handed out earlier, by processes whose reports are gone."""
    database = open_database(Settings(data=server.data, database_url=server.database_url))

    def change(db: Connection) -> None:
        moment = add_duration(db.now, seconds=-seconds)
        db.update(ci_jobs, job_id, contacted_at=moment)
        db.update(commit_statuses, job_id, started_at=moment)
        db.run(delete(nodes))

    try:
        database.write(change)
    finally:
        database.close()


def test_a_waiting_runner_is_answered_when_the_server_stops(server: Server) -> None:
    _, token, job = _job(server)
    result = {"token": job["token"], "state": "failed"}
    assert server.call("PUT", f"/jobs/{job['id']}", json=result).status_code == 200
    answer = server.call("POST", "/jobs/request", json={"token": token})
    sent = json.dumps({"token": token, "last_update": answer.headers["x-gitlab-last-update"]})
    with closing(HTTPConnection(server.url.removeprefix("http://"), timeout=60)) as waiting:
        waiting.request("POST", "/api/v4/jobs/request", sent, {"Content-Type": "application/json"})
        # Another poll shows that the first one does not occupy a thread or the event loop.
        assert server.call("POST", "/jobs/request", json={"token": token}).status_code == 204
        assert server.stop() == 0
        assert waiting.getresponse().status == 204
