"""Endpoints of environments and deployments."""

from ingot.core.access.levels import Access
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.environments import policy, queries, service
from ingot.projects.environments.params import (
    CreateDeployment,
    CreateEnvironment,
    DeleteReviewApps,
    EditDeployment,
    EditEnvironment,
    ListDeployments,
    ListEnvironments,
    StopEnvironment,
    StopStaleEnvironments,
)
from ingot.projects.environments.policy import EnvironmentSubject
from ingot.projects.environments.protection.deploy_permission import may_deploy_to, require_may_deploy_to
from ingot.projects.environments.tables import Environment
from ingot.projects.environments.views import (
    DeploymentView,
    EnvironmentView,
    ScheduledDeletionsView,
    deployment_view,
    deployment_views,
    environment_view,
    scheduled_deletions_view,
)
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import instance_urls

routes = Routes("environments")


def environment_to_change(call: Call) -> tuple[Access, EnvironmentSubject]:
    """Find the environment in the path, and whether it is protected from the caller."""
    access, project = project_in_path(call)
    environment = queries.environment_or_none(call.db, project, path_number(call.path, "environment_id"))
    is_open = environment is None or may_deploy_to(call.db, call.actor, access, project, environment.name)
    return access, EnvironmentSubject(project, environment, is_open)


def _environment_view(call: Call, project: Project, environment: Environment) -> EnvironmentView:
    return environment_view(environment, project, instance_urls(call.db, call.origin, call.settings))


@routes.get(
    "/projects/:id/environments",
    on=project_in_path,
    may=policy.may_read_environments,
    returns=list[EnvironmentView],
    job_token=True,
)
def list_environments(call: Call, project: Project, params: ListEnvironments, page: Page) -> Listing[EnvironmentView]:
    """List the environments of a project."""
    listing = queries.list_environments(call.db, project, params, page)
    return listing.of([_environment_view(call, project, environment) for environment in listing.items])


@routes.get(
    "/projects/:id/environments/:environment_id",
    on=project_in_path,
    may=policy.may_read_environments,
    returns=EnvironmentView,
    job_token=True,
)
def get_environment(call: Call, project: Project) -> EnvironmentView:
    """Get an environment with its last successful deployment."""
    environment = queries.find_environment(call.db, project, path_number(call.path, "environment_id"))
    view = _environment_view(call, project, environment)
    last = queries.last_deployment_or_none(call.db, project, environment)
    view.last_deployment = deployment_view(call.db, project, last, call.origin.base) if last else None
    return view


@routes.post(
    "/projects/:id/environments", on=project_in_path, may=policy.may_deploy, returns=EnvironmentView, job_token=True
)
def create_environment(call: Call, project: Project, params: CreateEnvironment) -> EnvironmentView:
    """Create an environment."""
    return _environment_view(call, project, service.create_environment(call.db, project, params))


@routes.put(
    "/projects/:id/environments/:environment_id",
    on=environment_to_change,
    may=policy.may_change_environment,
    returns=EnvironmentView,
    job_token=True,
)
def edit_environment(call: Call, subject: EnvironmentSubject, params: EditEnvironment) -> EnvironmentView:
    """Edit an environment."""
    edited = service.edit_environment(call.db, subject.project, subject.found(), params)
    return _environment_view(call, subject.project, edited)


@routes.delete(
    "/projects/:id/environments/:environment_id",
    on=environment_to_change,
    may=policy.may_change_environment,
    returns=EnvironmentView,
    job_token=True,
)
def delete_environment(call: Call, subject: EnvironmentSubject) -> EnvironmentView | None:
    """Delete an environment with its deployments and return it."""
    if subject.environment is None:
        return None
    service.delete_environment(call.db, subject.environment)
    return _environment_view(call, subject.project, subject.environment)


@routes.delete(
    "/projects/:id/environments/review_apps",
    on=project_in_path,
    may=policy.may_change_environments,
    returns=ScheduledDeletionsView,
    job_token=True,
)
def delete_review_apps(call: Call, project: Project, params: DeleteReviewApps) -> ScheduledDeletionsView:
    """Schedule stopped environments of the folder ``review`` for deletion in a week, or list them."""
    return scheduled_deletions_view(service.schedule_review_app_deletion(call.db, project, params))


@routes.post(
    "/projects/:id/environments/:environment_id/stop",
    on=environment_to_change,
    may=policy.may_stop,
    returns=EnvironmentView,
    status=200,
    job_token=True,
)
def stop_environment(call: Call, subject: EnvironmentSubject, params: StopEnvironment) -> EnvironmentView:
    """Stop an environment."""
    project = subject.project
    stopped = service.stop_environment(call.db, call.actor, project, subject.found(), run_job=not params.force)
    return _environment_view(call, project, stopped)


@routes.post(
    "/projects/:id/environments/stop_stale",
    on=project_in_path,
    may=policy.may_deploy,
    returns=dict[str, str],
    status=200,
    job_token=True,
)
def stop_stale_environments(call: Call, project: Project, params: StopStaleEnvironments) -> dict[str, str]:
    """Request the stop of the environments that were not changed or deployed to since a time."""
    service.stop_stale_environments(call.db, project, params.before)
    return {"message": "Successfully requested stop for all stale environments"}


@routes.get(
    "/projects/:id/deployments",
    on=project_in_path,
    may=policy.may_read_environments,
    returns=list[DeploymentView],
    job_token=True,
)
def list_deployments(call: Call, project: Project, params: ListDeployments, page: Page) -> Listing[DeploymentView]:
    """List the deployments of a project."""
    listing = queries.list_deployments(call.db, project, params, page)
    return listing.of(deployment_views(call.db, project, listing.items, call.origin.base))


@routes.get(
    "/projects/:id/deployments/:deployment_id",
    on=project_in_path,
    may=policy.may_read_environments,
    returns=DeploymentView,
    job_token=True,
)
def get_deployment(call: Call, project: Project) -> DeploymentView:
    """Get a deployment."""
    deployment = queries.find_deployment(call.db, project, path_number(call.path, "deployment_id"))
    return deployment_view(call.db, project, deployment, call.origin.base)


@routes.post(
    "/projects/:id/deployments", on=project_in_path, may=policy.may_deploy, returns=DeploymentView, job_token=True
)
def create_deployment(call: Call, project: Project, params: CreateDeployment) -> DeploymentView:
    """Create a deployment that was made outside of our own jobs."""
    created = service.create_deployment(call.db, call.actor, call.access, project, params)
    return deployment_view(call.db, project, created, call.origin.base)


@routes.put(
    "/projects/:id/deployments/:deployment_id",
    on=project_in_path,
    may=policy.may_deploy,
    returns=DeploymentView,
    job_token=True,
)
def edit_deployment(call: Call, project: Project, params: EditDeployment) -> DeploymentView:
    """Change the status of a deployment."""
    deployment = queries.find_deployment(call.db, project, path_number(call.path, "deployment_id"))
    require_may_deploy_to(call.db, call.actor, call.access, project, deployment.environment_name)
    edited = service.edit_deployment(call.db, project, deployment, params.status)
    return deployment_view(call.db, project, edited, call.origin.base)


@routes.delete(
    "/projects/:id/deployments/:deployment_id",
    on=project_in_path,
    may=policy.may_change_environments,
    returns=None,
    status=204,
    job_token=True,
)
def delete_deployment(call: Call, project: Project) -> None:
    """Delete a deployment that neither runs nor is the last one of its environment."""
    deployment = queries.find_deployment(call.db, project, path_number(call.path, "deployment_id"))
    require_may_deploy_to(call.db, call.actor, call.access, project, deployment.environment_name)
    service.delete_deployment(call.db, project, deployment)
