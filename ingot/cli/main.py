"""Finds the command and runs it; each command's module is imported only when it is called."""

import argparse
import gc
import os
import sys
from importlib import import_module

from ingot.core.migrations.errors import SchemaTrouble
from ingot.settings import InvalidSetting

COMMANDS = {
    "serve": "run the whole server: web workers, SSH, jobs, one data directory",
    "web": "run one web worker of a larger installation",
    "ssh": "serve git over SSH",
    "jobs": "run one job worker; with a verb, look at the queue or change it",
    "migrate": "bring the database to the schema of this version",
    "routes": "list the endpoints of the API, and who may call them",
    "openapi": "print the OpenAPI document of the API",
    "user": "create users, set passwords, make administrators, block",
    "token": "create personal access tokens",
    "backup": "write everything that must last into one file, while the server runs",
    "restore": "fill an empty data directory from a backup",
    "doctor": "say what is wrong with an instance, and mend what can safely be mended",
    "demo": "fill an instance with lifelike people to look at",
}


def main() -> None:
    """Parse the arguments and run one command."""
    # Loading makes many objects and no garbage: looking for it all the while takes a fifth of the time.
    gc.set_threshold(100_000, 10, 10)
    parser = argparse.ArgumentParser(prog="ingot", description="A git forge that speaks the v4 REST API.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    wanted = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        child = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if name == wanted:
            import_module(f"ingot.cli.{name}").add_arguments(child)
    arguments = parser.parse_args()
    try:
        import_module(f"ingot.cli.{arguments.command}").run(arguments)
    except (InvalidSetting, SchemaTrouble) as error:
        sys.exit(f"ingot: {error}")
    except BrokenPipeError:
        # Whoever read the output has seen enough; what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
