"""``ingot pages``: serve only the static sites of an instance."""

import argparse

from ingot.cli import web
from ingot.cli.options import require_instance, settings_from_arguments
from ingot.core.settings import InvalidSetting

add_arguments = web.add_arguments


def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal arrives: sites at every host on all ports, and health checks on the port for HTTP."""
    settings = require_instance(settings_from_arguments(arguments))
    if not settings.serves_sites:
        raise InvalidSetting("pages_url or pages_port must be set to serve sites")
    web.serve_workers(settings, only_sites=True)
