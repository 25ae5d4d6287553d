"""Options shared by several commands."""

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ingot.cli.reported_errors import reported_errors
from ingot.core.settings import Settings, load_settings

if TYPE_CHECKING:
    from ingot.core.db.times import Timestamp


def add_instance_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that select an instance."""
    parser.add_argument("--data", metavar="DIR", help="data directory (default: data)")
    parser.add_argument("--database-url", metavar="URL", help="PostgreSQL database to use instead of the embedded one")


def add_listening_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that listen on a port."""
    parser.add_argument("--host", metavar="H", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", metavar="P", type=int, help="port for HTTP (default: 8080; 0: a free port)")
    parser.add_argument("--external-url", metavar="URL", help="public URL of the server")
    parser.add_argument("--log-format", choices=("auto", "json", "pretty"), help="format of log lines")
    parser.add_argument(
        "--trusted-proxies", metavar="LIST", help="addresses or networks whose X-Forwarded-* headers are trusted"
    )
    parser.add_argument("--reported-version", metavar="V", help="version in the response of GET /version")
    parser.add_argument("--default-branch", metavar="NAME", help="default branch of new repositories")


def prepare_instance(
    settings: Settings, clock: "Callable[[], Timestamp] | None" = None, *, announce: bool = True
) -> None:
    """Initialize and migrate an instance; on its first start print how to sign in.

    Without ``announce``, root gets no password.
    """
    # Imported here because the supervisor imports this module and must stay small.
    from ingot.core.db.clocks import wall_clock
    from ingot.server.startup import initialize_instance

    with reported_errors():  # It runs in a child process, too.
        password = initialize_instance(settings, clock or wall_clock, needs_password=announce)
    if password is not None and announce:
        print(f"\nFirst start. Sign in as root with the password {password}\n", flush=True)


def make_metrics_directory(settings: Settings) -> None:
    """Create the directory for the counts of the workers of this machine."""
    # Separately, because the mode of parents cannot be given.
    settings.run.mkdir(mode=0o700, exist_ok=True)
    settings.metrics.mkdir(mode=0o700, exist_ok=True)


def require_instance(settings: Settings) -> Settings:
    """Return the settings if there is an instance; exit otherwise, so that a typo in ``--data`` creates none."""
    if not (settings.data / "secrets" / "instance.key").exists():
        sys.exit(f"ingot: there is no instance in {settings.data}; `ingot serve` or `ingot migrate` creates one")
    return settings


def settings_from_arguments(arguments: argparse.Namespace, **overrides: Any) -> Settings:
    """Load the settings from arguments, environment and file."""
    return load_settings({**vars(arguments), **overrides})
