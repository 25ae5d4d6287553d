"""Record of the jobs that a runner executes, so that it can report those that it lost when it was killed."""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingot.runner.assignment import AssignedJob
from ingot.runner.client import JobClient
from ingot.runner.http import NoResponse, json_body


class RunningJobs:
    """Directory with one locked file per job; the lock ends with the process, also if it is killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def recorded(self, job: AssignedJob) -> Iterator[None]:
        """Record a job while it is executed."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{job.id}-{secrets.token_hex(4)}.json"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(json_body({"id": job.id, "token": job.token}))
            file.flush()
            try:
                yield
            finally:
                path.unlink(missing_ok=True)

    def report_lost(self, url: str) -> int:
        """Report the jobs of runners that were killed as failed; return their number."""
        return sum(self._report(path, url) for path in sorted(self._folder.glob("*.json")))

    def _report(self, path: Path, url: str) -> bool:
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # Another runner executes it.
                return False
            try:
                job = json.loads(file.read())
                client = JobClient(url, int(job["id"]), str(job["token"]))
                client.update("failed", failure_reason="runner_system_failure")
            except NoResponse:  # The next start tries again.
                return False
            except (ValueError, KeyError):  # It was killed before the record was complete.
                pass
            path.unlink(missing_ok=True)
            return True
