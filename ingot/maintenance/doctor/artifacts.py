"""Check of artifacts, packages, images and encrypted files: each recorded file must exist with its recorded size."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ingot.ci.artifacts.queries import recorded_artifacts
from ingot.ci.artifacts.store import ArtifactStore, stored_key_of
from ingot.ci.encrypted_files.store import EncryptedStore
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.storage.files import FileStorage
from ingot.maintenance.doctor.bucket import sizes_in_bucket, stored_size_of
from ingot.maintenance.doctor.findings import DoctorFinding
from ingot.packages.containers.queries import recorded_blobs
from ingot.packages.records.queries import recorded_files
from ingot.sites.deployments.queries import recorded_deployments

RecordedFiles = Callable[[Connection, int], Sequence[tuple[int, str, int]]]
"""Function that lists the next files after an id: their ids, storage keys and sizes."""


def check_artifacts(database: Database, store: ArtifactStore) -> Iterator[DoctorFinding]:
    """Compare names and sizes only, and report each artifact that is missing or has another size."""
    yield from _check(database, store.storage, "Artifact", recorded_artifacts, stored_key_of)


def check_packages(database: Database, store: ArtifactStore) -> Iterator[DoctorFinding]:
    """Report each file of a package and each layer of an image that is missing or has another size."""
    yield from _check(database, store.storage, "Package file", recorded_files, stored_key_of)
    yield from _check(database, store.storage, "Image layer", recorded_blobs, stored_key_of)


def check_sites(database: Database, store: ArtifactStore) -> Iterator[DoctorFinding]:
    """Report each file of a static site that is missing or has another size."""
    yield from _check(database, store.storage, "Static site", recorded_deployments, stored_key_of)


def check_encrypted_files(
    database: Database, store: EncryptedStore, label: str, recorded: RecordedFiles
) -> Iterator[DoctorFinding]:
    """Report each encrypted file that is missing or has another size."""
    yield from _check(database, store.storage, label, recorded, str)


def _check(
    database: Database, storage: FileStorage, label: str, recorded: RecordedFiles, stored_key: Callable[[str], str]
) -> Iterator[DoctorFinding]:
    after, sizes = 0, sizes_in_bucket(storage)
    while files := database.read(partial(_next_files, recorded, after)):
        for file_id, key, size in files:
            stored_size = stored_size_of(storage, stored_key(key), sizes)
            if stored_size is None:
                path = storage.disk.path_of(stored_key(key))
                yield DoctorFinding(f"{label} {file_id} is missing: restore {path} from a backup")
            elif stored_size != size:
                yield DoctorFinding(
                    f"{label} {file_id} has {stored_size} bytes instead of {size}: restore it from a backup"
                )
        after = files[-1][0]


def _next_files(recorded: RecordedFiles, after: int, db: Connection) -> Sequence[tuple[int, str, int]]:
    return recorded(db, after)
