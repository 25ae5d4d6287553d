"""Users in whose name jobs act."""

from ingot.accounts.users.actors import active_actor
from ingot.ci.job_records.tables import CiJob
from ingot.core.access.actor import Actor, JobIdentity
from ingot.core.db.connection import Connection


def actor_of_job(db: Connection, job: CiJob) -> Actor | None:
    """Return the user of a job, limited to the projects that the job's token opens; None if the user is inactive."""
    user = None if job.user_id is None else active_actor(db, job.user_id)
    if user is None:
        return None
    return Actor(
        user_id=user.user_id,
        username=user.username,
        name=user.name,
        external=user.external,
        via="job",
        job=JobIdentity(job.id, job.project_id, user.admin),
        bot=user.bot,
    )
