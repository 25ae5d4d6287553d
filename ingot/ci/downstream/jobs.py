"""Jobs of the queue that connect pipelines: start, result and cancellation."""

from functools import partial
from typing import Any

import msgspec

from ingot.ci.artifacts.store import ArtifactStore
from ingot.ci.downstream.mirrors import follow_mirrored_pipeline, is_mirror, start_mirror
from ingot.ci.downstream.service import cancel_pipeline, follow_downstream_pipeline
from ingot.ci.downstream.start import start_downstream_pipeline
from ingot.core.db.database import Database
from ingot.git.maintenance.store import RepositoryStore


class DownstreamJobs:
    """Handlers of the queue."""

    def __init__(self, store: RepositoryStore, artifacts: ArtifactStore) -> None:
        self._store = store
        self._artifacts = artifacts

    def start(self, database: Database, payload: Any) -> None:
        """Create the pipeline that a job starts, or find the one whose status it takes."""
        job_id = msgspec.convert(payload, int)
        if database.read(partial(is_mirror, job_id=job_id)):
            start_mirror(database, job_id)
        else:
            start_downstream_pipeline(database, self._store, self._artifacts, job_id)

    def mirror(self, database: Database, payload: Any) -> None:
        """Update a job that takes the status of a pipeline."""
        database.write(partial(follow_mirrored_pipeline, job_id=msgspec.convert(payload, int)))

    def follow(self, database: Database, payload: Any) -> None:
        """Update the job that waits for a pipeline."""
        database.write(partial(follow_downstream_pipeline, pipeline_id=msgspec.convert(payload, int)))

    def cancel(self, database: Database, payload: Any) -> None:
        """Cancel child pipelines, and those that merge trains do not need any more."""
        for pipeline_id in msgspec.convert(payload, list[int]):
            database.write(partial(cancel_pipeline, pipeline_id=pipeline_id))
