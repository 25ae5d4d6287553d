"""Table of the merge requests that a deployment has brought to its environment."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import metadata, reference, row_id

deployment_merge_requests = Table(
    "deployment_merge_requests",
    metadata,
    row_id(),
    reference("deployment_id", "deployments.id", index=True),
    reference("environment_id", "environments.id"),
    reference("merge_request_id", "merge_requests.id", index=True),
    # Later deployments of an environment contain the merge request too; only the first one names it.
    UniqueConstraint("environment_id", "merge_request_id"),
    sqlite_autoincrement=True,
)
