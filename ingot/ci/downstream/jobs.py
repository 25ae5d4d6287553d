"""Jobs of the queue that connect pipelines: start, result and cancellation."""

from functools import partial
from typing import Any

import msgspec

from ingot.ci.artifacts.store import ArtifactStore
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
        """Create the pipeline that a job starts."""
        start_downstream_pipeline(database, self._store, self._artifacts, msgspec.convert(payload, int))

    def follow(self, database: Database, payload: Any) -> None:
        """Update the job that waits for a pipeline."""
        database.write(partial(follow_downstream_pipeline, pipeline_id=msgspec.convert(payload, int)))

    def cancel(self, database: Database, payload: Any) -> None:
        """Cancel child pipelines."""
        for pipeline_id in msgspec.convert(payload, list[int]):
            database.write(partial(cancel_pipeline, pipeline_id=pipeline_id))
