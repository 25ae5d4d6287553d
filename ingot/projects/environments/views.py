"""Response structs of environments and deployments."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import UserBrief, user_brief_from_columns
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.projects.environments.ports import DeploymentJobs
from ingot.projects.environments.queries import newest_deployments
from ingot.projects.environments.tables import Deployment, Environment, State, Status, Tier
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import InstanceUrls, SimpleProjectView, simple_view


class EnvironmentBrief(View):
    """Environment inside the view of a deployment."""

    id: int
    name: str
    slug: str
    external_url: str | None
    created_at: Timestamp
    updated_at: Timestamp


class DeploymentView(View):
    """Deployment; ``deployable`` is the job that has made it, and null for others."""

    id: int
    iid: int
    ref: str
    sha: str
    created_at: Timestamp
    updated_at: Timestamp
    status: Status
    user: UserBrief | None
    environment: EnvironmentBrief
    deployable: dict[str, Any] | None


class ScheduledDeletionsView(View):
    """Environments that are, or would be, scheduled for deletion."""

    scheduled_entries: list[EnvironmentBrief]
    unprocessable_entries: tuple[EnvironmentBrief, ...] = ()
    """Always empty: a caller who may delete one environment of a project may delete all."""


class EnvironmentView(EnvironmentBrief):
    """Environment; the view of a single one includes its last deployment."""

    state: State
    tier: Tier
    auto_stop_at: Timestamp | None
    auto_delete_at: Timestamp | None
    project: SimpleProjectView
    last_deployment: DeploymentView | UnsetType | None = UNSET


def environment_view(environment: Environment, project: Project, urls: InstanceUrls) -> EnvironmentView:
    """Return the view of an environment."""
    return EnvironmentView(
        environment.id,
        environment.name,
        environment.slug,
        environment.external_url,
        environment.created_at,
        environment.updated_at,
        environment.state,
        environment.tier,
        environment.auto_stop_at,
        environment.auto_delete_at,
        simple_view(project, urls),
    )


def scheduled_deletions_view(scheduled: Sequence[Environment]) -> ScheduledDeletionsView:
    """Return the view of environments that are scheduled for deletion."""
    scheduled_entries = [
        EnvironmentBrief(each.id, each.name, each.slug, each.external_url, each.created_at, each.updated_at)
        for each in scheduled
    ]
    return ScheduledDeletionsView(scheduled_entries)


def deployment_views(db: Connection, project: Project, listed: Sequence[Deployment], base: str) -> list[DeploymentView]:
    """Return the views of deployments of a project."""
    jobs = db.ports[DeploymentJobs].views(db, project, [deployment.id for deployment in listed]) if listed else {}
    return [_deployment_view(deployment, jobs.get(deployment.id), base) for deployment in listed]


def unfinished_deployment_views(
    db: Connection, project: Project, environment_ids: Sequence[int], base: str
) -> dict[int, DeploymentView]:
    """Return the views of the newest deployments by environment, without those that have succeeded."""
    newest = [each for each in newest_deployments(db, project, environment_ids) if each.status != "success"]
    return {view.environment.id: view for view in deployment_views(db, project, newest, base)}


def deployment_view(db: Connection, project: Project, deployment: Deployment, base: str) -> DeploymentView:
    """Return the view of a deployment."""
    return deployment_views(db, project, [deployment], base)[0]


def _deployment_view(deployment: Deployment, job: dict[str, Any] | None, base: str) -> DeploymentView:
    return DeploymentView(
        deployment.id,
        deployment.iid,
        deployment.ref,
        deployment.sha,
        deployment.created_at,
        deployment.updated_at,
        deployment.status,
        _user(deployment, base),
        EnvironmentBrief(
            deployment.environment_id,
            deployment.environment_name,
            deployment.environment_slug,
            deployment.environment_url,
            deployment.environment_created_at,
            deployment.environment_updated_at,
        ),
        job,
    )


def _user(deployment: Deployment, base: str) -> UserBrief | None:
    return user_brief_from_columns(
        deployment.user_id,
        deployment.username,
        deployment.user_name,
        deployment.user_state,
        deployment.user_avatar_id,
        deployment.user_avatar_file,
        deployment.user_bot,
        base,
    )
