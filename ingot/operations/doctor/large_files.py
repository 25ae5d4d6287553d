"""Check of Git LFS files: each recorded file must exist with its recorded size."""

from collections.abc import Iterator
from functools import partial

from ingot.core.db.database import Database
from ingot.operations.doctor.findings import DoctorFinding
from ingot.repositories.lfs.files import LfsFiles
from ingot.repositories.lfs.queries import recorded_files


def check_large_files(database: Database, files: LfsFiles) -> Iterator[DoctorFinding]:
    """Compare names and sizes only: hashing the contents would take too long."""
    after = ""
    while recorded := database.read(partial(recorded_files, after=after)):
        for oid, size in recorded:
            size_on_disk = files.size_of(oid)
            if size_on_disk is None:
                yield DoctorFinding(f"The large file {oid} is missing: restore {files.path_of(oid)} from a backup")
            elif size_on_disk != size:
                yield DoctorFinding(
                    f"The large file {oid} has {size_on_disk} bytes instead of {size}: restore it from a backup"
                )
        after = recorded[-1][0]
