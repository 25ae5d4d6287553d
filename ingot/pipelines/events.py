"""Events of pipelines."""

from ingot.core.events.bus import Event
from ingot.pipelines.tables import CommitStatus, Status


class StatusChanged(Event, frozen=True):
    """Commit statuses of a pipeline are new or have changed, and the pipeline has been updated."""

    project_id: int
    pipeline_id: int
    statuses: tuple[CommitStatus, ...]
    ref: str = ""
    """Branch, tag or full ref of the pipeline."""


class PipelineChanged(Event, frozen=True):
    """A pipeline is new or its status has changed."""

    project_id: int
    pipeline_id: int
    sha: str
    ref: str
    status: Status
    source_sha: str | None = None
    """Head of the merge request whose result the pipeline tests; None if the head itself is tested."""
    merge_request_id: int | None = None
