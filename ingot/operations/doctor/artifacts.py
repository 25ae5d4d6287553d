"""Check of job artifacts: each recorded file must exist with its recorded size."""

from collections.abc import Iterator
from functools import partial

from ingot.ci.artifacts.queries import recorded_artifacts
from ingot.ci.artifacts.store import ArtifactStore
from ingot.core.db.database import Database
from ingot.operations.doctor.findings import DoctorFinding


def check_artifacts(database: Database, store: ArtifactStore) -> Iterator[DoctorFinding]:
    """Compare names and sizes only, and report each file that is missing or has another size."""
    after = 0
    while recorded := database.read(partial(recorded_artifacts, after=after)):
        for artifact_id, key, size in recorded:
            size_on_disk = store.size_of(key)
            if size_on_disk is None:
                yield DoctorFinding(f"Artifact {artifact_id} is missing: restore {store.path_of(key)} from a backup")
            elif size_on_disk != size:
                yield DoctorFinding(
                    f"Artifact {artifact_id} has {size_on_disk} bytes instead of {size}: restore it from a backup"
                )
        after = recorded[-1][0]
