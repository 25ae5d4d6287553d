"""Who wrote each line of a file last."""

import re
from typing import NamedTuple

from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, GitOutputTooLarge, GitTimeout
from ingot.git.core.paths import path_argument
from ingot.git.core.repository import Repository

MAX_BYTES = 10 * 2**20
MAX_LINES = 20_000
"""In one answer; whoever wants more asks for them part by part."""
_MAX_OUTPUT_BYTES = 8 * MAX_BYTES
_TIMEOUT_SECONDS = 30.0
_HEADER = re.compile(rb"([0-9a-f]{40}) \d+ \d+(?: \d+)?")


class BlameChunk(NamedTuple):
    """Lines that follow each other and came with one commit."""

    commit: str
    lines: list[bytes]


class BlameTooLarge(Exception):
    """The file, or its history, is longer than anybody would wait for."""


class TooManyLines(Exception):
    """More were asked for than one answer holds."""


class LinesOutOfRange(Exception):
    """The file ends before the first line that was asked for."""


def blame(repository: Repository, commit: str, path: bytes, lines: tuple[int, int] | None = None) -> list[BlameChunk]:
    """The lines of a file that a commit has, or from one to another, counted from 1, by the commits they came with."""
    first, last = (1, MAX_LINES + 1) if lines is None else (lines[0], min(lines[1], lines[0] + MAX_LINES))
    try:
        said = run_git(
            ["blame", "--porcelain", f"-L{first},{last}", commit, "--", path_argument(path)],
            repository.path,
            timeout=_TIMEOUT_SECONDS,
            max_bytes=_MAX_OUTPUT_BYTES,
        )
    except (GitTimeout, GitOutputTooLarge) as error:
        raise BlameTooLarge from error
    except GitError as error:
        if "has only" not in error.said:
            raise
        if lines is None:  # A file without any.
            return []
        raise LinesOutOfRange from error
    blamed = _parse_output(said.out)
    # One more was asked for than is shown, which tells whether there are more.
    if sum(len(part.lines) for part in blamed) > MAX_LINES:
        raise TooManyLines
    return blamed


def _parse_output(said: bytes) -> list[BlameChunk]:
    blamed: list[BlameChunk] = []
    oid = ""
    for line in said.split(b"\n")[:-1]:
        # A line of the file stands behind a tab; all else is said about it.
        if line.startswith(b"\t"):
            if not blamed or blamed[-1].commit != oid:
                blamed.append(BlameChunk(oid, []))
            blamed[-1].lines.append(line[1:])
        elif header := _HEADER.fullmatch(line):
            oid = header[1].decode()
    return blamed
