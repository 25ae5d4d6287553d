"""Check of job artifacts: each recorded file must exist with its recorded size."""

from collections.abc import Iterator
from functools import partial

from ingot.ci.artifacts.queries import recorded_artifacts
from ingot.ci.artifacts.store import ArtifactStore, stored_key_of
from ingot.core.db.database import Database
from ingot.operations.doctor.bucket import sizes_in_bucket, stored_size_of
from ingot.operations.doctor.findings import DoctorFinding


def check_artifacts(database: Database, store: ArtifactStore) -> Iterator[DoctorFinding]:
    """Compare names and sizes only, and report each file that is missing or has another size."""
    after, sizes = 0, sizes_in_bucket(store.storage)
    while recorded := database.read(partial(recorded_artifacts, after=after)):
        for artifact_id, key, size in recorded:
            stored_size = stored_size_of(store.storage, stored_key_of(key), sizes)
            if stored_size is None:
                yield DoctorFinding(f"Artifact {artifact_id} is missing: restore {store.path_of(key)} from a backup")
            elif stored_size != size:
                yield DoctorFinding(
                    f"Artifact {artifact_id} has {stored_size} bytes instead of {size}: restore it from a backup"
                )
        after = recorded[-1][0]
