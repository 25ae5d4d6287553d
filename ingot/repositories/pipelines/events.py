"""What is announced of pipelines."""

from ingot.core.events.bus import Event
from ingot.repositories.pipelines.tables import CommitStatus, Status


class StatusChanged(Event, frozen=True):
    """What one of those who look at a commit has to say is another than before, or new; its pipeline has followed."""

    project_id: int
    status: CommitStatus


class PipelineChanged(Event, frozen=True):
    """A pipeline has another status, or is new."""

    project_id: int
    pipeline_id: int
    sha: str
    ref: str
    status: Status
