"""Checks of large files: each that a project has must lie on the disk, as large as it was."""

from collections.abc import Iterator
from functools import partial

from ingot.core.db.database import Database
from ingot.operations.doctor.findings import DoctorFinding
from ingot.repositories.lfs.files import LfsFiles
from ingot.repositories.lfs.queries import recorded_files


def check_large_files(database: Database, files: LfsFiles) -> Iterator[DoctorFinding]:
    """By name and size only: reading all of their content would take too long."""
    after = ""
    while recorded := database.read(partial(recorded_files, after=after)):
        for oid, size in recorded:
            there = files.size_of(oid)
            if there is None:
                yield DoctorFinding(f"The large file {oid} is missing: bring {files.path_of(oid)} back from a backup")
            elif there != size:
                yield DoctorFinding(
                    f"The large file {oid} has {there} bytes instead of {size}: bring it back from a backup"
                )
        after = recorded[-1][0]
