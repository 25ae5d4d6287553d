"""Import of all branches and tags of a remote repository into an empty one, and of refs into an existing one.

The caller has resolved and checked the address. git is configured to connect to it only, to follow no redirects and to
ask for no input. Credentials are passed in the environment, so neither the process list nor the repository's
configuration shows them.
"""

import base64
import re
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, GitOutputTooLarge, GitTimeout
from ingot.git.core.names import ref_name_error
from ingot.git.core.refs import HEADS, TAGS, read_head, read_refs
from ingot.git.core.repository import Repository
from ingot.git.maintenance.object_limits import largest_objects, size_error

MAX_MEMORY = 2 * 1024**3
"""Limit of git's own allocations: a server can send ref names without end."""

RESPONSE_SECONDS = 60.0
"""Timeout for the list of refs; the pack may take longer."""
MIN_BYTES_PER_SECOND = 1024
LOW_SPEED_SECONDS = 120
"""Time for which the transfer may be slower: a server that prepares a large pack sends little meanwhile."""

_URL = re.compile(r"https?://[^\s@\\?#\x00-\x1f\x7f]+")
_PROGRESS = re.compile(rb"(?:Receiving|Resolving) (?:objects|deltas): +\d+%")
_SYMREF = re.compile(rb"^ref: (refs/heads/\S+)\tHEAD$", re.MULTILINE)
_DEFAULT_BRANCHES = (b"refs/heads/main", b"refs/heads/master")
BRANCHES_AND_TAGS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")

# git's messages may quote the server and are never passed on; these texts are. The first match counts.
NO_SPACE = "The server has no free disk space"
_REASONS = (
    (r"Authentication failed|could not read (?:Username|Password)|error: 40[13]", "The server refused the credentials"),
    (r"not found|error: 404|error: 410|not appear to be a git repo|not valid: is this", "There is no repository there"),
    (r"unable to update url base from redirection|error: 30\d", "The server redirects to another address"),
    (r"error: 5\d\d", "The server failed"),
    (r"error: 4\d\d", "The server refused the request"),
    (r"Could not resolve host|Failed to connect|Couldn't connect|Connection refused", "The server cannot be reached"),
    (r"SSL|certificate", "The server's certificate is not valid"),
    (r"timed out|Operation too slow|curl 28", "The server took too long"),
    (r"fsck error|error in object|does not conform", "The repository holds objects that git's checks refuse"),
    (r"mismatched algorithms", "The repository uses another kind of object ids"),
    (r"Out of memory|out of memory|alloc", "The repository needs too much memory"),
    (r"No space left", NO_SPACE),
    (r"remote error", "The server reported an error"),
    (
        r"early EOF|hung up|protocol error|RPC failed|invalid index-pack|unexpected disconnect",
        "The server broke off the transfer",
    ),
)


class PinnedAddress(Protocol):
    """Host and port of a URL with the resolved and checked address."""

    @property
    def host(self) -> str:
        """Return the host of the URL."""

    @property
    def port(self) -> int:
        """Return the port of the URL, or the default of its scheme."""

    @property
    def address(self) -> str:
        """Return the only address that may be connected to."""


class ImportTooLarge(Exception):
    """The transfer exceeds the size limit."""


class ImportTooSlow(Exception):
    """The server has not started its response within the time limit."""


def fetch_into(
    path: Path,
    url: str,
    pinned: PinnedAddress,
    username: str = "",
    password: str = "",
    timeout: float = 3600.0,
    on_progress: Callable[[str], None] | None = None,
    on_tick: Callable[[], None] | None = None,
    *,
    max_bytes: int | None = None,
    refspecs: Sequence[str] = BRANCHES_AND_TAGS,
    into_empty: bool = True,
) -> str | None:
    """Fetch branches, tags and HEAD; return None, or the reason of a failure.

    ``path`` must contain nothing but the result of an earlier run: after a failure the repository is empty. Unless
    ``into_empty``, a repository in use gets only the refs of ``refspecs``, HEAD is not changed, and it stays after a
    failure. ``url`` contains no credentials and is the target of all redirects. ``on_progress`` receives git's progress
    lines; ``on_tick`` is called four times a second, and an exception from it aborts the import.
    """
    if not _URL.fullmatch(url):
        raise ValueError("Only http and https can be imported from, without credentials, query or fragment")
    remote = _Remote(path, url, pinned, username, password, timeout)
    try:
        head = remote.head(on_tick) if into_empty else None
        transfer = TransferMonitor(path, max_bytes, on_progress, on_tick)
        remote.fetch(refspecs, transfer.tick, transfer.report)
        reason = size_error(largest_objects(path)) if into_empty else None
        if into_empty and reason is None:
            remove_ambiguous_refs(path)
            point_head(Repository(path), head)
    except ImportTooLarge:
        reason = "The repository is too large"
    except ImportTooSlow:
        reason = "The server took too long"
    except GitTimeout:  # Shown as the reason of the failed import.
        reason = "The import took too long"
    except GitOutputTooLarge:  # Likewise.
        reason = "The server's answer is too large"
    except GitError as error:
        reason = failure_reason(error)
    except BaseException:
        if into_empty:
            empty_repository(path)
        raise
    if into_empty and reason is not None:
        empty_repository(path)
    return reason


def empty_repository(path: Path) -> None:
    """Delete all refs and objects of a repository that only an import has written to.

    The folders that make it a repository remain, so that it is valid at every moment.
    """
    (path / "packed-refs").unlink(missing_ok=True)
    for name in ("refs/heads", "refs/tags", "objects/pack", "objects/info", "objects"):
        for entry in (path / name).iterdir():
            if name == "objects" and entry.name in ("pack", "info"):
                continue
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()


class _Remote:
    """The remote server, with the configuration under which git connects to it."""

    def __init__(
        self, path: Path, url: str, pinned: PinnedAddress, username: str, password: str, timeout: float
    ) -> None:
        self._path = path
        self._url = url
        self._deadline = time.monotonic() + timeout
        self._env = {"GIT_ALLOW_PROTOCOL": "http:https"}
        self._config = remote_config(pinned, username, password)

    def _remaining(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def head(self, on_tick: Callable[[], None] | None) -> bytes | None:
        """Return the branch that the server's HEAD points at, or None."""
        result = run_git(
            ["ls-remote", "--symref", "--"],
            self._path,
            operands=[self._url, "HEAD"],
            timeout=self._remaining(),
            env=self._env,
            config=self._config,
            max_bytes=64 * 1024,
            max_memory=MAX_MEMORY,
            on_tick=_ResponseTimer(RESPONSE_SECONDS, on_tick).tick,
        )
        match = _SYMREF.search(result.out)
        return match[1] if match else None

    def fetch(self, refspecs: Sequence[str], on_tick: Callable[[], None], on_stderr: Callable[[bytes], None]) -> None:
        """Fetch all refs of the refspecs, or none."""
        run_git(
            [
                "fetch",
                "--atomic",
                "--prune",
                "--no-auto-gc",
                "--no-tags",
                "--no-write-fetch-head",
                "--no-recurse-submodules",
                "--no-show-forced-updates",
                "--progress",
                "--",
            ],
            self._path,
            operands=[self._url, *refspecs],
            timeout=self._remaining(),
            env=self._env,
            config=self._config,
            max_memory=MAX_MEMORY,
            on_tick=on_tick,
            on_stderr=on_stderr,
        )
        on_tick()


def remote_config(pinned: PinnedAddress, username: str, password: str) -> list[tuple[str, str]]:
    """Return the configuration under which git connects to a checked address, and to no other."""
    config = [
        ("http.followRedirects", "false"),
        ("http.proxy", ""),
        ("http.lowSpeedLimit", str(MIN_BYTES_PER_SECOND)),
        ("http.lowSpeedTime", str(LOW_SPEED_SECONDS)),
        ("credential.helper", ""),
        ("fetch.fsckObjects", "true"),
        ("fetch.uriProtocols", ""),
        ("transfer.bundleURI", "false"),
        ("core.bigFileThreshold", "64m"),  # Larger files are checked in chunks.
        *_curl_resolve_option(pinned),
    ]
    if username or password:
        pair = base64.b64encode(f"{username}:{password}".encode()).decode()
        config.append(("http.extraHeader", f"Authorization: Basic {pair}"))
    return config


def _curl_resolve_option(pinned: PinnedAddress) -> list[tuple[str, str]]:
    """Return the option that makes curl connect to the checked address; a literal IP address needs none.

    Without DNS rebinding protection, the address is the name, which curl resolves.
    """
    if pinned.address == pinned.host:
        return []
    try:
        ip_address(pinned.host.strip("[]"))
    except ValueError:
        address = f"[{pinned.address}]" if ":" in pinned.address else pinned.address
        return [("http.curloptResolve", f"{pinned.host}:{pinned.port}:{address}")]
    return []


class _ResponseTimer:
    """Timeout for the first response of a server."""

    def __init__(self, seconds: float, on_tick: Callable[[], None] | None) -> None:
        self._until = time.monotonic() + seconds
        self._on_tick = on_tick
        self.answered = False

    def tick(self) -> None:
        if not self.answered and time.monotonic() >= self._until:
            raise ImportTooSlow
        if self._on_tick is not None:
            self._on_tick()


class TransferMonitor:
    """Monitor of a fetch: its start, progress and size."""

    def __init__(
        self,
        path: Path,
        max_bytes: int | None,
        on_progress: Callable[[str], None] | None,
        on_tick: Callable[[], None] | None,
    ) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._on_progress = on_progress
        self._timer = _ResponseTimer(RESPONSE_SECONDS, on_tick)

    def tick(self) -> None:
        self._timer.tick()
        if self._max_bytes is not None and Repository(self._path).size_bytes() > self._max_bytes:
            raise ImportTooLarge

    def report(self, piece: bytes) -> None:
        """Pass on the latest progress line of git; messages of the server are left out."""
        self._timer.answered = True  # The refs have arrived; the server now prepares the pack.
        lines = [line for line in re.split(rb"[\r\n]", piece) if _PROGRESS.match(line)]
        if self._on_progress is not None and lines:
            self._on_progress(lines[-1].decode(errors="replace").strip())


def remove_ambiguous_refs(path: Path) -> None:
    """Delete refs with names that our API rejects, since they would be ambiguous."""
    ambiguous = [
        name
        for name in read_refs(path, (HEADS, TAGS))
        if ref_name_error(name.split(b"/", 2)[2].decode(errors="replace")) is not None
    ]
    if ambiguous:
        commands = b"".join(b"delete " + name + b"\0\0" for name in ambiguous)
        run_git(["update-ref", "--stdin", "-z"], path, commands)


def point_head(repository: Repository, remote_head: bytes | None) -> None:
    """Make HEAD point at a branch of the remote repository, or at another one if that does not exist."""
    branches = read_refs(repository.path, (HEADS,))
    for name in (remote_head, read_head(repository.path), *_DEFAULT_BRANCHES, *branches):
        if name is not None and name in branches:
            try:
                repository.set_head(name.removeprefix(HEADS).decode())
            except UnicodeDecodeError:  # git accepts such names, but the API cannot return them.
                continue
            return


def failure_reason(error: GitError) -> str:
    """Return why a transfer failed, without any text of the server."""
    # Without the URL, which may contain any word, and without messages of the server.
    message = re.sub(r"'[^'\n]*'|^remote:.*$", "", error.stderr, flags=re.MULTILINE)
    for pattern, reason in _REASONS:
        if re.search(pattern, message):
            return reason
    if error.status == -signal.SIGKILL:
        return "The import was stopped"
    return f"git could not fetch the repository (status {error.status})"
