"""``ingot authorized-keys``: ``AuthorizedKeysCommand`` of OpenSSH, which looks up the key that a client offers."""

import argparse
import os
import pwd
import shlex
import sys

from ingot.cli.shell import data_directory
from ingot.transport.shell_socket import ServerUnavailable, call_server


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("user", metavar="USER", help="user that the client wants to log in as (%%u of sshd_config)")
    parser.add_argument("fingerprint", metavar="FINGERPRINT", help="fingerprint of the offered key (%%f)")
    parser.add_argument("--data", metavar="DIR", help="data directory of the server (default: data)")


def run(arguments: argparse.Namespace) -> None:
    """Print the line of a known key, with the forced command; print nothing for other keys and users."""
    # A key gives access to the user that the server runs as, and to no other account of the machine.
    if arguments.user != pwd.getpwuid(os.getuid()).pw_name:
        return
    data = data_directory(arguments)
    try:
        reply = call_server(data, {"fingerprint": arguments.fingerprint})
    except ServerUnavailable:
        sys.exit("ingot: the server does not run, or its socket cannot be used by this user")
    if reply:
        words = [sys.executable, "-I", "-m", "ingot", "shell", "--data", str(data), f"key-{reply['key_id']}"]
        command = shlex.join(words).replace("\\", "\\\\").replace('"', '\\"')
        print(f'restrict,command="{command}" {reply["key"]}')
