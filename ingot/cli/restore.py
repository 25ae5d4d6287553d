"""``ingot restore``: create an instance from a backup."""

import argparse
import os
import sys

from ingot.cli.options import add_instance_options, settings_from_arguments
from ingot.cli.progress import show_progress
from ingot.maintenance.backups.bucket import file_for_reading
from ingot.maintenance.backups.layout import BackupError
from ingot.maintenance.backups.restore import restore_backup


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "file", metavar="FILE", help="file written by `ingot backup`; bucket:NAME for one in the bucket"
    )
    parser.epilog = (
        "The data directory and the database must be empty. The database may be of another kind than the one that was "
        "backed up. Every file in the backup is verified before anything is written, and at the end every repository "
        "is compared with the record in the backup. Files are restored to the disk; `ingot storage move` moves them to "
        "the bucket."
    )
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Restore the backup; exit with a one-line message on failure."""
    settings = settings_from_arguments(arguments)
    os.umask(0o077)
    try:
        with file_for_reading(settings, arguments.file) as source:
            manifest, notes = restore_backup(source, settings, show_progress)
    except BackupError as error:
        show_progress("")
        sys.exit(f"ingot: {error}")
    show_progress("")
    rows = sum(entry.rows for entry in manifest.tables)
    print(f"Restored {rows} rows and the files of {manifest.created_at} into {settings.data}.")
    for note in notes:
        print(note)
