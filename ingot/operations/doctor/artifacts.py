"""Check of job artifacts, packages and container images: each recorded file must exist with its recorded size."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ingot.ci.artifacts.queries import recorded_artifacts
from ingot.ci.artifacts.store import ArtifactStore, stored_key_of
from ingot.ci.packages.containers.queries import recorded_blobs
from ingot.ci.packages.records.queries import recorded_files
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.operations.doctor.bucket import sizes_in_bucket, stored_size_of
from ingot.operations.doctor.findings import DoctorFinding

RecordedFiles = Callable[[Connection, int], Sequence[tuple[int, str, int]]]
"""Function that lists the next files after an id: their ids, storage keys and sizes."""


def check_artifacts(database: Database, store: ArtifactStore) -> Iterator[DoctorFinding]:
    """Compare names and sizes only, and report each artifact that is missing or has another size."""
    yield from _check(database, store, "Artifact", recorded_artifacts)


def check_packages(database: Database, store: ArtifactStore) -> Iterator[DoctorFinding]:
    """Report each file of a package and each layer of an image that is missing or has another size."""
    yield from _check(database, store, "Package file", recorded_files)
    yield from _check(database, store, "Image layer", recorded_blobs)


def _check(database: Database, store: ArtifactStore, label: str, recorded: RecordedFiles) -> Iterator[DoctorFinding]:
    after, sizes = 0, sizes_in_bucket(store.storage)
    while files := database.read(partial(_next_files, recorded, after)):
        for file_id, key, size in files:
            stored_size = stored_size_of(store.storage, stored_key_of(key), sizes)
            if stored_size is None:
                yield DoctorFinding(f"{label} {file_id} is missing: restore {store.path_of(key)} from a backup")
            elif stored_size != size:
                yield DoctorFinding(
                    f"{label} {file_id} has {stored_size} bytes instead of {size}: restore it from a backup"
                )
        after = files[-1][0]


def _next_files(recorded: RecordedFiles, after: int, db: Connection) -> Sequence[tuple[int, str, int]]:
    return recorded(db, after)
