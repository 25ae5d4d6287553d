"""Responses with deployments."""

from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
from ingot.sites.deployments.tables import PagesDeployment


class PagesDeploymentView(View):
    """A deployment of a site, also one that has ended."""

    id: int
    active: bool
    path_prefix: str
    root_directory: str | None
    job_id: int | None
    pipeline_id: int
    file_count: int
    size: int
    created_at: Timestamp
    updated_at: Timestamp
    expires_at: Timestamp | None
    deleted_at: Timestamp | None


def deployment_view(deployment: PagesDeployment, now: Timestamp) -> PagesDeploymentView:
    """Return the response struct of a deployment."""
    return PagesDeploymentView(
        deployment.id,
        deployment.is_active(now),
        deployment.path_prefix,
        deployment.root_directory or None,
        deployment.job_id,
        deployment.pipeline_id,
        deployment.file_count,
        deployment.size,
        deployment.created_at,
        deployment.updated_at,
        deployment.expires_at,
        deployment.deleted_at,
    )
