"""Authentication of running jobs by their tokens, which expire with the job."""

from ingot.ci.job_records.actors import actor_of_job
from ingot.ci.job_records.queries import job_by_token
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Unauthenticated


def actor_by_job_token(db: Connection, token: str) -> Actor:
    """Return the user of a running job, limited to the projects that its token gives access to.

    Raise Unauthenticated if no job with this token runs, or its user is blocked or deleted.
    """
    job = job_by_token(db, token)
    actor = None if job is None else actor_of_job(db, job)
    if actor is None:
        raise Unauthenticated
    return actor
