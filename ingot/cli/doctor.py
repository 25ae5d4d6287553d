"""``ingot doctor``: check an instance and print one line per problem."""

import argparse
import sys
from collections.abc import Iterator

from ingot.ci.artifacts.store import artifact_store_of
from ingot.ci.secure_files.files import secure_file_store_of
from ingot.ci.secure_files.queries import recorded_secure_files
from ingot.ci.terraform.files import state_store_of
from ingot.ci.terraform.queries import recorded_versions
from ingot.cli.options import add_instance_options, settings_from_arguments
from ingot.core.errors import Failure, Unavailable
from ingot.core.settings import Settings
from ingot.maintenance.doctor.artifacts import check_artifacts, check_encrypted_files, check_packages, check_sites
from ingot.maintenance.doctor.bucket import check_bucket
from ingot.maintenance.doctor.database import check_database
from ingot.maintenance.doctor.directory import check_directory
from ingot.maintenance.doctor.files import check_files
from ingot.maintenance.doctor.findings import DoctorFinding
from ingot.maintenance.doctor.large_files import check_large_files
from ingot.maintenance.doctor.replicas import check_replicas
from ingot.maintenance.doctor.repositories import check_repositories
from ingot.packages.files.store import package_store_of
from ingot.projects.projects.api import repository_store
from ingot.repositories.lfs.files import lfs_files_of
from ingot.server.app import open_database
from ingot.sites.files.store import site_store_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--repair", action="store_true", help="repair problems that are safe to repair")
    # Former name of the option, still accepted in scripts.
    parser.add_argument("--mend", dest="repair", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="do not read the contents of all repositories")
    parser.epilog = (
        "Checks file permissions, the secret, settings, the schema, the database's integrity, users without a "
        "namespace or private token, avatars, the bucket, LFS files, artifacts, packages, images, dead jobs, leftover "
        "files, and the repository of every project: its existence, HEAD, refs, packs, objects, configuration and old "
        "locks. The exit status is 0 if there are no problems or all were repaired, otherwise 1. The server may be "
        "running."
    )
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the problems, and the results of repairs."""
    unresolved = 0
    count = 0
    for finding in _find_problems(settings_from_arguments(arguments), contents=not arguments.quick):
        count += 1
        if arguments.repair and finding.repair is not None:
            reason = _repair_error(finding)
            print(f"not repaired: {finding.text} ({reason})" if reason else f"repaired: {finding.text}")
            unresolved += reason != ""
        else:
            print(f"problem: {finding.text}" + (" (--repair fixes it)" if finding.repair else ""))
            unresolved += 1
    if not count:
        print("No problems found.")
    sys.exit(1 if unresolved else 0)


def _find_problems(settings: Settings, *, contents: bool) -> Iterator[DoctorFinding]:
    yield from check_files(settings)
    yield from check_directory(settings)
    bucket_usable = True
    for finding in check_bucket(settings):
        bucket_usable = bucket_usable and not finding.blocks_other_checks
        yield finding
    if settings.embedded and not (settings.data / "ingot.db").is_file():
        yield DoctorFinding(
            f"There is no database in {settings.data}: the instance was never started, or the file is lost"
        )
        return
    try:
        database = open_database(settings)
    except (OSError, ValueError):  # The secret is unusable; check_files has reported it.
        return
    try:
        usable = True
        for finding in check_database(database):
            usable = usable and not finding.blocks_other_checks
            yield finding
        if usable:
            yield from check_replicas(settings, database)
        if usable and bucket_usable:
            yield from check_large_files(database, lfs_files_of(settings))
            yield from check_artifacts(database, artifact_store_of(settings))
            yield from check_packages(database, package_store_of(settings))
            yield from check_sites(database, site_store_of(settings))
            secure_files = secure_file_store_of(settings)
            yield from check_encrypted_files(database, secure_files, "Secure file", recorded_secure_files)
            states = state_store_of(settings)
            yield from check_encrypted_files(database, states, "Version of a Terraform state", recorded_versions)
        if usable:
            yield from check_repositories(database, repository_store(settings), contents=contents)
    finally:
        database.close()


def _repair_error(finding: DoctorFinding) -> str:
    """Repair a problem; return the error message, empty on success."""
    assert finding.repair is not None  # noqa: S101 - The caller checked it.
    try:
        finding.repair()
    except (OSError, Failure, Unavailable) as error:
        return str(error)
    return ""
