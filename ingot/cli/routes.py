"""``ingot routes``: every endpoint, and who may call it."""

import argparse
import inspect

from ingot.core.api.routes import Endpoint
from ingot.registry import all_endpoints


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--access", action="store_true", help="also say who may, and which scopes of a token reach it")
    parser.add_argument("--markdown", action="store_true", help="the same as rows of a table for docs/access.md")


def run(arguments: argparse.Namespace) -> None:
    """Print a line per endpoint."""
    for endpoint in sorted(all_endpoints(), key=lambda each: (each.path, each.method)):
        if arguments.markdown:
            rule, scopes = access_text(endpoint)
            print(f"| {endpoint.method} | `{endpoint.path}` | {rule} | {scopes} |")
        elif arguments.access:
            rule, scopes = access_text(endpoint)
            print(f"{endpoint.method:7} {endpoint.path:62} {rule} [{scopes}]")
        else:
            print(f"{endpoint.method:7} {endpoint.path:62} {endpoint.summary}")


def access_text(endpoint: Endpoint) -> tuple[str, str]:
    """Who may call an endpoint, in the words of its rule, and which scopes of a token reach it."""
    rule = (inspect.getdoc(endpoint.may) or "").split("\n")[0]
    return rule, ", ".join(sorted(endpoint.scopes))
