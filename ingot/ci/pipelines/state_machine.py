"""State machine of the jobs of a pipeline, without database: which jobs change to which status.

A job without ``needs`` waits for all jobs of earlier stages; a job with ``needs`` waits for those jobs only. Callers
pass the newest attempt of every job; earlier attempts, which were retried, have no influence.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

from ingot.pipelines.outcome import Kind, status_kind, status_of_kinds
from ingot.pipelines.tables import Status

COMPLETED: frozenset[Status] = frozenset({"success", "failed", "canceled", "skipped"})
_PASSED: frozenset[Status] = frozenset({"success", "skipped"})
_RUNS_AFTER: Mapping[str, frozenset[Status]] = {
    "on_success": _PASSED,
    "manual": _PASSED,
    "delayed": _PASSED,
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


class Transition(NamedTuple):
    """A job that gets another status."""

    job_id: int
    status: Status


def composite_status(jobs: Iterable[JobState], *, dag: bool = False) -> Status:
    """Return the common status of jobs; no jobs have succeeded.

    Failures that are allowed count as success, and manual jobs that need not run are ignored. With ``dag``, one job
    that does not run makes all of them skipped.
    """
    return _composite({_kind(job) for job in jobs}, dag=dag)


def _kind(job: JobState) -> Kind:
    return status_kind(job.status, allow_failure=job.allow_failure)


def _composite(kinds: Collection[Kind], *, dag: bool = False) -> Status:
    if not kinds:
        return "success"
    if dag and ("skipped" in kinds or "ignored" in kinds):
        return "skipped"
    return status_of_kinds(kinds)


def advance(jobs: Sequence[JobState]) -> list[Transition]:
    """Return the transitions of jobs whose predecessors have ended, and of those that follow from them."""
    current = {job.name: job for job in jobs}
    earlier: set[Kind] = set()
    transitions: list[Transition] = []
    for stage in _stages(jobs):
        before = _composite(earlier)
        for job in _in_order_of_needs(stage):
            status = _next_status(job, before, current)
            if status is not None:
                current[job.name] = job._replace(status=status)
                transitions.append(Transition(job.id, status))
        earlier |= {_kind(current[job.name]) for job in stage}
    return transitions


def _stages(jobs: Iterable[JobState]) -> list[list[JobState]]:
    stages: dict[int, list[JobState]] = {}
    for job in jobs:
        stages.setdefault(job.stage_index, []).append(job)
    return [stages[index] for index in sorted(stages)]


def _in_order_of_needs(jobs: Sequence[JobState]) -> Iterator[JobState]:
    """Yield jobs after the jobs that they need."""
    if not any(job.needs for job in jobs):
        return iter(jobs)
    by_name = {job.name: job for job in jobs}
    graph = {name: [need for need in job.needs or () if need in by_name] for name, job in by_name.items()}
    return (by_name[name] for name in TopologicalSorter(graph).static_order())


def _next_status(job: JobState, earlier: Status, jobs: Mapping[str, JobState]) -> Status | None:
    """Return the status that follows from the predecessors of a created job; None while it has to wait."""
    if job.status != "created":
        return None
    accepted = _RUNS_AFTER.get(job.when, frozenset())
    before = earlier
    if job.needs is not None:
        before = composite_status((jobs[name] for name in job.needs if name in jobs), dag=True)
        if job.when != "always":
            accepted -= {"skipped"}
    if before not in COMPLETED:
        return None
    return _STARTS_AS.get(job.when, "pending") if before in accepted else "skipped"


def restore_skipped(jobs: Sequence[JobState], started: Collection[str]) -> list[Transition]:
    """Return the transitions of skipped jobs that are created again because jobs before them were retried or played."""
    by_name = {job.name: job for job in jobs}
    stages = [by_name[name].stage_index for name in started if name in by_name]
    first = min(stages, default=0)
    dependent = _with_dependents(jobs, started)
    return [
        Transition(job.id, "created")
        for job in jobs
        if job.status == "skipped" and stages and (job.stage_index > first or job.name in dependent)
    ]


def _with_dependents(jobs: Iterable[JobState], names: Iterable[str]) -> set[str]:
    """Return names of jobs and of all jobs that need them, directly or through others."""
    dependents: dict[str, list[str]] = {}
    for job in jobs:
        for need in job.needs or ():
            dependents.setdefault(need, []).append(job.name)
    waiting, found = list(names), set(names)
    while waiting:
        for name in dependents.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found
