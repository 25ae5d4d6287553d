"""Temporary instance of ``ingot serve --ephemeral``: one process, and a data directory that is removed at exit."""

import argparse
import gc
import os
import secrets
from dataclasses import replace
from socket import socket
from typing import TYPE_CHECKING, Any

from ingot.cli.listeners import listen, listen_for_sites
from ingot.cli.options import prepare_instance
from ingot.cli.ready_report import ready_report, write_report
from ingot.core.log import Log, route_logging
from ingot.core.settings import InvalidSetting, Settings, is_loopback, local_host, url_host
from ingot.core.version import product_version
from ingot.server.sockets import SiteSockets

if TYPE_CHECKING:
    from ingot.server.single_process import SingleProcess

_REPORTED_VERSIONS = {"9.4": "9.4.0", "current": "17.11.0"}
_STABLE_TOKEN = "ingot-testing-root-token"  # noqa: S105 - Of an instance for tests, on request.


def add_testing_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a server for tests of other programs."""
    parser.add_argument(
        "--testing",
        action="store_true",
        help="like --ephemeral, with the control endpoints below /-/testing/; without a secret, on loopback only",
    )
    parser.add_argument(
        "--profile",
        choices=("9.4", "current"),
        help="with --ephemeral or --testing: behaviour where versions of GitLab differ (default: current)",
    )
    parser.add_argument(
        "--deterministic",
        action="store_true",
        help="with --testing: use a frozen clock and stable tokens, and run jobs only on request",
    )


def require_valid_options(settings: Settings, arguments: argparse.Namespace) -> None:
    """Raise ``InvalidSetting`` for options that need ``--testing``, and for a test server that others could reach."""
    if not arguments.testing:
        if arguments.deterministic:
            raise InvalidSetting("--deterministic needs --testing")
        if settings.profile != "9.4" and not arguments.ephemeral:
            raise InvalidSetting("--profile needs --ephemeral or --testing")
        return
    if not is_loopback(settings.host) and not settings.testing_secret:
        raise InvalidSetting(
            "--testing needs a loopback address as its host, such as 127.0.0.1, or a secret in INGOT_TESTING_SECRET"
        )
    if settings.database_url or settings.runner:
        raise InvalidSetting("--testing uses its own SQLite database and no runner of its own")
    if settings.repository_storages or settings.s3_bucket:
        raise InvalidSetting("--testing stores everything in its own directory, without a bucket or further storages")


def temporary_settings(settings: Settings, arguments: argparse.Namespace) -> Settings:
    """Return the settings of a temporary instance: as today's GitLab, unless the options choose something else."""
    if _is_default(arguments.profile, "PROFILE"):
        settings = replace(settings, profile="current")
    if _is_default(arguments.reported_version, "REPORTED_VERSION"):
        settings = replace(settings, reported_version=_REPORTED_VERSIONS[settings.profile])
    if settings.profile == "current" and _is_default(arguments.default_branch, "DEFAULT_BRANCH"):
        settings = replace(settings, default_branch="main")
    return settings


def _is_default(flag: str | None, variable: str) -> bool:
    """Return whether neither a flag nor a variable gives a value; a temporary instance has no file of settings."""
    return flag is None and not os.environ.get(f"INGOT_{variable}")


def is_single_process(settings: Settings, arguments: argparse.Namespace) -> bool:
    """Return whether one process is enough: nothing else was requested."""
    return arguments.testing or not (
        settings.workers or settings.separate_jobs or settings.runner or settings.database_url
    )


def serve_temporary(settings: Settings, arguments: argparse.Namespace) -> None:
    """Serve from a new data directory until a signal arrives."""
    if arguments.testing:
        settings = _test_settings(settings, arguments)
    settings = _with_token(settings, arguments)
    serves_ssh = arguments.ssh_port is not None or bool(os.environ.get("INGOT_SSH_PORT"))
    listener = listen(settings.host, settings.port)
    ssh_listener = listen(settings.host, settings.ssh_port) if serves_ssh else None
    sites = listen_for_sites(settings)
    settings = sites.with_ports(replace(settings, port=listener.getsockname()[1]))
    if ssh_listener is not None:
        settings = replace(settings, ssh_port=ssh_listener.getsockname()[1])
    # Imports produce hardly any garbage, and collecting it would take a tenth of the startup time.
    gc.disable()
    _serve(settings, arguments, listener, ssh_listener, sites)


def _serve(
    settings: Settings,
    arguments: argparse.Namespace,
    listener: socket,
    ssh_listener: socket | None,
    sites: SiteSockets,
) -> None:
    from ingot.cli.web_worker import front_with_sites, http_server, run_server, secured_sockets

    log = Log(settings.log_format)
    route_logging(log)
    settings.run.mkdir(mode=0o700, exist_ok=True)
    secret, front, process = _application(settings, arguments, log, ssh_listener)
    gc.enable()
    url = f"http://{url_host(local_host(settings.host))}:{settings.port}"
    (settings.run / "address").write_text(f"{url}\n")
    if sites.http is not None:
        (settings.run / "pages_port").write_text(f"{settings.pages_port}\n")
    if ssh_listener is not None:
        (settings.run / "ssh_port").write_text(f"{settings.ssh_port}\n")
    front = front_with_sites(process.app, front, sites)
    server = http_server(front, process.settings, process.drain, process.expects_requests, lingers=False)
    log("serving", version=product_version(), url=settings.external_url or url, data=str(settings.data), workers=1)
    write_report(arguments, ready_report(settings, url, serves_ssh=ssh_listener is not None, testing_secret=secret))
    server.secured = secured_sockets(process.app, sites)
    run_server(server, [listener, *sites.opened], beside=process.running())
    log("stopped")


def _application(
    settings: Settings, arguments: argparse.Namespace, log: Log, ssh_listener: socket | None
) -> tuple[str | None, Any, "SingleProcess"]:
    """Initialize the instance and build its application; return the secret of the control endpoints with it."""
    from ingot.core.migrations.prebuilt import create_database
    from ingot.server.single_process import SingleProcess
    from ingot.server.test_control.current_profile import with_profile

    if settings.embedded:
        create_database(settings)
    if not arguments.testing:
        prepare_instance(settings)
        process = SingleProcess(settings, log, ssh_listener)
        return None, with_profile(process, settings), process
    from ingot.server.test_control.clock import DETERMINISTIC_START, ControlledClock
    from ingot.server.test_control.control import TestControl
    from ingot.server.test_control.frontend import TestFrontend
    from ingot.server.test_control.randomness import StableSecrets

    secret = settings.testing_secret or secrets.token_urlsafe(24)
    stable_secrets = StableSecrets() if arguments.deterministic else None
    if stable_secrets is not None:
        stable_secrets.install()
    clock = ControlledClock(DETERMINISTIC_START if arguments.deterministic else None)
    prepare_instance(settings, clock, announce=False)
    process = SingleProcess(settings, log, ssh_listener, clock, automatic_jobs=not arguments.deterministic)
    return secret, TestFrontend(TestControl(process, clock, stable_secrets), secret), process


def _test_settings(settings: Settings, arguments: argparse.Namespace) -> Settings:
    # Receivers of webhooks and repositories to import are on this machine.
    settings = replace(settings, allow_local_requests=True)
    if arguments.deterministic and not settings.root_token:
        settings = replace(settings, root_token=_STABLE_TOKEN)
    return settings


def _with_token(settings: Settings, arguments: argparse.Namespace) -> Settings:
    """Create a token for the report if none was given."""
    if settings.root_token or not (arguments.testing or arguments.ready_file or arguments.ready_fd):
        return settings
    return replace(settings, root_token=secrets.token_urlsafe(24))
