"""``ingot backup``: write a backup of the instance to one file, while the server runs."""

import argparse
import sys

from ingot.cli.options import add_instance_options, settings_from_arguments
from ingot.cli.progress import show_progress
from ingot.core.db.engine_factory import engine_for
from ingot.core.db.schema import all_tables
from ingot.core.storage.configuration import all_storages
from ingot.core.version import product_version
from ingot.maintenance.backups.bucket import file_for_writing
from ingot.maintenance.backups.layout import BackupError
from ingot.maintenance.backups.writer import write_backup
from ingot.projects.projects.api import repository_store
from ingot.server.app import open_database

EXIT_DAMAGED = 3
"""Exit status when the backup was written but contains damaged repositories."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "file", metavar="FILE", help="file to write, for example ingot.tar.gz; bucket:NAME for the bucket"
    )
    parser.epilog = (
        "The file contains a consistent snapshot of the database, the instance secret, uploads, LFS files, artifacts, "
        "job logs (including those in the bucket), repositories and ingot.toml. "
        "Its secrets give access to everything, so only its owner can read it. `ingot restore` verifies it and "
        "restores it into the embedded database or PostgreSQL, no matter from which it was written. Every "
        "repository is checked before it is written; the exit status is 3 if the backup was written but contains "
        "repositories that were already damaged."
    )
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the backup; exit with a one-line message on failure."""
    settings = settings_from_arguments(arguments)
    if settings.embedded and not (settings.data / "ingot.db").is_file():
        sys.exit(f"ingot: there is no instance in {settings.data}")
    # Opens the repositories in a bucket, whose rows need it.
    database = open_database(settings) if settings.storage_in_bucket else None
    try:
        with file_for_writing(settings, arguments.file) as target:
            manifest, problems = write_backup(
                engine_for(settings.direct_database),
                all_tables(),
                settings.data,
                target,
                product_version(),
                show_progress,
                all_storages(settings),
                repository_store(settings),
            )
            size = target.stat().st_size
    except BackupError as error:
        show_progress("")
        sys.exit(f"ingot: {error}")
    finally:
        if database is not None:
            database.close()
    show_progress("")
    rows = sum(entry.rows for entry in manifest.tables)
    files = len(manifest.members) - len(manifest.tables) - 1
    print(f"Wrote {arguments.file}: {rows} rows of {len(manifest.tables)} tables, {files} files, {size} bytes.")
    for problem in problems:
        print(f"ingot: damaged repository: {problem}", file=sys.stderr)
    if problems:
        sys.exit(EXIT_DAMAGED)
