"""Events of environments and deployments."""

from ingot.core.events.bus import Event


class EnvironmentStopped(Event, frozen=True):
    """A user has stopped an environment, and wants the job for it to run."""

    project_id: int
    environment_id: int
    actor_id: int


class DeploymentSucceeded(Event, frozen=True):
    """A deployment to an environment has succeeded."""

    project_id: int
    deployment_id: int
