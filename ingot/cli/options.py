"""Options that several commands share."""

import argparse
import sys
from typing import Any

from ingot.settings import Settings, load_settings


def add_instance_options(parser: argparse.ArgumentParser) -> None:
    """Which instance a command works on."""
    parser.add_argument("--data", metavar="DIR", help="data directory (default: data)")
    parser.add_argument("--database-url", metavar="URL", help="PostgreSQL server instead of the embedded database")


def add_listening_options(parser: argparse.ArgumentParser) -> None:
    """Where a command listens."""
    parser.add_argument("--host", metavar="H", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", metavar="P", type=int, help="port for HTTP (default: 8080; 0: any free one)")
    parser.add_argument("--external-url", metavar="URL", help="URL by which people reach the server")
    parser.add_argument("--log-format", choices=("auto", "json", "pretty"), help="how log lines look")
    parser.add_argument("--trusted-proxies", metavar="LIST", help="addresses or networks whose X-Forwarded-* count")
    parser.add_argument("--reported-version", metavar="V", help="what GET /version says")
    parser.add_argument("--default-branch", metavar="NAME", help="first branch of new repositories")


def prepare_instance(settings: Settings) -> None:
    """Make an instance ready, and tell how to sign in where this was its first start."""
    # Imported here because the supervisor reads its options from this module and stays small.
    from ingot.core.migrations.errors import SchemaTrouble
    from ingot.operations.startup import initialize_instance

    try:
        password = initialize_instance(settings)
    except SchemaTrouble as error:
        sys.exit(f"ingot: {error}")
    if password is not None:
        print(f"\nFirst start. Sign in as root with the password {password}\n", flush=True)


def require_instance(settings: Settings) -> Settings:
    """The settings, if there is an instance; a slip in ``--data`` must not make another one."""
    if not (settings.data / "secrets" / "instance.key").exists():
        sys.exit(f"ingot: there is no instance in {settings.data}; `ingot serve` or `ingot migrate` makes one")
    return settings


def settings_from_arguments(arguments: argparse.Namespace, **more: Any) -> Settings:
    """The settings that the arguments, the environment and the file make together."""
    return load_settings({**vars(arguments), **more})
