"""``ingot backup``: everything that must last, in one file, while the server runs."""

import argparse
import sys
from importlib.metadata import version
from pathlib import Path

import ingot.app  # noqa: F401 - It imports every room, and so every table is known.
from ingot.cli.options import add_instance_options, settings_from_arguments
from ingot.cli.progress import show_progress
from ingot.core.db.engines import engine_for
from ingot.core.db.schema import metadata
from ingot.operations.backups.layout import BackupError
from ingot.operations.backups.writer import write_backup

EXIT_DAMAGED = 3
"""The exit status when the backup was written, but of repositories that are not whole."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("file", metavar="FILE", type=Path, help="where to write it, for example ingot.tar.gz")
    parser.epilog = (
        "The file holds the database of one moment, the instance's secret, uploads, repositories and ingot.toml. "
        "Whoever has it has everything, so only you may read it. `ingot restore` checks it and brings it back, "
        "into the embedded database or into PostgreSQL, wherever it came from. Every repository is checked before it "
        "is written; the exit status is 3 when the backup was written but some were damaged already."
    )
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the backup, or say in one line why not."""
    settings = settings_from_arguments(arguments)
    if settings.embedded and not (settings.data / "ingot.db").is_file():
        sys.exit(f"ingot: there is no instance in {settings.data}")
    try:
        manifest, troubles = write_backup(
            engine_for(settings.database),
            metadata.sorted_tables,
            settings.data,
            arguments.file,
            version("ingot"),
            show_progress,
        )
    except BackupError as error:
        show_progress("")
        sys.exit(f"ingot: {error}")
    show_progress("")
    rows = sum(entry.rows for entry in manifest.tables)
    files = len(manifest.members) - len(manifest.tables) - 1
    size = arguments.file.stat().st_size
    print(f"Wrote {arguments.file}: {rows} rows of {len(manifest.tables)} tables, {files} files, {size} bytes.")
    for trouble in troubles:
        print(f"ingot: damaged before and in the backup: {trouble}", file=sys.stderr)
    if troubles:
        sys.exit(EXIT_DAMAGED)
