"""Queries of the merge requests of deployments."""

from collections.abc import Sequence

from sqlalchemy import bindparam, or_, select

from ingot.collaboration.merge_requests.deployments.tables import deployment_merge_requests
from ingot.collaboration.merge_requests.tables import merge_requests
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.schema import Record
from ingot.projects.environments.tables import Tier, deployments, environments

_MERGED = select(merge_requests.c.id).where(
    merge_requests.c.target_project_id == bindparam("project"),
    merge_requests.c.state == "merged",
    merge_requests.c.deleted_at.is_(None),
)
_MERGED_INTO = _MERGED.where(merge_requests.c.target_branch == bindparam("branch"))
_MERGED_BY_COMMITS = _MERGED.where(
    or_(
        in_list(merge_requests.c.merge_commit_oid, "oids"),
        in_list(merge_requests.c.squash_commit_oid, "oids"),
        in_list(merge_requests.c.head_oid, "oids"),
    )
)
_IDS_OF_DEPLOYMENT = select(deployment_merge_requests.c.merge_request_id).where(
    deployment_merge_requests.c.deployment_id == bindparam("deployment")
)
_IDS_OF_ENVIRONMENT = select(deployment_merge_requests.c.merge_request_id).where(
    deployment_merge_requests.c.environment_id == bindparam("environment")
)
_SUCCESSFUL = (
    select(
        deployments.c.id,
        deployments.c.project_id,
        deployments.c.environment_id,
        deployments.c.sha,
        deployments.c.ref,
        environments.c.name,
        environments.c.tier,
    )
    .join(environments, environments.c.id == deployments.c.environment_id)
    .where(deployments.c.status == "success")
)
_BY_ID = _SUCCESSFUL.where(deployments.c.id == bindparam("deployment"))
_PREVIOUS_SHA = (
    select(deployments.c.sha)
    .where(
        deployments.c.environment_id == bindparam("environment"),
        deployments.c.status == "success",
        deployments.c.id < bindparam("deployment"),
    )
    .order_by(deployments.c.id.desc())
    .limit(1)
)


class SuccessfulDeployment(Record, frozen=True):
    """A successful deployment, with the columns of its environment that decide whether merge requests are recorded."""

    id: int
    project_id: int
    environment_id: int
    sha: str
    ref: str
    environment_name: str
    tier: Tier


def successful_deployment_or_none(db: Connection, deployment_id: int) -> SuccessfulDeployment | None:
    """Return a deployment if it still exists and is successful."""
    return db.first(SuccessfulDeployment, _BY_ID, deployment=deployment_id)


def previous_sha_or_none(db: Connection, deployment: SuccessfulDeployment) -> str | None:
    """Return the commit of the successful deployment before this one in its environment."""
    sha: str | None = db.value(_PREVIOUS_SHA, environment=deployment.environment_id, deployment=deployment.id)
    return sha


def merged_into_branch(db: Connection, project_id: int, branch: str) -> list[int]:
    """Return the ids of the merge requests that were merged into a branch."""
    return [merge_request_id for (merge_request_id,) in db.rows(_MERGED_INTO, project=project_id, branch=branch)]


def merged_by_commits(db: Connection, project_id: int, oids: Sequence[str]) -> list[int]:
    """Return the ids of the merged merge requests whose merge, squashed or last commit is one of these."""
    rows = db.rows(_MERGED_BY_COMMITS, project=project_id, oids=list(oids))
    return [merge_request_id for (merge_request_id,) in rows]


def deployed_ids(db: Connection, environment_id: int) -> set[int]:
    """Return the ids of the merge requests that deployments of an environment have brought so far."""
    return {merge_request_id for (merge_request_id,) in db.rows(_IDS_OF_ENVIRONMENT, environment=environment_id)}


def ids_of_deployment(db: Connection, deployment_id: int) -> list[int]:
    """Return the ids of the merge requests that a deployment has brought to its environment."""
    return [merge_request_id for (merge_request_id,) in db.rows(_IDS_OF_DEPLOYMENT, deployment=deployment_id)]
