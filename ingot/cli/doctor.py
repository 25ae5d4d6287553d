"""``ingot doctor``: what is wrong with an instance, one line each."""

import argparse
import sys
from collections.abc import Iterator

from ingot.app import open_database
from ingot.cli.options import add_instance_options, settings_from_arguments
from ingot.errors import Failure, Unavailable
from ingot.operations.doctor.database import check_database
from ingot.operations.doctor.directory import check_directory
from ingot.operations.doctor.files import check_files
from ingot.operations.doctor.findings import DoctorFinding
from ingot.operations.doctor.large_files import check_large_files
from ingot.operations.doctor.repositories import check_repositories
from ingot.repositories.lfs.files import lfs_files_of
from ingot.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--mend", action="store_true", help="repair what can safely be repaired")
    parser.epilog = (
        "It looks at permissions, the secret, settings, the schema, the database's integrity, users without a "
        "namespace or private token, pictures, large files, jobs that gave up, leftover files, and at the repository "
        "of every project: that it is there, its HEAD, its references and packs, its configuration, and old locks. It "
        "exits with 0 when all is well or was mended, and with 1 when something is wrong. The server may run meanwhile."
    )
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print what is wrong, and what became of it."""
    wrong = 0
    found = 0
    for finding in _find_problems(settings_from_arguments(arguments)):
        found += 1
        if arguments.mend and finding.mend is not None:
            reason = _repair_error(finding)
            print(f"not mended: {finding.text} ({reason})" if reason else f"mended: {finding.text}")
            wrong += reason != ""
        else:
            print(f"wrong: {finding.text}" + (" (--mend repairs it)" if finding.mend else ""))
            wrong += 1
    if not found:
        print("All is well.")
    sys.exit(1 if wrong else 0)


def _find_problems(settings: Settings) -> Iterator[DoctorFinding]:
    yield from check_files(settings.data)
    yield from check_directory(settings)
    if settings.embedded and not (settings.data / "ingot.db").is_file():
        yield DoctorFinding(f"There is no database in {settings.data}: nothing was ever served from it, or it is lost")
        return
    try:
        database = open_database(settings)
    except (OSError, ValueError):  # The secret, about which a line was printed already.
        return
    try:
        usable = True
        for finding in check_database(database):
            usable = usable and not finding.blocks_other_checks
            yield finding
        if usable:
            yield from check_large_files(database, lfs_files_of(settings))
            yield from check_repositories(database, settings.data / "repositories")
    finally:
        database.close()


def _repair_error(finding: DoctorFinding) -> str:
    """Why it could not be mended, or nothing."""
    assert finding.mend is not None  # noqa: S101 - The caller looked.
    try:
        finding.mend()
    except (OSError, Failure, Unavailable) as error:
        return str(error)
    return ""
