"""State changes of jobs that concern their files and variables."""

import re
from collections.abc import Iterable
from functools import partial

from msgspec import UNSET
from sqlalchemy import bindparam, delete

from ingot.ci.artifacts.queries import stored_artifacts_of_jobs
from ingot.ci.artifacts.service import delete_artifacts, erase_artifacts
from ingot.ci.job_records.tables import CiJob, ResourceGroup, ci_job_variables, resource_groups
from ingot.ci.jobs.params import EditResourceGroup, ManualVariable
from ingot.ci.jobs.queries import find_resource_group
from ingot.ci.pipelines.processing import change_job
from ingot.ci.pipelines.service import play_job
from ingot.ci.traces.store import TraceStore
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Invalid
from ingot.core.jobs.queue import enqueue
from ingot.core.offload import outside_transaction

DELETE_TRACES = "delete_traces"
MAX_VARIABLES = 100
MAX_VALUE_LENGTH = 10_000
_KEY = re.compile(r"[A-Za-z0-9_]{1,255}")
_COMPLETE = ("success", "failed", "canceled")
_DELETE_MANUAL = delete(ci_job_variables).where(
    ci_job_variables.c.job_id == bindparam("job"), ci_job_variables.c.source == "manual"
)


def erase_job(db: Connection, actor: Actor, job: CiJob, traces: TraceStore) -> CiJob:
    """Delete the files and the trace of a job that has ended; raise Denied if there is nothing to erase."""
    # A trace may be in a bucket.
    trace_size = outside_transaction(("trace size", job.id), partial(traces.size, job.id))
    has_files = trace_size > 0 or bool(stored_artifacts_of_jobs(db, [job.id]))
    if job.status not in _COMPLETE or job.erased_at is not None or not has_files:
        raise Denied("Job is not erasable!")
    erase_artifacts(db, job)
    enqueue(db, DELETE_TRACES, [job.id])
    return change_job(db, job, job.status, erased_at=db.now, erased_by_id=actor.user_id)


def play_with_variables(db: Connection, actor: Actor, job: CiJob, variables: Iterable[ManualVariable]) -> CiJob:
    """Start a manual or delayed job with variables, which replace those of an earlier start."""
    values = {variable.key: variable.value for variable in variables}
    if len(values) > MAX_VARIABLES or not all(map(_is_valid, values.items())):
        raise Invalid(job_variables_attributes=["is invalid"])
    started = play_job(db, actor, job)
    db.run(_DELETE_MANUAL, job=started.id)
    for key, value in values.items():
        db.insert(ci_job_variables, job_id=started.id, source="manual", key=key, sealed_value=db.vault.seal(value))
    return started


def _is_valid(variable: tuple[str, str]) -> bool:
    key, value = variable
    return _KEY.fullmatch(key) is not None and len(value) <= MAX_VALUE_LENGTH


def delete_job_files(db: Connection, job_ids: list[int]) -> None:
    """Delete the artifacts and traces of jobs whose rows are about to be deleted."""
    delete_artifacts(db, stored_artifacts_of_jobs(db, job_ids))
    if job_ids:
        enqueue(db, DELETE_TRACES, job_ids)


def edit_resource_group(db: Connection, group: ResourceGroup, params: EditResourceGroup) -> ResourceGroup:
    """Change the order in which the jobs of a resource group run."""
    if params.process_mode is not UNSET:
        db.update(resource_groups, group.id, process_mode=params.process_mode, updated_at=db.now)
    return find_resource_group(db, group.project_id, group.key)
