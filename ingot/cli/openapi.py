"""``ingot openapi``: the document that the server also gives at ``/api/v4/openapi.json``."""

import argparse

import msgspec

from ingot.registry import api_document


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command takes nothing."""
    parser.epilog = "Pipe it into a generator of clients, or into a validator."


def run(arguments: argparse.Namespace) -> None:  # noqa: ARG001 - Every command gets its arguments.
    """Print the document."""
    print(msgspec.json.format(msgspec.json.encode(api_document()), indent=2).decode())
