"""Who wrote each line of a file last."""

import re
from typing import NamedTuple

from ingot.git.command import run_git
from ingot.git.faults import GitFailed, GitSaidTooMuch, GitTimedOut
from ingot.git.paths import path_argument
from ingot.git.repository import Repository

MOST_BYTES = 10 * 2**20
MOST_LINES = 20_000
"""In one answer; whoever wants more asks for them part by part."""
_MOST_SAID = 8 * MOST_BYTES
_TIMEOUT_SECONDS = 30.0
_HEADER = re.compile(rb"([0-9a-f]{40}) \d+ \d+(?: \d+)?")


class Blamed(NamedTuple):
    """Lines that follow each other and came with one commit."""

    commit: str
    lines: list[bytes]


class TooLongToBlame(Exception):
    """The file, or its history, is longer than anybody would wait for."""


class TooManyLines(Exception):
    """More were asked for than one answer holds."""


class NoSuchLines(Exception):
    """The file ends before the first line that was asked for."""


def blame(repository: Repository, commit: str, path: bytes, lines: tuple[int, int] | None = None) -> list[Blamed]:
    """The lines of a file that a commit has, or from one to another, counted from 1, by the commits they came with."""
    first, last = (1, MOST_LINES + 1) if lines is None else (lines[0], min(lines[1], lines[0] + MOST_LINES))
    try:
        said = run_git(
            ["blame", "--porcelain", f"-L{first},{last}", commit, "--", path_argument(path)],
            repository.path,
            timeout=_TIMEOUT_SECONDS,
            most_bytes=_MOST_SAID,
        )
    except (GitTimedOut, GitSaidTooMuch) as error:
        raise TooLongToBlame from error
    except GitFailed as error:
        if "has only" not in error.said:
            raise
        if lines is None:  # A file without any.
            return []
        raise NoSuchLines from error
    blamed = _read(said.out)
    # One more was asked for than is shown, which tells whether there are more.
    if sum(len(part.lines) for part in blamed) > MOST_LINES:
        raise TooManyLines
    return blamed


def _read(said: bytes) -> list[Blamed]:
    blamed: list[Blamed] = []
    oid = ""
    for line in said.split(b"\n")[:-1]:
        # A line of the file stands behind a tab; all else is said about it.
        if line.startswith(b"\t"):
            if not blamed or blamed[-1].commit != oid:
                blamed.append(Blamed(oid, []))
            blamed[-1].lines.append(line[1:])
        elif header := _HEADER.fullmatch(line):
            oid = header[1].decode()
    return blamed
