"""Streams of the git binary's output in chunks of bounded size."""

import os
import select
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from ingot.core.offload import raise_if_cancelled, require_blocking_allowed
from ingot.git.core.command import (
    MAX_MEMORY,
    Config,
    clean_environment,
    end_process,
    is_stack_overflow,
    limit_cpu_time,
    limit_error_or_none,
    limit_memory,
)
from ingot.git.core.errors import GitError, GitTimeout, TreesTooDeep, noticing_removal

CHUNK_BYTES = 64 * 1024
MAX_SECONDS = 3600.0
"""Maximum duration of a stream; a slower reader has most likely gone away."""
MAX_SILENT_SECONDS = 120.0
"""Maximum time that git may take for the next chunk."""
MAX_CPU_SECONDS = 900
"""CPU time of a stream; a zip archive of 20 GB takes about half of it."""
_TICK_SECONDS = 0.25


def stream_git(
    args: Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    *,
    config: Config = (),
    max_memory: int = MAX_MEMORY,
    max_cpu_seconds: int = MAX_CPU_SECONDS,
) -> Generator[bytes, None, None]:
    """Yield the standard output of git in chunks; the process starts with the first chunk.

    Closing the generator kills the process, and so does cancelling the thread's work while git produces a chunk. Values
    that come from a user must follow ``--`` in ``args`` or be part of an option's value. A failure raises ``GitError``
    after the last chunk, so that partial output is not taken for complete output.
    """
    require_blocking_allowed()
    deadline = time.monotonic() + MAX_SECONDS
    with noticing_removal(cwd):
        process = subprocess.Popen(
            ["git", *args],
            cwd=cwd,
            env=clean_environment(config, env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # Its own process group, so that child processes are killed with it.
        )
        limit_cpu_time(process.pid, max_cpu_seconds)
        limit_memory(process.pid, max_memory)
        try:
            assert process.stdout is not None  # noqa: S101 - For the type checker: it is a pipe.
            while piece := _read_chunk(args[0], process.stdout.fileno(), deadline):
                yield piece
            status = process.wait()
            if is_stack_overflow(status):
                raise TreesTooDeep(args[0], status)
            if status != 0:
                raise limit_error_or_none(args[0], status, "") or GitError(args[0], status, "")
        finally:
            end_process(process)


def _read_chunk(verb: str, descriptor: int, deadline: float) -> bytes:
    """Wait for the next chunk and return it; raise ``GitTimeout`` at the deadline or if git is silent for too long."""
    deadline = min(deadline, time.monotonic() + MAX_SILENT_SECONDS)
    while True:
        raise_if_cancelled()
        if time.monotonic() > deadline:
            raise GitTimeout(verb, 0, "")
        # Not ``select``, which accepts no descriptor above 1024.
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if poll.poll(_TICK_SECONDS * 1000):
            return os.read(descriptor, CHUNK_BYTES)


def slice_stream(pieces: Generator[bytes, None, None], start: int, stop: int) -> Generator[bytes, None, None]:
    """Yield the bytes from ``start`` up to ``stop`` of a stream, and close it when they have been read."""
    position = 0
    with closing(pieces):
        for piece in pieces:
            if position + len(piece) > start:
                yield piece[max(start - position, 0) : stop - position]
            position += len(piece)
            if position >= stop:
                return
