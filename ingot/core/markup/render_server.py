"""Process that forks rendering processes for a process that was not started by ``ingot serve``."""

import gc
import os
import signal
import socket
import traceback

from ingot.core.markup.parser import parser
from ingot.core.markup.render_process import run_renderer


def load_libraries() -> None:
    """Load the libraries of rendering processes before they are forked."""
    import nh3  # noqa: F401 - Loaded for the processes.
    from pygments.formatters import html  # type: ignore[import-untyped] # noqa: F401 - Loaded for the processes.

    parser()


def serve_forks(descriptor: int) -> None:
    """Fork a rendering process for each socket that arrives, until the requesting process ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # The kernel reaps the processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # A terminal signals the whole group.
    load_libraries()
    gc.freeze()
    with socket.socket(fileno=descriptor) as control:
        while True:
            requested, descriptors, _, _ = socket.recv_fds(control, 1, 1)
            if not requested:
                return
            for renderer in descriptors:
                if os.fork() == 0:
                    control.close()
                    run_forked_renderer(renderer)
                os.close(renderer)


def run_forked_renderer(descriptor: int) -> None:
    """Run a rendering process and exit, without returning to the code of its parent."""
    try:
        run_renderer(descriptor)
    except BaseException as error:  # noqa: BLE001 - The process must exit here in any case.
        traceback.print_exception(error)
    finally:
        os._exit(0)
