"""What is announced of pipelines."""

from ingot.events.bus import Event
from ingot.repository.pipelines.tables import Status


class PipelineChanged(Event, frozen=True):
    """A pipeline has another status, or is new."""

    project_id: int
    pipeline_id: int
    sha: str
    ref: str
    status: Status
