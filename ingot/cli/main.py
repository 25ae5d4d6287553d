"""Entry point of the command line; a command's module is imported only when it runs."""

import argparse
import gc
import os
import sys
from importlib import import_module
from typing import Any

from ingot.cli.reported_errors import reported_errors

COMMANDS = {
    "serve": "run the whole server: web workers, SSH and jobs",
    "web": "run one web worker of a larger installation",
    "pages": "serve only the static sites of an instance, on nodes of their own",
    "ssh": "serve git over SSH",
    "shell": "run the git command of an OpenSSH client; sshd calls this as a forced command",
    "authorized-keys": "look up the key that an OpenSSH client offers; sshd calls this as AuthorizedKeysCommand",
    "jobs": "run one job worker, or list, retry and delete jobs",
    "runner": "execute CI jobs of a server in a shell on this machine",
    "migrate": "upgrade the database schema to this version",
    "routes": "list the API endpoints and their permissions",
    "openapi": "print the OpenAPI document",
    "user": "create users, set passwords, grant administrator rights, block users",
    "token": "create personal access tokens",
    "backup": "write a backup of the instance to one file, while the server runs",
    "restore": "restore a backup into an empty data directory",
    "import": "import a project or group from another server, or an archive",
    "export": "write the archive of a project or group to a file, while the server runs",
    "storage": "show where files are stored, and move them, while the server runs",
    "config": "print the settings in force and where each came from, and check them",
    "doctor": "check an instance for problems, and repair those that are safe to repair",
    "demo": "add sample users and a year of activity in five projects",
}


class _PrintVersion(argparse.Action):
    """Option that prints the version; looking it up takes longer than the fastest commands."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from ingot.core.version import product_version

        print(f"ingot {product_version()}")
        parser.exit()


def main() -> None:
    """Parse the arguments and run one command."""
    # Importing creates many objects and hardly any garbage; with the default threshold, collections take a fifth of
    # the time.
    gc.set_threshold(100_000, 10, 10)
    parser = argparse.ArgumentParser(prog="ingot", description="A git forge with GitLab's v4 REST API.")
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    selected = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    # A parser for each command takes longer to build than the fastest commands take to run.
    named = {selected: COMMANDS[selected]} if selected in COMMANDS else COMMANDS
    for name, summary in named.items():
        child = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if name == selected:
            _module(name).add_arguments(child)
    arguments = parser.parse_args()
    try:
        with reported_errors():
            _module(arguments.command).run(arguments)
    except BrokenPipeError:
        # The reader of the output has closed the pipe; discard what is still buffered.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _module(command: str) -> Any:
    name = "imports" if command == "import" else command.replace("-", "_")  # A module cannot have a keyword's name.
    return import_module(f"ingot.cli.{name}")
