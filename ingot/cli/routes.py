"""``ingot routes``: every endpoint, and who may call it."""

import argparse
import inspect

from ingot.api.routes import Endpoint
from ingot.app import all_endpoints


def declare(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--access", action="store_true", help="also say who may, and which scopes of a token reach it")


def run(arguments: argparse.Namespace) -> None:
    """Print a line per endpoint."""
    for endpoint in sorted(all_endpoints(), key=lambda each: (each.path, each.method)):
        line = f"{endpoint.method:7} {endpoint.path:62} "
        print((line + access_of(endpoint) if arguments.access else line + endpoint.summary).rstrip())


def access_of(endpoint: Endpoint) -> str:
    """Who may call an endpoint, in the words of its rule."""
    rule = (inspect.getdoc(endpoint.may) or "").split("\n")[0]
    scopes = ", ".join(sorted(endpoint.scopes))
    return f"{endpoint.may.__name__}: {rule} [{scopes}]"
