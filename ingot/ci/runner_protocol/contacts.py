"""Times of the last contact of runners and jobs, written in the background, so that polls never write."""

import asyncio
from concurrent.futures import Executor
from time import monotonic
from typing import NamedTuple

from sqlalchemy import bindparam, select, update

from ingot.ci.job_records.tables import ci_jobs
from ingot.ci.runners.params import RunnerInfo
from ingot.ci.runners.service import note_contact
from ingot.ci.runners.tables import runners
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.expressions import in_list
from ingot.core.errors import Conflict, Unavailable
from ingot.core.log import log_failure

FLUSH_DELAY_SECONDS = 2.0
RUNNER_INTERVAL_SECONDS = 600.0
JOB_INTERVAL_SECONDS = 60.0
MAX_TRACKED = 100_000
_RUNNER = select(runners.c.id).where(runners.c.token_digest == bindparam("digest"))
_CONTACT_OF_JOBS = update(ci_jobs).where(in_list(ci_jobs.c.id, "jobs")).values(contacted_at=bindparam("now"))


class RunnerContact(NamedTuple):
    """A machine that polls with the token of a runner."""

    token_digest: bytes
    system_id: str | None


class _ContactDetails(NamedTuple):
    info: RunnerInfo | None
    ip: str


class ContactTracker:
    """Collector of the contacts of a worker, which writes them in batches."""

    def __init__(self, database: Database, writer: Executor) -> None:
        self._database = database
        self._writer = writer
        self._noted_at: dict[RunnerContact | int, float] = {}
        self._runners: dict[RunnerContact, _ContactDetails] = {}
        self._jobs: set[int] = set()
        self._scheduled = False

    def is_due(self, key: RunnerContact | int) -> bool:
        """Return whether a contact of a runner or job should be noted again."""
        interval = JOB_INTERVAL_SECONDS if isinstance(key, int) else RUNNER_INTERVAL_SECONDS
        return monotonic() - self._noted_at.get(key, float("-inf")) >= interval

    def note_runner(self, contact: RunnerContact, info: RunnerInfo | None, ip: str) -> None:
        """Record a poll of a runner."""
        self._runners[contact] = _ContactDetails(info, ip)
        self._note(contact)

    def note_job(self, job_id: int) -> None:
        """Record that a runner works on a job."""
        self._jobs.add(job_id)
        self._note(job_id)

    def _note(self, key: RunnerContact | int) -> None:
        if len(self._noted_at) >= MAX_TRACKED:
            self._noted_at.clear()
        self._noted_at[key] = monotonic()
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_later(FLUSH_DELAY_SECONDS, self._flush)

    def _flush(self) -> None:
        self._scheduled = False
        contacts, self._runners = self._runners, {}
        jobs, self._jobs = self._jobs, set()
        try:
            self._writer.submit(self._write, contacts, jobs)
        except RuntimeError:
            # The worker is shutting down; the times are not worth delaying it.
            pass

    def _write(self, contacts: dict[RunnerContact, _ContactDetails], jobs: set[int]) -> None:
        def work(db: Connection) -> None:
            for contact, details in contacts.items():
                runner_id = db.value(_RUNNER, digest=contact.token_digest)
                if runner_id is not None:
                    note_contact(db, runner_id, details.info, details.ip, contact.system_id)
            if jobs:
                db.run(_CONTACT_OF_JOBS, jobs=sorted(jobs), now=db.now)

        try:
            self._database.write(work)
        except (Unavailable, Conflict) as error:  # The next contact is recorded again.
            log_failure("contacts of runners not stored", error)
            for contact in contacts:
                self._noted_at.pop(contact, None)
            for job_id in jobs:
                self._noted_at.pop(job_id, None)
