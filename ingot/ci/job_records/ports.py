"""Queries about jobs that packages above answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp


class ArtifactSummary(NamedTuple):
    """A file that a job uploaded, as the views of jobs show it."""

    file_type: str
    size: int
    filename: str
    file_format: str | None
    expire_at: Timestamp | None


@dataclass(frozen=True, slots=True)
class JobArtifacts:
    """Port to the files of jobs."""

    list_for_jobs: Callable[[Connection, list[int]], dict[int, list[ArtifactSummary]]]
    """Takes the ids of jobs; returns their files by id."""
    delete_files: Callable[[Connection, list[int]], None]
    """Takes the ids of jobs that are about to be deleted; deletes their files and traces after the commit."""
