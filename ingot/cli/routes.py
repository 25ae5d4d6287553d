"""``ingot routes``: list the endpoints and their permissions."""

import argparse
import inspect

from ingot.core.api.granular_permissions import permission_of
from ingot.core.api.routes import Endpoint
from ingot.server.registry import all_endpoints


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--access", action="store_true", help="show the permission and the token scopes of each endpoint"
    )
    parser.add_argument("--markdown", action="store_true", help="print the endpoints as table rows for docs/access.md")


def run(arguments: argparse.Namespace) -> None:
    """Print one line per endpoint."""
    for endpoint in sorted(all_endpoints(), key=lambda endpoint: (endpoint.path, endpoint.method)):
        if arguments.markdown:
            rule, scopes = access_text(endpoint)
            print(f"| {endpoint.method} | `{endpoint.path}` | {rule} | {scopes} | {permission_text(endpoint)} |")
        elif arguments.access:
            rule, scopes = access_text(endpoint)
            print(f"{endpoint.method:7} {endpoint.path:62} {rule} [{scopes}]")
        else:
            print(f"{endpoint.method:7} {endpoint.path:62} {endpoint.summary}")


def permission_text(endpoint: Endpoint) -> str:
    """Return the fine-grained permission that covers an endpoint and its place; empty where no token is read."""
    if endpoint.runner_call or endpoint.header_params:
        return ""
    permission, place = permission_of(endpoint.method, endpoint.path)
    return f"`{permission}` ({place})"


def access_text(endpoint: Endpoint) -> tuple[str, str]:
    """Return the permission of an endpoint (its rule's docstring) and its token scopes."""
    if endpoint.runner_call:
        return "Runners and jobs, by the tokens that they send.", "none"
    rule = (inspect.getdoc(endpoint.may) or "").split("\n")[0]
    return rule, ", ".join(sorted(endpoint.scopes))
