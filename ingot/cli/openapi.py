"""``ingot openapi``: print the document that the server also serves at ``/api/v4/openapi.json``."""

import argparse

import msgspec

from ingot.api_document import api_document


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's help; it takes no arguments."""
    parser.epilog = "Use the output with a client generator or a validator."


def run(arguments: argparse.Namespace) -> None:  # noqa: ARG001 - Every command gets its arguments.
    """Print the OpenAPI document."""
    print(msgspec.json.format(msgspec.json.encode(api_document()), indent=2).decode())
