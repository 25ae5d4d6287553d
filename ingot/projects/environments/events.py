"""Events of environments."""

from ingot.core.events.bus import Event


class EnvironmentStopped(Event, frozen=True):
    """A user has stopped an environment, and wants the job for it to run."""

    project_id: int
    environment_id: int
    actor_id: int
