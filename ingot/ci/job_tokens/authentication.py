"""Authentication of running jobs by their tokens, which expire with the job."""

from ingot.accounts.users.actors import active_actor
from ingot.ci.job_records.queries import job_by_token
from ingot.core.access.actor import Actor, JobIdentity
from ingot.core.db.connection import Connection
from ingot.core.errors import Unauthenticated


def actor_by_job_token(db: Connection, token: str) -> Actor:
    """Return the user of a running job, limited to the projects that its token gives access to.

    Raise Unauthenticated if no job with this token runs, or its user is blocked or deleted.
    """
    job = job_by_token(db, token)
    user = None if job is None or job.user_id is None else active_actor(db, job.user_id)
    if job is None or user is None:
        raise Unauthenticated
    return Actor(
        user_id=user.user_id,
        username=user.username,
        name=user.name,
        external=user.external,
        via="job",
        job=JobIdentity(job.id, job.project_id, user.admin),
        bot=user.bot,
    )
