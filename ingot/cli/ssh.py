"""``ingot ssh``: serve git over SSH, by the built-in server and for the commands that OpenSSH runs."""

import argparse
import asyncio
import signal
import socket
from collections.abc import Callable

import uvloop

from ingot.cli.listeners import listen
from ingot.cli.options import add_instance_options, add_listening_options, prepare_instance, settings_from_arguments
from ingot.core.db.database import Database
from ingot.core.http.server import LINGER_SECONDS
from ingot.core.log import Log, route_logging
from ingot.core.nodes.heartbeat import Heartbeat
from ingot.core.settings import Settings
from ingot.server.allocator import begin_collecting
from ingot.server.app import REQUEST_STATEMENT_SECONDS, configure_caches, open_database
from ingot.transport.shell_server import ShellServer
from ingot.transport.ssh_listener import SshListener
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
    listener = listen(settings.host, settings.ssh_port) if settings.ssh_server else None
    prepare_instance(settings)
    serve(settings, listener)


def serve(settings: Settings, listener: socket.socket | None, lifeline: int | None = None) -> None:
    """Serve until SIGTERM or until the supervisor exits; without a socket, only for the commands of OpenSSH."""
    log = Log(settings.log_format)
    route_logging(log)
    configure_caches(settings)
    database = open_database(settings, statement_seconds=REQUEST_STATEMENT_SECONDS)
    with (
        Heartbeat(settings, database, ["ssh"], log),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(serve_ssh(settings, database, log, listener, lifeline))
    database.close()


async def serve_ssh(
    settings: Settings,
    database: Database,
    log: Log,
    listener: socket.socket | None,
    lifeline: int | None,
    on_stop: Callable[[], None] | None = None,
) -> None:
    """Serve until SIGTERM or until the supervisor exits; call ``on_stop`` when the end begins."""
    sessions = SshSessions(settings, database, log)
    shell_server = ShellServer(settings, sessions, log)
    signals = _StopSignals(lifeline)
    ssh_listener = SshListener(settings, sessions, log, listener) if listener is not None else None
    if ssh_listener is not None:
        ssh_listener.start()
    shell_server.listen()
    begin_collecting()
    announcement = database.engine.announce_role("ssh")
    await signals.stopping.wait()
    announcement.close()
    if on_stop is not None:
        on_stop()
    if not signals.orphaned:
        await asyncio.sleep(LINGER_SECONDS)
    if ssh_listener is not None:
        await ssh_listener.close()
    await shell_server.close()
    await sessions.drain(GRACE_SECONDS - LINGER_SECONDS)
    sessions.close()


class _StopSignals:
    """Wait for SIGTERM, for SIGINT if there is no supervisor, or for the supervisor's end."""

    def __init__(self, lifeline: int | None) -> None:
        self.stopping = asyncio.Event()
        self.orphaned = False
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.stopping.set)
        if lifeline is not None:
            loop.add_reader(lifeline, self._supervisor_ended, lifeline)
        else:
            loop.add_signal_handler(signal.SIGINT, self.stopping.set)

    def _supervisor_ended(self, lifeline: int) -> None:
        asyncio.get_running_loop().remove_reader(lifeline)
        self.orphaned = True
        self.stopping.set()
