"""``ingot shell``: forced command of OpenSSH that runs one git command of a client.

It imports only the standard library, because it runs for every git command and has to start fast.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

from ingot.transport.shell_socket import ServerUnavailable, call_server

_FAILED = 128


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("key", metavar="key-ID", type=_key_id, help="id of the key that authenticated the client")
    parser.add_argument("--data", metavar="DIR", help="data directory of the server (default: data)")


def run(arguments: argparse.Namespace) -> NoReturn:
    """Pass the command and the standard descriptors to the server; replace this process by git for a clone."""
    request = {
        "key_id": arguments.key,
        "command": os.environ.get("SSH_ORIGINAL_COMMAND"),
        "git_protocol": os.environ.get("GIT_PROTOCOL", ""),
        "address": os.environ.get("SSH_CONNECTION", "").partition(" ")[0],
    }
    try:
        reply = call_server(data_directory(arguments), request, [0, 1, 2], inheritable=True)
    except ServerUnavailable:
        print("The server cannot answer right now. Try again in a moment.", file=sys.stderr)
        sys.exit(_FAILED)
    if "argv" not in reply:
        sys.exit(reply["status"])
    os.chdir(reply["cwd"])
    # The server counts the transfer until the connection is closed, which git and its children inherit.
    # The bytes of the clone go from git to sshd, without passing through Python.
    os.execvpe(reply["argv"][0], reply["argv"], reply["env"])  # noqa: S606 - No shell is wanted.


def data_directory(arguments: argparse.Namespace) -> Path:
    """Return the data directory of the server."""
    return Path(arguments.data or os.environ.get("INGOT_DATA") or "data").absolute()


def _key_id(text: str) -> int:
    return int(text.removeprefix("key-"))
