"""Blame: the last commit of each line of a file."""

import re
from typing import NamedTuple

from ingot.git.core.command import run_git
from ingot.git.core.errors import GitLimitReached
from ingot.git.core.paths import path_argument, unquoted_path
from ingot.git.core.repository import Repository

MAX_BYTES = 10 * 2**20
MAX_LINES = 20_000
"""Maximum number of lines of one response; clients request longer files in ranges."""
_MAX_OUTPUT_BYTES = 8 * MAX_BYTES
_TIMEOUT_SECONDS = 30.0
_HEADER = re.compile(rb"([0-9a-f]{40}) (\d+) \d+(?: \d+)?")
_PREVIOUS = re.compile(rb"previous ([0-9a-f]{40}) (.+)")


class BlameChunk(NamedTuple):
    """Consecutive lines that were last changed by the same commit."""

    commit: str
    lines: list[bytes]
    number: int = 1
    """Number of the first line in the file as that commit left it."""
    previous: tuple[str, bytes] | None = None
    """Parent of that commit, and the path of the file there; None if the commit created the file."""


class BlameTooLarge(Exception):
    """The file or its history is too long to blame within the time and output limits."""


class TooManyLines(Exception):
    """More lines were requested than ``MAX_LINES``."""


class LinesOutOfRange(Exception):
    """The file ends before the first requested line."""


def blame(
    repository: Repository, commit: str, path: bytes, total: int, lines: tuple[int, int] | None = None
) -> list[BlameChunk]:
    """Return the lines of a file at a commit, or a range of them counted from 1, grouped by their last commit.

    ``total`` is the number of lines of the file; the limit is checked with it before git runs.
    """
    if lines is None and not total:
        return []
    first, last = (1, total) if lines is None else (lines[0], min(lines[1], total))
    if first > total:
        raise LinesOutOfRange
    if last - first >= MAX_LINES:
        raise TooManyLines
    try:
        result = run_git(
            ["blame", "--porcelain", f"-L{first},{last}", commit, "--", path_argument(path)],
            repository.path,
            timeout=_TIMEOUT_SECONDS,
            max_bytes=_MAX_OUTPUT_BYTES,
        )
    except GitLimitReached as error:
        raise BlameTooLarge from error
    return _parse_output(result.out)


def _parse_output(output: bytes) -> list[BlameChunk]:
    chunks: list[BlameChunk] = []
    oid, number = "", 1
    # Git writes the details of a commit once, before its first line.
    previous: dict[str, tuple[str, bytes]] = {}
    for line in output.split(b"\n")[:-1]:
        # Lines of the file begin with a tab; all others are metadata.
        if line.startswith(b"\t"):
            if not chunks or chunks[-1].commit != oid:
                chunks.append(BlameChunk(oid, [], number, previous.get(oid)))
            chunks[-1].lines.append(line[1:])
        elif header := _HEADER.fullmatch(line):
            oid, number = header[1].decode(), int(header[2])
        elif before := _PREVIOUS.fullmatch(line):
            previous[oid] = before[1].decode(), unquoted_path(before[2])
    return chunks
