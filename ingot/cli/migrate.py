"""``ingot migrate``: the schema, and what a first start makes, without serving."""

import argparse
import sys

from ingot.cli.options import add_instance_options, settings_of
from ingot.migrations.run import SchemaTrouble, newest_revision
from ingot.startup import prepare


def declare(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Migrate, and print what the first start would print."""
    try:
        password = prepare(settings_of(arguments))
    except SchemaTrouble as error:
        sys.exit(f"ingot: {error}")
    if password is not None:
        print(f"First start. Sign in as root with the password {password}")
    print(f"The database is at revision {newest_revision()}.")
