"""``ingot ssh``: git over SSH."""

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
    """Say what the command takes."""
    add_instance_options(parser)
    add_listening_options(parser)
    parser.add_argument("--ssh-port", metavar="S", type=int, help="port for git over SSH (default: 2222)")


def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal; other machines may serve the same database."""
    settings = settings_from_arguments(arguments)
    prepare_instance(settings)
    serve(settings, open_socket(settings.host, settings.ssh_port))


def serve(settings: Settings, listener: socket.socket, lifeline: int | None = None) -> None:
    """Serve on a socket that is open already, until SIGTERM or until the supervisor is gone."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, listener, lifeline))


async def _serve(settings: Settings, listener: socket.socket, lifeline: int | None) -> None:
    log = Log(settings.log_format)
    route_logging(log)
    configure_caches(settings)
    database = open_database(settings)
    door = SshServer(settings, database, log)
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, ending.set)
    if lifeline is not None:
        loop.add_reader(lifeline, ending.set)
    else:
        loop.add_signal_handler(signal.SIGINT, ending.set)
    acceptor = await door.listen(listener)
    # What was loaded until here stays to the end.
    gc.freeze()
    beacon = database.engine.announce_role("ssh")
    await ending.wait()
    if lifeline is not None:
        loop.remove_reader(lifeline)
    beacon.close()
    acceptor.close()
    await door.drain(GRACE_SECONDS)
    door.close()
    database.close()
