"""``ingot ssh``: serve git over SSH."""

import argparse
import asyncio
import gc
import signal
import socket

import uvloop

from ingot.app import configure_caches, open_database
from ingot.cli.options import add_instance_options, add_listening_options, prepare_instance, settings_from_arguments
from ingot.log import Log, route_logging
from ingot.operations.supervisor import open_socket
from ingot.settings import Settings
from ingot.transport.ssh import SshServer

GRACE_SECONDS = 8.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_instance_options(parser)
    add_listening_options(parser)
    parser.add_argument("--ssh-port", metavar="S", type=int, help="port for git over SSH (default: 2222)")


def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal arrives; several machines may serve the same database."""
    settings = settings_from_arguments(arguments)
    prepare_instance(settings)
    serve(settings, open_socket(settings.host, settings.ssh_port))


def serve(settings: Settings, listener: socket.socket, lifeline: int | None = None) -> None:
    """Serve on an open socket until SIGTERM or until the supervisor exits."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, listener, lifeline))


async def _serve(settings: Settings, listener: socket.socket, lifeline: int | None) -> None:
    log = Log(settings.log_format)
    route_logging(log)
    configure_caches(settings)
    database = open_database(settings)
    server = SshServer(settings, database, log)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    if lifeline is not None:
        loop.add_reader(lifeline, stopping.set)
    else:
        loop.add_signal_handler(signal.SIGINT, stopping.set)
    acceptor = await server.listen(listener)
    # Objects created so far live until exit; exclude them from garbage collection.
    gc.freeze()
    announcement = database.engine.announce_role("ssh")
    await stopping.wait()
    if lifeline is not None:
        loop.remove_reader(lifeline)
    announcement.close()
    acceptor.close()
    await server.drain(GRACE_SECONDS)
    server.close()
    database.close()
