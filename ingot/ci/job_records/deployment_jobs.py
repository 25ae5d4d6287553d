"""Views of the jobs that have made deployments."""

from typing import Any

import msgspec

from ingot.ci.job_records.policy import has_jobs
from ingot.ci.job_records.queries import JOBS
from ingot.ci.job_records.tables import CiJob, ci_jobs
from ingot.ci.job_records.views import JobPlace, job_views
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.git.core.errors import MissingRepository
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import Project

_OF_DEPLOYMENTS = JOBS.where(in_list(ci_jobs.c.deployment_id, "deployments")).order_by(ci_jobs.c.id)


class DeploymentJobViews:
    """Views of jobs by deployment."""

    def __init__(self, store: RepositoryStore, base: str) -> None:
        self._store = store
        self._base = base

    def views(self, db: Connection, project: Project, deployment_ids: list[int]) -> dict[int, dict[str, Any]]:
        """Return the views of the jobs that have made deployments, by the ids of the deployments."""
        if not has_jobs(project):
            return {}
        jobs = db.all(CiJob, _OF_DEPLOYMENTS, deployments=deployment_ids)
        try:
            repository = self._store.open(project.repository_key) if jobs else None
        except MissingRepository:  # The jobs are shown without their commits.
            repository = None
        place = JobPlace(f"{self._base}/{project.full_path}", self._base, repository)
        views = {view.id: view for view in job_views(db, jobs, place)}
        return {job.deployment_id: msgspec.to_builtins(views[job.id]) for job in jobs if job.deployment_id is not None}
