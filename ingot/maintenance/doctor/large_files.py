"""Check of Git LFS files: each recorded file must exist with its recorded size."""

from collections.abc import Iterator
from functools import partial

from ingot.core.db.database import Database
from ingot.maintenance.doctor.bucket import sizes_in_bucket, stored_size_of
from ingot.maintenance.doctor.findings import DoctorFinding
from ingot.repositories.lfs.files import LfsFiles, key_of
from ingot.repositories.lfs.queries import recorded_files


def check_large_files(database: Database, files: LfsFiles) -> Iterator[DoctorFinding]:
    """Compare names and sizes only: hashing the contents would take too long."""
    after, sizes = "", sizes_in_bucket(files.storage)
    while recorded := database.read(partial(recorded_files, after=after)):
        for oid, size in recorded:
            stored_size = stored_size_of(files.storage, key_of(oid), sizes)
            if stored_size is None:
                yield DoctorFinding(f"The large file {oid} is missing: restore {files.path_of(oid)} from a backup")
            elif stored_size != size:
                yield DoctorFinding(
                    f"The large file {oid} has {stored_size} bytes instead of {size}: restore it from a backup"
                )
        after = recorded[-1][0]
