"""Loop of a runner: request jobs and execute them."""

import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from ingot.runner.assignment import AssignedJob, parse_assignment
from ingot.runner.client import JobClient, RunnerClient
from ingot.runner.execution import JobExecution, JobResult, RunnerPaths
from ingot.runner.http import NoResponse, ServerConnection, retry_after
from ingot.runner.lost_jobs import RunningJobs
from ingot.runner.slots import BuildSlots

_PAUSE_SECONDS = 3.0
_ERROR_PAUSE_SECONDS = 5.0
_MIN_HELD_SECONDS = 1.0
"""A server that holds requests for a job answers an unchanged one later than this; another one is asked less often."""

Log = Callable[..., None]


class RunnerRejected(Exception):
    """The server does not know this runner any more."""


class RunnerWorker:
    """Executes up to ``concurrency`` jobs at the same time."""

    def __init__(
        self, client: RunnerClient, paths: RunnerPaths, log: Log, *, concurrency: int = 1, clone_url: str | None = None
    ) -> None:
        self._client = client
        self._paths = paths
        self._log = log
        self._concurrency = concurrency
        self._clone_url = clone_url
        self._stopping = threading.Event()
        self._polling = threading.Lock()
        """Only one thread polls at a time, because the server may hold the request."""
        self._guard = threading.Lock()
        self._connection: ServerConnection | None = None
        self._executions: set[JobExecution] = set()
        self._last_update: str | None = None
        self._rejected = False
        self._aborting = False
        self._running_jobs = RunningJobs(paths.running)
        self._slots = BuildSlots(paths.builds)

    def report_lost_jobs(self) -> None:
        """Report the jobs that an earlier process of this runner could not finish."""
        count = self._running_jobs.report_lost(self._client.url)
        if count:
            self._log("lost jobs reported", count=count)

    def run_once(self) -> bool:
        """Execute one job if there is one; return whether there was."""
        job = self._request()
        if job is None:
            return False
        self._execute(job)
        return True

    def run(self) -> None:
        """Execute jobs until ``stop`` is called and the running jobs have ended; raise RunnerRejected."""
        threads = [
            threading.Thread(target=self._execute_jobs, name=f"jobs-{number}") for number in range(self._concurrency)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._rejected:
            raise RunnerRejected("The server does not accept the token of this runner")

    def stop(self, *, abort: bool = False) -> None:
        """Take no more jobs; with ``abort``, end those that run."""
        self._stopping.set()
        with self._guard:
            if self._connection is not None:
                self._connection.abort()
            self._aborting = self._aborting or abort
            running = list(self._executions) if abort else []
        for execution in running:
            execution.abort()

    def _execute_jobs(self) -> None:
        while not self._stopping.is_set():
            with self._polling:
                job = None if self._stopping.is_set() else self._wait_for_job()
            if job is not None:
                self._execute(job)

    def _wait_for_job(self) -> AssignedJob | None:
        began, known = time.monotonic(), self._last_update
        try:
            job = self._request()
        except NoResponse as error:
            if not self._stopping.is_set():
                self._log("server unreachable", error=str(error))
                self._stopping.wait(_ERROR_PAUSE_SECONDS)
            return None
        except RunnerRejected:
            self._rejected = True
            self.stop()
            return None
        if job is None and self._last_update == known and time.monotonic() - began < _MIN_HELD_SECONDS:
            self._stopping.wait(_PAUSE_SECONDS)
        return job

    def _request(self) -> AssignedJob | None:
        """Request a job; raise RunnerRejected or NoResponse."""
        connection = self._client.poll_connection()
        with self._guard:
            if self._stopping.is_set():
                return None
            self._connection = connection
        try:
            poll = self._client.poll(connection, self._last_update)
        finally:
            with self._guard:
                self._connection = None
        reply = poll.reply
        if reply.status == 201:
            return self._parse(reply.body)
        if reply.status in (401, 403):
            raise RunnerRejected("The server does not accept the token of this runner")
        if reply.status == 204:
            self._last_update = poll.last_update
        elif reply.status != 409:
            self._log("request for a job failed", status=reply.status)
            self._stopping.wait(retry_after(reply, _ERROR_PAUSE_SECONDS))
        return None

    def _parse(self, body: bytes) -> AssignedJob | None:
        try:
            return parse_assignment(body)
        except msgspec.DecodeError as error:
            self._log("unusable job", error=str(error))
            return None

    def _execute(self, job: AssignedJob) -> None:
        fields: dict[str, Any] = {"job": job.id, "name": job.job_info.name, "project": job.job_info.project_name}
        self._log("job started", **fields)
        began = time.monotonic()
        try:
            with self._running_jobs.recorded(job), self._slots.acquire() as slot:
                result = self._run(JobExecution(self._client.url, job, self._paths, slot, self._clone_url))
        except OSError as error:  # The directory of builds cannot be written, for example.
            self._log("job not started", **fields, error=str(error))
            self._report_failure(job)
            return
        seconds = round(time.monotonic() - began, 1)
        self._log("job ended", **fields, state=result.state, reason=result.failure_reason, seconds=seconds)

    def _run(self, execution: JobExecution) -> JobResult:
        with self._guard:
            self._executions.add(execution)
            aborting = self._aborting
        if aborting:
            execution.abort()
        try:
            return execution.run()
        finally:
            with self._guard:
                self._executions.discard(execution)

    def _report_failure(self, job: AssignedJob) -> None:
        try:
            JobClient(self._client.url, job.id, job.token).update("failed", failure_reason="runner_system_failure")
        except NoResponse as error:
            self._log("server unreachable", error=str(error))
