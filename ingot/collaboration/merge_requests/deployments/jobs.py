"""Recording of the merge requests that a successful deployment contains and the one before it did not."""

from functools import partial
from typing import Any

import msgspec

from ingot.collaboration.merge_requests.deployments import queries
from ingot.collaboration.merge_requests.deployments.queries import SuccessfulDeployment
from ingot.collaboration.merge_requests.deployments.tables import deployment_merge_requests
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.queue import cancel_job, enqueue
from ingot.git.core.errors import MissingRepository
from ingot.git.history.commits import commit_id_or_none
from ingot.git.history.log import commits_between
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.environments.events import DeploymentSucceeded
from ingot.projects.projects.queries import project_or_none

RECORD_DEPLOYED_MERGE_REQUESTS = "record_deployed_merge_requests"
JOB_DELAY_SECONDS = 60
MAX_COMMITS = 20_000
"""Maximum number of commits between two deployments that are compared with merge requests, the newest ones."""
_RECORDED_TIERS = ("production", "staging")


class DeployedMergeRequests(msgspec.Struct, frozen=True):
    """Payload of the job."""

    deployment_id: int


class DeploymentRecorder:
    """Records merge requests right after the transaction of a deployment; a job repeats it after a crash."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store

    @property
    def subscriptions(self) -> Subscriptions:
        """Subscription to ``DeploymentSucceeded``."""
        subscriptions = Subscriptions()
        subscriptions.on(DeploymentSucceeded)(self.on_deployment_succeeded)
        return subscriptions

    def on_deployment_succeeded(self, db: Connection, event: DeploymentSucceeded) -> None:
        """Record the merge requests of the deployment after the commit, because that reads the repository."""
        payload = DeployedMergeRequests(event.deployment_id)
        delayed = add_duration(db.now, seconds=JOB_DELAY_SECONDS)
        job_id = enqueue(db, RECORD_DEPLOYED_MERGE_REQUESTS, payload, run_at=delayed)
        db.after_transaction(partial(self._record_at_once, deployment_id=event.deployment_id, job_id=job_id))

    def run(self, database: Database, payload: Any) -> None:
        """Run the job."""
        self._record(database, msgspec.convert(payload, DeployedMergeRequests).deployment_id)

    def _record_at_once(self, database: Database, deployment_id: int, job_id: int) -> None:
        self._record(database, deployment_id)
        database.write(partial(cancel_job, job_id=job_id))

    def _record(self, database: Database, deployment_id: int) -> None:
        deployment = database.read(partial(queries.successful_deployment_or_none, deployment_id=deployment_id))
        if deployment is None or not _is_recorded(deployment):
            return
        ids = self._merged_since_previous(database, deployment)
        if ids:
            database.write(partial(_add_links, deployment=deployment, merge_request_ids=ids))

    def _merged_since_previous(self, database: Database, deployment: SuccessfulDeployment) -> list[int]:
        """Return the merge requests merged since the previous deployment; those into its branch for the first one."""
        project = database.read(partial(project_or_none, project_id=deployment.project_id))
        if project is None or project.namespace_id is None:
            return []
        previous = database.read(partial(queries.previous_sha_or_none, deployment=deployment))
        if previous is None:
            merged = partial(queries.merged_into_branch, project_id=project.id, branch=deployment.ref)
            return database.read(merged)
        try:
            repository = self._store.open(project.repository_key)
        except MissingRepository:  # Deleted since the deployment.
            return []
        # Deployments that callers report may name commits that do not exist.
        old, new = commit_id_or_none(repository, previous), commit_id_or_none(repository, deployment.sha)
        if old is None or new is None:
            return []
        oids = commits_between(repository, old, new, MAX_COMMITS)
        return database.read(partial(queries.merged_by_commits, project_id=project.id, oids=oids)) if oids else []


def _is_recorded(deployment: SuccessfulDeployment) -> bool:
    """Check that an environment is not one of many for reviews, which are in folders and have another tier."""
    return "/" not in deployment.environment_name or deployment.tier in _RECORDED_TIERS


def _add_links(db: Connection, deployment: SuccessfulDeployment, merge_request_ids: list[int]) -> None:
    known = queries.deployed_ids(db, deployment.environment_id)
    if queries.successful_deployment_or_none(db, deployment.id) is None:
        return
    db.insert_many(
        deployment_merge_requests,
        [
            {
                "deployment_id": deployment.id,
                "environment_id": deployment.environment_id,
                "merge_request_id": merge_request_id,
            }
            for merge_request_id in merge_request_ids
            if merge_request_id not in known
        ],
    )
