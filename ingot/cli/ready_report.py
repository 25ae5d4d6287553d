"""Report of a server that is ready: one line of JSON in a file or on an inherited descriptor, for programs."""

import argparse
import json
import os
from pathlib import Path
from typing import NamedTuple

from ingot.core.settings import Settings, local_host, url_host


class ReadyReport(NamedTuple):
    """Addresses and secrets of a server that accepts connections."""

    url: str
    token: str | None
    """Personal access token of root, if one was created at the start."""
    ssh: str | None
    """Beginning of SSH URLs, if the server serves SSH."""
    testing_secret: str | None
    """Secret of the control endpoints, with ``--testing``."""
    pid: int


def add_ready_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that request a report."""
    parser.add_argument(
        "--ready-file", metavar="PATH", help="write a line of JSON to this file when the server is ready"
    )
    parser.add_argument(
        "--ready-fd", metavar="N", type=int, help="write the line to this open descriptor, and close it"
    )


def ready_report(settings: Settings, url: str, *, serves_ssh: bool, testing_secret: str | None = None) -> ReadyReport:
    """Return the report of a server with these settings."""
    ssh = f"ssh://git@{url_host(local_host(settings.host))}:{settings.ssh_port}" if serves_ssh else None
    return ReadyReport(url, settings.root_token or None, ssh, testing_secret, os.getpid())


def write_report(arguments: argparse.Namespace, report: ReadyReport) -> None:
    """Write the report where the options request it; the file appears with its whole content."""
    line = json.dumps(report._asdict()) + "\n"
    if arguments.ready_file is not None:
        target = Path(arguments.ready_file)
        temporary = target.with_name(f".{target.name}.{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(line)
        temporary.rename(target)
    if arguments.ready_fd is not None:
        with os.fdopen(arguments.ready_fd, "w") as stream:
            stream.write(line)
