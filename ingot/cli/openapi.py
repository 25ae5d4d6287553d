"""``ingot openapi``: print the document that the server also serves at ``/api/v4/openapi.json``."""

import argparse

import msgspec

from ingot.server.api_document import api_document, operation_count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's option and help."""
    parser.add_argument("--count", action="store_true", help="print only the number of operations")
    parser.epilog = "Use the output with a client generator or a validator."


def run(arguments: argparse.Namespace) -> None:
    """Print the OpenAPI document, or the number of its operations."""
    if arguments.count:
        print(f"{operation_count():,}")
        return
    print(msgspec.json.format(msgspec.json.encode(api_document()), indent=2).decode())
