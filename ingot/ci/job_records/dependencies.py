"""Jobs whose artifacts and variables a job gets."""

import re

from sqlalchemy import select

from ingot.ci.job_records.queries import jobs_of_pipeline, needs_of, options_of
from ingot.ci.job_records.tables import CiJob, ci_job_variables
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list

_COPY = re.compile(r"(.+?)(?: \d+/\d+|: \[.*\])", re.DOTALL)
_DOTENV = (
    select(ci_job_variables.c.key, ci_job_variables.c.sealed_value)
    .where(in_list(ci_job_variables.c.job_id, "jobs"), ci_job_variables.c.source == "dotenv")
    .order_by(ci_job_variables.c.job_id, ci_job_variables.c.id)
)


def dependencies_of(db: Connection, job: CiJob) -> list[CiJob]:
    """Return the jobs whose artifacts a job gets: those that it names, those that it needs, or all before it."""
    names = named_dependencies(job)
    if (names is None and job.stage_index == 0) or (names is not None and not names):
        return []
    others = [other for other in jobs_of_pipeline(db, job.pipeline_id) if other.id != job.id]
    if names is not None:
        return [other for other in others if other.name in names or name_of_copies(other.name) in names]
    return [other for other in others if other.stage_index < job.stage_index]


def name_of_copies(name: str) -> str | None:
    """Return the name that all copies of a parallel job share; None for other jobs."""
    copy = _COPY.fullmatch(name)
    return copy[1] if copy else None


def named_dependencies(job: CiJob) -> tuple[str, ...] | None:
    """Return the names of the jobs whose artifacts a job gets; None for all before it."""
    dependencies = options_of(job).dependencies
    return needs_of(job) if dependencies is None else dependencies


def dotenv_variables(db: Connection, job_ids: list[int]) -> list[tuple[str, str]]:
    """Return the variables that jobs have reported in dotenv files, in the order of the jobs' ids."""
    rows = db.rows(_DOTENV, jobs=job_ids) if job_ids else ()
    return [(key, db.vault.unseal(sealed)) for key, sealed in rows]


def inherited_variables(db: Connection, job: CiJob) -> list[tuple[str, str]]:
    """Return the variables that a job gets from the dotenv files of other jobs."""
    return dotenv_variables(db, [other.id for other in dependencies_of(db, job)])
