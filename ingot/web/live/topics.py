"""Topics of live updates, and the subjects that pages name in the URL of their stream."""

from typing import NamedTuple

STREAM_PATH = "/-/live"


class LiveSubject(NamedTuple):
    """Subject of a stream, as its URL names it."""

    kind: str
    parent: str
    """Id of the project or group; empty for the instance."""
    number: str


def pipeline_topic(project_id: int, pipeline_id: int | str) -> str:
    """Return the topic of a pipeline and its jobs."""
    return f"pipeline:{project_id}:{pipeline_id}"


def pipelines_topic(project_id: int) -> str:
    """Return the topic of all pipelines of a project."""
    return f"pipelines:{project_id}"


def ref_topic(project_id: int | None, name: str) -> str:
    """Return the topic of a branch or another ref, and of its pipelines."""
    return f"ref:{project_id}:{name}"
