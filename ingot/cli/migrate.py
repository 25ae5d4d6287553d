"""``ingot migrate``: the schema, and what a first start makes, without serving."""

import argparse

from ingot.cli.options import add_instance_options, prepare_instance, settings_from_arguments
from ingot.core.migrations.run import newest_revision


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Migrate, and print what the first start would print."""
    prepare_instance(settings_from_arguments(arguments))
    print(f"The database is at revision {newest_revision()}.")
