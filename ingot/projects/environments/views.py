"""Response structs of environments and deployments."""

from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import UserBrief, user_brief_from_columns
from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
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
    """Deployment; ``deployable`` is null because our jobs do not create deployments yet."""

    id: int
    iid: int
    ref: str
    sha: str
    created_at: Timestamp
    updated_at: Timestamp
    status: Status
    user: UserBrief | None
    environment: EnvironmentBrief
    deployable: None = None


class EnvironmentView(EnvironmentBrief):
    """Environment; the view of a single one includes its last deployment."""

    state: State
    tier: Tier
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
        simple_view(project, urls),
    )


def deployment_view(deployment: Deployment, base: str) -> DeploymentView:
    """Return the view of a deployment."""
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
    )


def _user(deployment: Deployment, base: str) -> UserBrief | None:
    return user_brief_from_columns(
        deployment.user_id,
        deployment.username,
        deployment.user_name,
        deployment.user_state,
        deployment.user_avatar_id,
        deployment.user_avatar_file,
        base,
    )
