"""Reading what the git binary writes piece by piece, without holding it."""

import os
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from ingot.git.core.command import Config, clean_environment, end_process, limit_memory
from ingot.git.core.errors import GitError, GitTimeout, noticing_removal
from ingot.offload import require_blocking_allowed

CHUNK_BYTES = 64 * 1024
MAX_SECONDS = 3600.0
"""A reader who takes longer than this has forgotten about it."""


def stream_git(
    args: Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    *,
    config: Config = (),
    max_memory: int | None = None,
) -> Generator[bytes, None, None]:
    """What git writes to its standard output; it starts at the first piece, and is killed when that is closed.

    Whatever a caller had a say in stands behind ``--`` in ``args``, or is part of an argument of ours. Ending
    badly raises after the last piece, so that nobody takes a part for the whole.
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
            start_new_session=True,  # A process group of its own, so that helpers die with it.
        )
        if max_memory is not None:
            limit_memory(process.pid, max_memory)
        try:
            assert process.stdout is not None  # noqa: S101 - For the type checker: it is a pipe.
            while piece := os.read(process.stdout.fileno(), CHUNK_BYTES):
                if time.monotonic() > deadline:
                    raise GitTimeout(args[0], 0, "")
                yield piece
            status = process.wait()
            if status != 0:
                raise GitError(args[0], status, "")
        finally:
            end_process(process)


def slice_stream(pieces: Generator[bytes, None, None], start: int, stop: int) -> Generator[bytes, None, None]:
    """The bytes from ``start`` up to ``stop`` of a stream, which is closed as soon as they are had."""
    place = 0
    with closing(pieces):
        for piece in pieces:
            if place + len(piece) > start:
                yield piece[max(start - place, 0) : stop - place]
            place += len(piece)
            if place >= stop:
                return
