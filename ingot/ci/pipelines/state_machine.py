"""State machine of the jobs of a pipeline, without database: which jobs change to which status.

A job without ``needs`` waits for all jobs of earlier stages; a job with ``needs`` waits for those jobs only.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ingot.repositories.pipelines.tables import Status

COMPLETED: frozenset[Status] = frozenset({"success", "failed", "canceled", "skipped"})
ACTIVE: frozenset[Status] = frozenset({"waiting_for_resource", "pending", "running", "canceling", "scheduled"})
_IGNORED_IF_ALLOWED: frozenset[Status] = frozenset({"failed", "canceled", "manual"})
_RUNS_AFTER: Mapping[str, frozenset[Status]] = {
    "on_success": frozenset({"success", "skipped"}),
    "manual": frozenset({"success", "skipped"}),
    "delayed": frozenset({"success", "skipped"}),
    "on_failure": frozenset({"failed"}),
    "always": COMPLETED,
}
_STARTS_AS: Mapping[str, Status] = {"manual": "manual", "delayed": "scheduled"}


class JobState(NamedTuple):
    """Fields of a job that decide what happens next."""

    id: int
    name: str
    stage_index: int
    status: Status
    when: str = "on_success"
    allow_failure: bool = False
    needs: tuple[str, ...] | None = None


def composite_status(jobs: Iterable[JobState], *, dag: bool = False) -> Status:
    """Return the common status of jobs; with ``dag``, one skipped job makes all of them skipped.

    Failures that are allowed, and manual jobs that need not run, are ignored.
    """
    jobs = list(jobs)
    statuses = [job.status for job in jobs if not (job.allow_failure and job.status in _IGNORED_IF_ALLOWED)]
    ignored = len(statuses) < len(jobs)
    kinds = set(statuses)
    if dag and "skipped" in kinds and not kinds & (ACTIVE | {"created", "manual", "failed", "canceled"}):
        return "skipped"
    if dag and any(job.status == "manual" for job in jobs):
        return "manual"
    if kinds <= {"skipped"}:
        return "success" if ignored or not kinds else "skipped"
    return _status_of(kinds)


def _status_of(kinds: set[Status]) -> Status:
    if kinds == {"created"}:
        return "created"
    if kinds <= {"success", "skipped"}:
        return "success"
    if kinds <= {"success", "skipped", "canceled"}:
        return "canceled"
    if kinds <= {"created", "skipped", "pending"}:
        return "pending"
    for status in ("running", "pending", "canceling"):
        if status in kinds:
            return "canceling" if status == "canceling" else "running"
    for status in ("waiting_for_resource", "manual", "scheduled"):
        if status in kinds:
            return status
    return "running" if "created" in kinds else "failed"


class Transition(NamedTuple):
    """A job that gets another status."""

    job_id: int
    status: Status


def advance(jobs: Sequence[JobState]) -> list[Transition]:
    """Return the transitions of jobs whose predecessors have ended, and of those that follow from them."""
    current = {job.name: job for job in jobs}
    transitions: list[Transition] = []
    while step := list(_step(current)):
        for job, status in step:
            current[job.name] = job._replace(status=status)
            transitions.append(Transition(job.id, status))
    return transitions


def _step(jobs: Mapping[str, JobState]) -> Iterator[tuple[JobState, Status]]:
    """Yield the created jobs that can be decided now, of the first undecided stage and of the graph."""
    by_stage: dict[int, list[JobState]] = {}
    for job in jobs.values():
        by_stage.setdefault(job.stage_index, []).append(job)
    earlier: list[JobState] = []
    stages_done = True
    for index in sorted(by_stage):
        before = composite_status(earlier) if earlier else "success"
        stages_done = stages_done and before in COMPLETED
        for job in by_stage[index]:
            if job.status != "created":
                continue
            if job.needs is not None:
                needed = [jobs[name] for name in job.needs if name in jobs]
                status = composite_status(needed, dag=True) if needed else "success"
                if status in COMPLETED:
                    yield job, _decide(job, status, dag=bool(needed))
            elif stages_done:
                yield job, _decide(job, before, dag=False)
        earlier += by_stage[index]


def _decide(job: JobState, before: Status, *, dag: bool) -> Status:
    accepted = _RUNS_AFTER[job.when]
    if dag and before == "skipped" and job.when != "always":
        return "skipped"
    return _STARTS_AS.get(job.when, "pending") if before in accepted else "skipped"
