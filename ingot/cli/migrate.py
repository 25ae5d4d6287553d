"""``ingot migrate``: upgrade or create the database without serving."""

import argparse

from ingot.cli.options import add_instance_options, prepare_instance, settings_from_arguments
from ingot.core.migrations.run import newest_revision


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Migrate the database; print the initial password on the first start."""
    prepare_instance(settings_from_arguments(arguments))
    print(f"The database is at revision {newest_revision()}.")
