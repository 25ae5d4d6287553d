"""Rendering process: highlights code and renders long Markdown texts, within limits of processor time and memory.

It is forked from a process that has loaded the libraries and runs one thread: the supervisor, or ``render_server``.
"""

import os
import resource
import signal
import socket
from collections.abc import Sequence
from pathlib import Path

from ingot.core.markup.lexers import highlight_code
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference
from ingot.core.markup.render_messages import (
    READY,
    CodeBlock,
    FoundReferences,
    MarkdownTask,
    RenderedBlocks,
    RenderingFailed,
    RenderReply,
    RenderTask,
    RestructuredTextTask,
    receive_links,
    receive_task,
    send_message,
)
from ingot.core.markup.renderer import render_text
from ingot.core.markup.restructured_text import render_restructured_text

IDLE_SECONDS = 60.0
"""An idle process ends after this time; the pool stops using it earlier."""
MAX_MEMORY = 128 * 2**20
"""Limit of the memory that a process allocates beyond that of its parent."""
_MAX_WALL_SECONDS = 300.0
"""End of a process that neither computes nor responds."""
_PAGE_BYTES = os.sysconf("SC_PAGESIZE")


def run_renderer(descriptor: int) -> None:
    """Perform the tasks that arrive on a socket until it is closed or idle; for a process that was just forked."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # It ends with the process that it renders for.
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    _limit_memory()
    with socket.socket(fileno=descriptor) as connection:
        connection.settimeout(IDLE_SECONDS)
        try:
            connection.sendall(READY)
            while True:
                _serve_task(connection)
        except (EOFError, OSError, MemoryError):  # Closed or idle; the pool starts another process.
            return


def _serve_task(connection: socket.socket) -> None:
    task = receive_task(connection)
    # The kernel ends the process when the time is over: a handler in Python would wait for the end of a regular
    # expression.
    signal.setitimer(signal.ITIMER_PROF, task.cpu_seconds)
    signal.setitimer(signal.ITIMER_REAL, _MAX_WALL_SECONDS)
    reply = _perform(connection, task)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    send_message(connection, reply)


def _perform(connection: socket.socket, task: RenderTask) -> RenderReply:
    try:
        if isinstance(task, MarkdownTask):
            return RenderedBlocks([_render_markdown(connection, task)])
        if isinstance(task, RestructuredTextTask):
            return RenderedBlocks([render_restructured_text(task.text, task.link_context)])
        return RenderedBlocks(
            [highlight_code(block.code, block.lexer, all_classes=task.all_classes) for block in task.blocks]
        )
    except (EOFError, OSError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - Whatever a lexer raises, the text is shown without colors.
        return RenderingFailed(type(error).__name__)


def _render_markdown(connection: socket.socket, task: MarkdownTask) -> str:
    def resolve(references: Sequence[Reference]) -> list[Link | None]:
        send_message(connection, FoundReferences(list(references)))
        return receive_links(connection).links

    def highlight(blocks: Sequence[CodeBlock]) -> list[str]:
        return [highlight_code(block.code, block.lexer) for block in blocks]

    return render_text(
        task.text,
        task.link_context,
        resolve if task.resolves_references else None,
        highlight if task.highlights else None,
    )


def _limit_memory() -> None:
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * _PAGE_BYTES
    except FileNotFoundError:  # Not Linux.
        return
    resource.setrlimit(resource.RLIMIT_AS, (used + MAX_MEMORY, used + MAX_MEMORY))
