"""``ingot ssh``: serve git over SSH, by the built-in server and for the commands that OpenSSH runs."""

import argparse
import asyncio
import gc
import signal
import socket

import uvloop

from ingot.app import REQUEST_STATEMENT_SECONDS, configure_caches, open_database
from ingot.cli.options import add_instance_options, add_listening_options, prepare_instance, settings_from_arguments
from ingot.log import Log, route_logging
from ingot.operations.supervisor import open_socket
from ingot.settings import Settings
from ingot.transport.shell_server import ShellServer
from ingot.transport.ssh_server import SshServer
from ingot.transport.ssh_sessions import SshSessions

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
    serve(settings, open_socket(settings.host, settings.ssh_port) if settings.ssh_server else None)


def serve(settings: Settings, listener: socket.socket | None, lifeline: int | None = None) -> None:
    """Serve until SIGTERM or until the supervisor exits; without a socket, only for the commands of OpenSSH."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, listener, lifeline))


async def _serve(settings: Settings, listener: socket.socket | None, lifeline: int | None) -> None:
    log = Log(settings.log_format)
    route_logging(log)
    configure_caches(settings)
    database = open_database(settings, statement_seconds=REQUEST_STATEMENT_SECONDS)
    sessions = SshSessions(settings, database, log)
    shell_server = ShellServer(settings, database, sessions, log)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    if lifeline is not None:
        loop.add_reader(lifeline, stopping.set)
    else:
        loop.add_signal_handler(signal.SIGINT, stopping.set)
    acceptor = await SshServer(settings, sessions, log).listen(listener) if listener is not None else None
    shell_server.listen()
    # Objects created so far live until exit; exclude them from garbage collection.
    gc.freeze()
    announcement = database.engine.announce_role("ssh")
    await stopping.wait()
    if lifeline is not None:
        loop.remove_reader(lifeline)
    announcement.close()
    if acceptor is not None:
        acceptor.close()
    await shell_server.close()
    await sessions.drain(GRACE_SECONDS)
    sessions.close()
    database.close()
