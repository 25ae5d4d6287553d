"""Commands with a copy of the migrations that has one more: a newer version of Ingot."""

import os
from pathlib import Path

from ingot.cli import main as cli
from ingot.core.migrations import run

SCRIPTS_VARIABLE = "TEST_MIGRATIONS"


def main() -> None:
    """Run the command of this process with the migrations in the named folder."""
    run.SCRIPTS = Path(os.environ[SCRIPTS_VARIABLE])
    cli.main()
