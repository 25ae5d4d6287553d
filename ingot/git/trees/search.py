"""Full-text search in the files of a commit by ``git grep``, with limits on time and output."""

import re
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from ingot.core.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, GitLimitReached, TreeTooLarge
from ingot.git.core.repository import Repository
from ingot.git.history.log import BUFFERED_OUTPUT, CASE_FOLDING
from ingot.git.trees.totals import require_bounded_commit

MAX_MATCHES = 1_000
MAX_NAME_MATCHES = 200
"""Maximum number of files that match by name alone."""
_CONTEXT = 2
_MAX_LINE_LENGTH = 16 * 1024
_PARTS = 3
_TIMEOUT_SECONDS = 10.0
_RETRY_SECONDS = 60.0
"""Time after a timeout in which the same search is refused at once."""
_MATCH_BYTES = 200
_NO_MATCH_STATUS = 1
_HUNK_SEPARATOR = b"--"
_PLAIN_FILES = (b"100644", b"100755", b"100664")

Accept = Callable[[bytes], bool]


class SearchTimeout(Exception):
    """The search ran into its timeout, or would search too many files."""


class CodeMatch(NamedTuple):
    """Lines of a file around a match, with the number of the first; empty for a match by file name."""

    path: bytes
    first_line: int
    lines: bytes


class SearchLimitReached(Exception):
    """The maximum number of matches was found."""


class _MatchParser:
    """Incremental parser of ``git grep`` output: consecutive lines form one match."""

    def __init__(self, commit: str, accept: Accept) -> None:
        self.found: list[CodeMatch] = []
        self._prefix = len(commit) + 1
        self._accept = accept
        self._rest = bytearray()
        self._at: tuple[bytes, int] | None = None
        self._next = 0
        self._lines: list[bytes] = []

    def take(self, piece: bytes) -> None:
        """Parse a further chunk of output."""
        *whole, rest = piece.split(b"\n")
        for line in whole:
            self._keep(line)
            self._line(bytes(self._rest))
            self._rest.clear()
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        """Buffer the part of a line that is shown; a line of many megabytes is never held."""
        self._rest += part[: max(0, _MAX_LINE_LENGTH - len(self._rest))]

    def _line(self, line: bytes) -> None:
        if line == _HUNK_SEPARATOR:
            self.end()
            return
        parts = line[self._prefix :].split(b"\0", 2)
        if len(parts) < _PARTS:  # The path is so long that the line was truncated.
            return
        path, number, text = parts
        if self._at is None or self._at[0] != path or int(number) != self._next:
            self.end()
            self._at = path, int(number)
        self._next = int(number) + 1
        self._lines.append(text)

    def end(self) -> None:
        """Finish the current match."""
        if self._at is not None and self._accept(self._at[0]):
            self.found.append(CodeMatch(*self._at, b"\n".join(self._lines) + b"\n"))
        self._at = None
        self._lines.clear()
        if len(self.found) >= MAX_MATCHES:
            raise SearchLimitReached


_SearchKey = tuple[str, str, str, object]
# Instead of the matches, the time of a timeout.
_search_cache: BoundedCache[_SearchKey, list[CodeMatch] | float] = declare_cache("code-search", share=1)


def search_files(repository: Repository, commit: str, text: str, accept: Accept, key: object) -> list[CodeMatch]:
    """Find a text in the contents and paths of a commit's files, ignoring case.

    ``accept`` filters by path; ``key`` identifies that filter in the cache, which serves the next pages. Raise
    ``SearchTimeout`` if it takes too long.
    """
    cache_key = str(repository.path), commit, text, key
    cached = _search_cache.get(cache_key)
    if isinstance(cached, list):
        return cached
    if cached is not None and monotonic() - cached < _RETRY_SECONDS:
        raise SearchTimeout
    try:
        require_bounded_commit(repository, commit)
        matches = _by_content(repository, commit, text, accept) if text else []
        listed = {match.path for match in matches}
        matches += [
            CodeMatch(path, 1, b"")
            for path in _by_name(repository, commit, text, accept, MAX_NAME_MATCHES)
            if path not in listed
        ]
    except (GitLimitReached, TreeTooLarge) as error:
        _search_cache.put(cache_key, monotonic(), 4 * len(text) + 500)
        raise SearchTimeout from error
    size = sum(_MATCH_BYTES + len(match.path) + len(match.lines) for match in matches)
    _search_cache.put(cache_key, matches, size + 4 * len(text) + 500)
    return matches


def _by_content(repository: Repository, commit: str, text: str, accept: Accept) -> list[CodeMatch]:
    matches = _MatchParser(commit, accept)
    args = ["grep", "-I", "-i", "-F", "-z", "-n", "--full-name", f"-C{_CONTEXT}", "--no-textconv", "--no-color"]
    try:
        result = run_git(
            [*args, "-e", text, commit, "--"],
            repository.path,
            timeout=_TIMEOUT_SECONDS,
            config=[("grep.threads", "1")],
            env={**BUFFERED_OUTPUT, **CASE_FOLDING},
            check=False,
            on_stdout=matches.take,
        )
        if result.status not in (0, _NO_MATCH_STATUS):
            raise GitError("grep", result.status, result.stderr)
        matches.end()
    except SearchLimitReached:
        pass
    return matches.found


def _by_name(repository: Repository, commit: str, text: str, accept: Accept, limit: int) -> list[bytes]:
    """Return the paths that contain a text, ignoring case."""
    pattern = re.compile(re.escape(text), re.IGNORECASE)
    paths: list[bytes] = []
    rest = bytearray()

    def take(piece: bytes) -> None:
        *whole, remainder = bytes(rest + piece).split(b"\0")
        rest[:] = remainder
        for line in whole:
            head, _, path = line.partition(b"\t")
            if head[:6] in _PLAIN_FILES and pattern.search(path.decode(errors="replace")) and accept(path):
                paths.append(path)
                if len(paths) >= limit:
                    raise SearchLimitReached

    try:
        args = ["ls-tree", "-r", "-z", "--full-tree", commit, "--"]
        run_git(args, repository.path, timeout=_TIMEOUT_SECONDS, env=BUFFERED_OUTPUT, on_stdout=take)
    except SearchLimitReached:
        pass
    return paths
